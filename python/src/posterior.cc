// Fits of posteriors, the posteriors that come of them, and their checks.
#include "jeffreys/sbi/posterior.h"

#include "jeffreys/fit/fit_record.h"
#include "jeffreys/sbi/posterior_check.h"
#include "jeffreys/sbi/posterior_fit.h"
#include "jeffreys/sbi/posterior_mode.h"
#include "python/src/density.h"
#include "python/src/diagnostics.h"
#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

using PosteriorHandle = Threaded<Posterior>;
using Settings = std::vector<std::tuple<std::string, std::string, std::string>>;

// To end a check; the Watch has the reason.
struct Stopped : std::exception {};

py::tuple fit_pairs(const Table& pairs, const std::vector<std::string>& parameters,
                    const std::vector<std::string>& outcomes, const Prior* prior,
                    const Settings& settings, const std::string& preset, const std::string& source,
                    std::size_t threads, const std::string& checkpoint, bool resume,
                    py::object tell) {
  Watch watch(std::move(tell));
  const FitRun run = fit_run(watch, threads, checkpoint, resume);
  const ChosenSettings options = chosen_settings(settings, preset);
  const std::optional<Prior> known = prior != nullptr ? std::optional(*prior) : std::nullopt;
  PosteriorFit made = without_gil([&] {
    return fit_posterior(pairs, {parameters, outcomes}, known, options, run);
  });
  watch.rethrow();
  made.posterior.set_record(
      fit_record(source, made.table, made.options, made.defaults, made.report));
  if (!checkpoint.empty()) run.remove_unfinished();
  py::dict committee;
  if (made.committee) {
    committee["one_member"] = made.committee->alone.nll;
    committee["corrected"] = made.committee->corrected.nll;
    committee["coverage_90"] = made.committee->coverage90;
  }
  return py::make_tuple(PosteriorHandle(std::move(made.posterior)),
                        result_record(made.table, made.report), committee);
}

int members_of_pairs(const Table& pairs, const std::vector<std::string>& parameters,
                     const std::vector<std::string>& outcomes, const Prior* prior,
                     const Settings& settings, const std::string& preset) {
  const std::optional<Prior> known = prior != nullptr ? std::optional(*prior) : std::nullopt;
  return posterior_members(pairs, {parameters, outcomes}, known, chosen_settings(settings, preset));
}

// One of several fits: it is left in the folder.
void fit_pair_member(const Table& pairs, const std::vector<std::string>& parameters,
                     const std::vector<std::string>& outcomes, const Prior* prior,
                     const Settings& settings, const std::string& preset, const std::string& folder,
                     int member, std::size_t threads) {
  Watch watch(py::none{});
  const std::optional<Prior> known = prior != nullptr ? std::optional(*prior) : std::nullopt;
  const ChosenSettings options = chosen_settings(settings, preset);
  const FitRun run = member_run(watch, threads, folder, member);
  without_gil([&] {
    static_cast<void>(fit_posterior(pairs, {parameters, outcomes}, known, options, run));
  });
  watch.rethrow();
}

PosteriorSampling sampling_of(const std::optional<std::string>& from, const std::string& sampler,
                              std::uint64_t seed, bool extrapolate) {
  if (sampler != "metropolis" && sampler != "langevin") {
    throw std::invalid_argument("sampler: expected 'metropolis' or 'langevin', got '" + sampler +
                                "'");
  }
  return {
      .from = read_from(from),
      .energy_sampler = sampler == "langevin" ? EnergySampler::langevin : EnergySampler::metropolis,
      .far = extrapolate ? FarObservations::extrapolate : FarObservations::refuse,
      .seed = seed};
}

Matrix<double> draw_samples(PosteriorHandle& self, const Matrix<double>& observed,
                            Eigen::Index samples, const PosteriorSampling& sampling,
                            std::size_t threads) {
  const auto posterior = self.with(threads);
  return without_gil([&] { return posterior->sample(observed, samples, sampling).parameters; });
}

Vector<double> density_of(PosteriorHandle& self, const Matrix<double>& parameters,
                          const Matrix<double>& observed, const PosteriorSampling& sampling,
                          std::size_t threads) {
  const auto posterior = self.with(threads);
  return without_gil(
      [&] { return posterior->log_prob(parameters, observed, sampling.from, sampling.far); });
}

py::tuple mode_of(PosteriorHandle& self, const Matrix<double>& observed, Eigen::Index samples,
                  const PosteriorSampling& sampling, std::size_t threads) {
  const auto posterior = self.with(threads);
  const PosteriorMode found =
      without_gil([&] { return find_mode(*posterior, observed, samples, sampling); });
  return py::make_tuple(found.parameters, found.log_prob);
}

py::list distances_of(const PosteriorHandle& self, const Matrix<double>& observed) {
  py::list all;
  for (const ObservationDistance& distance : self.get().distances(observed)) {
    py::dict one;
    one["far"] = distance.far();
    one["beyond"] = distance.beyond();
    one["description"] = distance.far() ? distance.describe() : "";
    one["distance"] = distance.distance;
    one["largest_training"] = distance.largest_training;
    all.append(one);
  }
  return all;
}

py::dict check_pairs(PosteriorHandle& self, const Table& pairs, Eigen::Index samples,
                     const PosteriorSampling& sampling, std::size_t threads, py::object tell) {
  const auto posterior = self.with(threads);
  Watch watch(std::move(tell));
  const auto on_pair = [&](Eigen::Index done, Eigen::Index all) {
    if (watch.due()) {
      watch.tell([&](py::dict& told) {
        told["label"] = "check";
        told["iteration"] = done;
        told["iterations"] = all;
      });
    }
    if (watch.should_stop()) throw Stopped();
  };
  std::optional<PosteriorCheck> found;
  try {
    found = without_gil([&] {
      return check_posterior(*posterior, pairs,
                             {.samples = samples, .sampling = sampling, .on_pair = on_pair});
    });
  } catch (const Stopped&) {
    watch.rethrow();
  }
  py::dict result;
  result["ranks"] = to_dict(found->ranks);
  result["sbc"] = to_dict(found->calibration);
  result["coverage"] = to_dict(found->highest_density);
  result["tarp"] = to_dict(found->tarp);
  result["p_value"] = found->p_value;
  result["miscalibrated"] = found->miscalibrated();
  result["few_pairs"] = found->few_pairs;
  result["beyond_training"] = found->beyond_training;
  result["verdict"] = found->verdict;
  result["information_gain"] = py::none();
  if (found->information) {
    py::dict gain;
    gain["mean"] = found->information->mean;
    gain["standard_error"] = found->information->standard_error;
    gain["lower"] = found->information->lower;
    gain["upper"] = found->information->upper;
    result["information_gain"] = gain;
  }
  return result;
}

py::dict compare_with(PosteriorHandle& self, const Matrix<double>& observed, const Table& exact,
                      const PosteriorSampling& sampling, std::size_t threads) {
  const auto posterior = self.with(threads);
  const ReferenceCheck found =
      without_gil([&] { return check_against_reference(*posterior, observed, exact, sampling); });
  py::dict result;
  result["paper"] = to_dict(found.trees);
  result["sbibm"] = to_dict(found.network);
  result["verdict"] = found.verdict;
  return result;
}

py::object prior_of(const PosteriorHandle& self) {
  const std::optional<Prior>& prior = self.get().prior();
  return prior ? py::cast(*prior) : py::none();
}

}  // namespace

void bind_posterior(py::module_& module) {
  module.def("fit_posterior", &fit_pairs, py::arg("pairs"), py::arg("parameters"),
             py::arg("outcomes"), py::arg("prior"), py::arg("settings"), py::arg("preset"),
             py::arg("source"), py::arg("threads"), py::arg("checkpoint"), py::arg("resume"),
             py::arg("tell"));
  module.def("posterior_members", &members_of_pairs);
  module.def("fit_posterior_member", &fit_pair_member);
  py::class_<PosteriorSampling>(module, "PosteriorSampling")
      .def(py::init(&sampling_of), py::arg("model"), py::arg("sampler"), py::arg("seed"),
           py::arg("extrapolate"));
  py::class_<PosteriorHandle>(module, "Posterior")
      .def_static("load",
                  [](const std::string& path) {
                    return PosteriorHandle(without_gil([&] { return Posterior::load(path); }));
                  })
      .def("save",
           [](const PosteriorHandle& self, const std::string& path) { self.get().save(path); })
      .def_property_readonly(
          "parameter_names",
          [](const PosteriorHandle& self) { return self.get().parameter_names(); })
      .def_property_readonly("outcome_names",
                             [](const PosteriorHandle& self) { return self.get().outcome_names(); })
      .def_property_readonly("prior", &prior_of)
      .def_property_readonly(
          "record", [](const PosteriorHandle& self) { return self.get().density().record; })
      .def("course",
           [](const PosteriorHandle& self) { return training_course(self.get().density()); })
      .def("sample", &draw_samples)
      .def("log_prob", &density_of)
      .def("mode", &mode_of)
      .def("distances", &distances_of)
      .def("check", &check_pairs)
      .def("check_reference", &compare_with);
}

}  // namespace jeffreys::python
