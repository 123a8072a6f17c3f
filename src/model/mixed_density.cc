#include "jeffreys/model/mixed_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>

#include "base/checks.h"
#include "model/category_network.h"
#include "model/mixed_architecture.h"
#include "model/row_parts.h"

namespace jeffreys {
namespace {

constexpr const char* kGiven = "given";

// Unique in the process: a tape of one model is never taken for another's.
std::uint64_t next_mixed_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

template <typename T>
class MixedTape final : public SampleTape {
 public:
  CategoryPass<T> categories;
  Samples<T> given;
  std::uint64_t version = 0;
};

void append_blocks(const std::string& prefix, const ParameterLayout& from, ParameterLayout& to) {
  for (const ParameterBlock& block : from.blocks()) to.add(prefix + block.name, block.shape);
}

template <typename T>
AnyDensity<T> checked_given(const MixedDensityOptions& options,
                            std::unique_ptr<UnnormalizedDensity<T>> model) {
  AnyDensity<T> given(std::move(model));
  refuse_mixed(kGiven, nlohmann::json::parse(given->architecture()));
  if (given->features() != options.features ||
      given->context_features() != options.given_context_features()) {
    throw std::invalid_argument(fmt::format(
        "given: expected a model of {} features with {} context features, got {} with {}",
        options.features, options.given_context_features(), given->features(),
        given->context_features()));
  }
  return given;
}

}  // namespace

void MixedDensityOptions::validate() const {
  check_between("MixedDensityOptions.features", features, 0, kMostUnits);
  check_categories("MixedDensityOptions.categories", categories);
  check_between("MixedDensityOptions.context_features", context_features, 0, kMostUnits);
  for (const Eigen::Index width : hidden) {
    check_between("MixedDensityOptions.hidden", width, 1, kMostUnits);
  }
}

double MixedDensityOptions::least_parameters() const {
  return category_parameters(categories, context_features, hidden);
}

Eigen::Index MixedDensityOptions::given_context_features() const {
  return CategoryColumns(categories).classes() + context_features;
}

template <typename T>
ModelKind<T> mixed_density_kind() {
  return {.name = MixedDensityOptions::kModelName,
          .least_parameters =
              [](const std::string& text) {
                const auto own = read_nested_architecture<MixedDensityOptions>(text, kGiven);
                const double least = own.options.least_parameters();
                if (own.inner.is_null()) return least;
                return least + inner_kind<T>(kGiven, own.inner).least_parameters(own.inner.dump());
              },
          .make = [](const std::string& text) -> std::unique_ptr<UnnormalizedDensity<T>> {
            const auto own = read_nested_architecture<MixedDensityOptions>(text, kGiven);
            if (own.inner.is_null()) return std::make_unique<MixedDensity<T>>(own.options);
            return std::make_unique<MixedDensity<T>>(
                own.options, inner_kind<T>(kGiven, own.inner).make(own.inner.dump()));
          }};
}

template <typename T>
MixedDensity<T>::MixedDensity(const MixedDensityOptions& options,
                              std::unique_ptr<UnnormalizedDensity<T>> given)
    : options_(options) {
  options_.validate();
  if ((given != nullptr) != (options_.features > 0)) {
    throw std::invalid_argument(
        fmt::format("given: expected {}, since there are {} continuous features",
                    given != nullptr ? "none" : "a model", options_.features));
  }
  network_ = std::make_shared<const CategoryNetwork<T>>(CategoryColumns(options_.categories),
                                                        options_.context_features, options_.hidden);
  append_blocks("categories.", network_->layout(), layout_);
  if (given != nullptr) {
    given_ = checked_given<T>(options_, std::move(given));
    append_blocks("given.", (*given_)->layout(), layout_);
    append_blocks("given.", (*given_)->state_layout(), state_layout_);
  }
  parameters_.resize(layout_.size());
  network_->initialise(options_.seed, std::span(parameters_).first(network_size()));
  if (given_) {
    const std::span<const T> inner = (*given_)->parameters();
    std::copy(inner.begin(), inner.end(), parameters_.end() - std::ssize(inner));
  }
  version_ = next_mixed_version();
}

template <typename T>
void MixedDensity<T>::set_frequencies(const MatrixView<T>& x) {
  check_columns("x", x.cols(), features());
  network_->set_frequencies(
      network_->columns().template read<T>(x.rightCols(network_->columns().count())),
      std::span(parameters_).first(network_size()));
  version_ = next_mixed_version();
}

template <typename T>
std::string MixedDensity<T>::architecture() const {
  return write_nested_architecture(options_, kGiven, given_ ? (*given_)->architecture() : "null");
}

template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> MixedDensity<T>::clone() const {
  return std::make_unique<MixedDensity>(*this);
}

template <typename T>
Eigen::Index MixedDensity<T>::features() const {
  return options_.features + network_->columns().count();
}

template <typename T>
Eigen::Index MixedDensity<T>::noise_features() const {
  return (given_ ? (*given_)->noise_features() : 0) + network_->columns().count();
}

template <typename T>
std::size_t MixedDensity<T>::network_size() const {
  return network_->layout().size();
}

template <typename T>
void MixedDensity<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(parameters_);
  version_ = next_mixed_version();
  if (!given_) return;
  (*given_)->edit_parameters([&](std::span<T> inner) {
    std::copy(parameters_.end() - std::ssize(inner), parameters_.end(), inner.begin());
  });
}

template <typename T>
std::span<const T> MixedDensity<T>::state() const {
  return given_ ? (*given_)->state() : std::span<const T>();
}

template <typename T>
void MixedDensity<T>::set_state(std::span<const T> values) {
  check_size("state", std::ssize(values), static_cast<std::int64_t>(state_layout_.size()));
  if (given_) (*given_)->set_state(values);
}

template <typename T>
void MixedDensity<T>::advance_state() {
  if (given_) (*given_)->advance_state();
}

template <typename T>
void MixedDensity<T>::use_threads(std::shared_ptr<ThreadPool> pool) {
  if (given_) (*given_)->use_threads(pool);
  Density<T>::use_threads(std::move(pool));
}

template <typename T>
void MixedDensity<T>::check(const MatrixView<T>& x, const MatrixView<T>& context) const {
  check_columns("x", x.cols(), features());
  check_context<T>(context, x.rows(), options_.context_features);
}

template <typename T>
void MixedDensity<T>::check_gradient(std::span<T> gradient) const {
  check_size("gradient", std::ssize(gradient), static_cast<std::int64_t>(layout_.size()));
}

template <typename T>
CategoryPass<T> MixedDensity<T>::evaluate(const MatrixView<T>& x, Matrix<T> context) const {
  CategoryPass<T> pass;
  pass.codes = network_->columns().template read<T>(x.rightCols(network_->columns().count()));
  pass.context = std::move(context);
  network_->evaluate(std::span(parameters_).first(network_size()), pass);
  return pass;
}

// The one-hot codes of each row, then its context. A number that is no code needs no mark here: its
// row is NaN by the other factor.
template <typename T>
Matrix<T> MixedDensity<T>::given_context(const CategoryPass<T>& pass) const {
  const Eigen::Index rows = pass.codes.rows();
  const Eigen::Index classes = network_->columns().classes();
  Matrix<T> result(rows, classes + options_.context_features);
  network_->columns().template write_one_hots<T>(pass.codes, T(0), result.leftCols(classes));
  const Eigen::Index period = pass.context.rows();
  for (Eigen::Index first = 0; options_.context_features > 0 && first < rows; first += period) {
    result.block(first, classes, period, options_.context_features) = pass.context;
  }
  return result;
}

template <typename T>
Vector<T> MixedDensity<T>::log_unnormalized(const MatrixView<T>& x,
                                            const MatrixView<T>& context) const {
  check(x, context);
  Vector<T> result(x.rows());
  for_parts(x.rows(), [&](Eigen::Index first, Eigen::Index rows) {
    const auto part = x.middleRows(first, rows);
    const CategoryPass<T> pass = evaluate(part, context_of_part<T>(context, first, rows));
    result.segment(first, rows) = pass.log_prob;
    if (!given_) return;
    result.segment(first, rows) +=
        (*given_)->log_unnormalized(part.leftCols(options_.features), given_context(pass));
  });
  return result;
}

// The weights are asked for where the other model asks for its own, at the values of both.
template <typename T>
Vector<T> MixedDensity<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                      const WeightFunction<T>& weights,
                                      std::span<T> gradient) const {
  check(x, context);
  check_gradient(gradient);
  const CategoryPass<T> pass = evaluate(x, context);
  Vector<T> values = pass.log_prob;
  Vector<T> chosen(x.rows());
  const auto choose = [&](Eigen::Index first, std::span<const T> inner, std::span<T> out) {
    T* own = values.data() + first;
    for (std::size_t i = 0; i < inner.size(); ++i) own[i] += inner[i];
    weights(first, {own, inner.size()}, out);
    std::copy(out.begin(), out.end(), chosen.data() + first);
  };
  if (given_) {
    (*given_)->add_scores(x.leftCols(options_.features), given_context(pass), choose,
                          gradient.subspan(network_size()));
  } else if (x.rows() > 0) {
    const auto rows = static_cast<std::size_t>(x.rows());
    weights(0, {values.data(), rows}, {chosen.data(), rows});
  }
  network_->add_scores(std::span(parameters_).first(network_size()), pass, chosen,
                       gradient.first(network_size()));
  return values;
}

template <typename T>
Vector<T> MixedDensity<T>::add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                               const BatchWeightFunction<T>& weights,
                                               std::span<T> gradient) const {
  check(x, context);
  check_gradient(gradient);
  const CategoryPass<T> pass = evaluate(x, context);
  Vector<T> values = pass.log_prob;
  Vector<T> chosen(x.rows());
  if (given_) {
    (*given_)->add_scores_of_batch(
        x.leftCols(options_.features), given_context(pass),
        [&](const Vector<T>& inner, Vector<T>& out) {
          values += inner;
          weights(values, chosen);
          out = chosen;
        },
        gradient.subspan(network_size()));
  } else {
    weights(values, chosen);
  }
  network_->add_scores(std::span(parameters_).first(network_size()), pass, chosen,
                       gradient.first(network_size()));
  return values;
}

template <typename T>
void MixedDensity<T>::sample_part(const MatrixView<T>& noise, Matrix<T> context, KeepTape keep,
                                  CategoryPass<T>& pass, Samples<T>& given,
                                  Samples<T>& samples) const {
  const Eigen::Index columns = network_->columns().count();
  pass.context = std::move(context);
  network_->sample(std::span(parameters_).first(network_size()), noise.rightCols(columns), pass);
  samples.x.resize(noise.rows(), features());
  samples.x.rightCols(columns) = pass.codes.unaryExpr([](std::int32_t code) {
    return code == kNoCode ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(code);
  });
  samples.log_prob = pass.log_prob;
  if (!given_) return;
  (*given_)->sample_from_noise(noise.leftCols(noise.cols() - columns), given_context(pass), given,
                               keep);
  samples.x.leftCols(options_.features) = given.x;
  samples.log_prob += given.log_prob;
}

template <typename T>
void MixedDensity<T>::sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                        Samples<T>& samples, KeepTape keep) const {
  check_columns("noise", noise.cols(), noise_features());
  check_context<T>(context, noise.rows(), options_.context_features);
  if (keep == KeepTape::yes) {
    auto tape = std::dynamic_pointer_cast<MixedTape<T>>(samples.tape);
    samples.tape.reset();
    if (tape == nullptr || tape.use_count() > 1) tape = std::make_shared<MixedTape<T>>();
    sample_part(noise, context, keep, tape->categories, tape->given, samples);
    tape->version = version_;
    samples.tape = std::move(tape);
    return;
  }
  samples.tape.reset();
  samples.x.resize(noise.rows(), features());
  samples.log_prob.resize(noise.rows());
  CategoryPass<T> pass;
  Samples<T> given;
  Samples<T> part;
  for_parts(noise.rows(), [&](Eigen::Index first, Eigen::Index rows) {
    sample_part(noise.middleRows(first, rows), context_of_part<T>(context, first, rows), keep, pass,
                given, part);
    samples.x.middleRows(first, rows) = part.x;
    samples.log_prob.segment(first, rows) = part.log_prob;
  });
}

template <typename T>
void MixedDensity<T>::add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                        std::span<T> gradient) const {
  const auto* tape = dynamic_cast<const MixedTape<T>*>(samples.tape.get());
  if (tape == nullptr || tape->version != version_) {
    throw std::invalid_argument(
        "add_sample_scores: expected samples drawn from this mixed model with KeepTape::yes since "
        "its parameters were last edited");
  }
  check_size("weights", weights.size(), tape->categories.codes.rows());
  check_gradient(gradient);
  if (given_) {
    (*given_)->add_sample_scores(tape->given, weights, gradient.subspan(network_size()));
  }
  network_->add_scores(std::span(parameters_).first(network_size()), tape->categories, weights,
                       gradient.first(network_size()));
}

template class MixedDensity<float>;
template class MixedDensity<double>;
template ModelKind<float> mixed_density_kind();
template ModelKind<double> mixed_density_kind();

}  // namespace jeffreys
