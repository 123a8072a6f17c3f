#include "python/src/models.h"

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/model_kind.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/model/zuko_archive.h"
#include "python/src/workers.h"

namespace jeffreys::python {
namespace {

template <typename T>
using Rows = Eigen::Ref<const Matrix<T>>;

template <typename T>
ModelHandle<T> make_flow(Eigen::Index features, Eigen::Index context_features,
                         Eigen::Index transforms, Eigen::Index bins,
                         const std::vector<Eigen::Index>& hidden, bool affine, double student_t,
                         std::uint64_t seed) {
  return {std::make_shared<SplineFlow<T>>(SplineFlowOptions{.features = features,
                                                            .context_features = context_features,
                                                            .transforms = transforms,
                                                            .bins = bins,
                                                            .hidden = hidden,
                                                            .affine = affine,
                                                            .student_t = student_t,
                                                            .seed = seed})};
}

template <typename T>
ModelHandle<T> make_energy(Eigen::Index features, Eigen::Index context_features,
                           Eigen::Index hidden, Eigen::Index blocks, bool confined,
                           double temperature, std::uint64_t seed) {
  if (context_features == 0) {
    return {std::make_shared<ResidualEnergy<T>>(ResidualEnergyOptions{.features = features,
                                                                      .hidden = hidden,
                                                                      .blocks = blocks,
                                                                      .confined = confined,
                                                                      .temperature = temperature,
                                                                      .seed = seed})};
  }
  return {std::make_shared<FilmEnergy<T>>(FilmEnergyOptions{.features = features,
                                                            .context_features = context_features,
                                                            .hidden = hidden,
                                                            .blocks = blocks,
                                                            .bounded = true,
                                                            .confined = confined,
                                                            .temperature = temperature,
                                                            .seed = seed})};
}

// Nothing, or rows of numbers.
template <typename T>
Matrix<T> context_of(const std::optional<Matrix<T>>& context) {
  return context ? *context : Matrix<T>();
}

template <typename T>
const Density<T>& density_of_model(const ModelHandle<T>& self) {
  const Density<T>* density = self.model->as_density();
  if (density == nullptr) {
    throw std::invalid_argument("an energy model cannot be sampled by itself: use a flow");
  }
  return *density;
}

template <typename T>
py::tuple sample_model(const ModelHandle<T>& self, Eigen::Index rows, std::uint64_t seed,
                       const std::optional<Matrix<T>>& context) {
  const Density<T>& density = density_of_model(self);
  const Matrix<T> c = context_of(context);
  Samples<T> drawn = without_gil([&] { return density.sample(rows, c, {.seed = seed}); });
  return py::make_tuple(std::move(drawn.x), std::move(drawn.log_prob));
}

template <typename T>
py::tuple add_scores(const ModelHandle<T>& self, const Rows<T>& x, const Vector<T>& weights,
                     const std::optional<Matrix<T>>& context,
                     py::array_t<T, py::array::c_style> gradient) {
  if (static_cast<std::size_t>(gradient.size()) != self.model->parameters().size()) {
    throw std::invalid_argument("gradient: expected as many numbers as there are parameters");
  }
  const std::span<T> sum(gradient.mutable_data(), static_cast<std::size_t>(gradient.size()));
  const Matrix<T> c = context_of(context);
  Vector<T> values = without_gil([&] { return self.model->add_scores(x, c, weights, sum); });
  return py::make_tuple(std::move(values), std::move(gradient));
}

template <typename T>
py::list describe_layout(const ModelHandle<T>& self) {
  py::list blocks;
  for (const ParameterBlock& block : self.model->layout().blocks()) {
    blocks.append(py::make_tuple(block.name, block.shape, block.offset, block.size));
  }
  return blocks;
}

template <typename T>
py::array_t<T> copy_parameters(const ModelHandle<T>& self) {
  const std::span<const T> all = self.model->parameters();
  return py::array_t<T>(static_cast<py::ssize_t>(all.size()), all.data());
}

template <typename T>
void set_parameters(ModelHandle<T>& self, const Vector<T>& values) {
  if (static_cast<std::size_t>(values.size()) != self.model->parameters().size()) {
    throw std::invalid_argument("parameters: expected as many numbers as there are parameters");
  }
  self.model->edit_parameters(
      [&](std::span<T> all) { std::copy(values.begin(), values.end(), all.begin()); });
}

template <typename T>
const SplineFlow<T>& flow_of(const ModelHandle<T>& self) {
  const auto* flow = dynamic_cast<const SplineFlow<T>*>(self.model.get());
  if (flow == nullptr) throw std::invalid_argument("this model is no spline flow");
  return *flow;
}

template <typename T>
void bind_model(py::module_& module, const char* name) {
  using Handle = ModelHandle<T>;
  using Context = std::optional<Matrix<T>>;
  py::class_<Handle>(module, name)
      .def_static("flow", &make_flow<T>)
      .def_static("energy", &make_energy<T>)
      .def_static("from_zuko",
                  [](const std::string& path) {
                    return Handle{std::make_shared<SplineFlow<T>>(import_zuko<T>(path))};
                  })
      .def_static("load",
                  [](const std::string& path) {
                    return Handle{std::shared_ptr(std::move(load_model<T>(path).model).release())};
                  })
      .def("save",
           [](const Handle& self, const std::string& path) { save_model(*self.model, path); })
      .def("to_zuko",
           [](const Handle& self, const std::string& path) { export_zuko(*self.model, path); })
      .def("clone", [](const Handle& self) { return Handle{std::shared_ptr(self.model->clone())}; })
      .def("use_threads",
           [](Handle& self, std::size_t threads) { self.model->use_threads(worker_pool(threads)); })
      .def_property_readonly("description",
                             [](const Handle& self) { return describe_model(*self.model); })
      .def_property_readonly("architecture",
                             [](const Handle& self) { return self.model->architecture(); })
      .def_property_readonly("features", [](const Handle& self) { return self.model->features(); })
      .def_property_readonly("context_features",
                             [](const Handle& self) { return self.model->context_features(); })
      .def_property_readonly("layout", &describe_layout<T>)
      .def_property("parameters", &copy_parameters<T>, &set_parameters<T>)
      .def("log_prob",
           [](const Handle& self, const Rows<T>& x, const Context& context) {
             const Matrix<T> c = context_of(context);
             return without_gil([&] { return self.model->log_unnormalized(x, c); });
           })
      .def("sample", &sample_model<T>)
      .def("add_scores", &add_scores<T>)
      .def("input_gradient",
           [](const Handle& self, const Rows<T>& x, const Context& context) {
             const Matrix<T> c = context_of(context);
             InputGradient<T> found = without_gil([&] { return self.model->input_gradient(x, c); });
             return py::make_tuple(std::move(found.values), std::move(found.x),
                                   std::move(found.context));
           })
      .def("to_noise", [](const Handle& self, const Rows<T>& x, const Context& context) {
        const Matrix<T> c = context_of(context);
        return without_gil([&] { return flow_of(self).to_noise(x, c); });
      });
}

}  // namespace

void bind_models(py::module_& module) {
  bind_model<float>(module, "Model32");
  bind_model<double>(module, "Model64");
}

}  // namespace jeffreys::python
