#include "jeffreys/fit/tabular_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fit/gap_scores.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/independence_metropolis.h"

namespace jeffreys {
namespace {

// Rows that are encoded, evaluated or drawn at a time: bounds the memory.
constexpr Eigen::Index kRowsAtOnce = 1 << 16;
// Each may have hundreds of other sources.
constexpr Eigen::Index kFoldedRowsAtOnce = 1 << 10;
// For zeta of each condition, and without conditions.
constexpr Eigen::Index kZetaSamplesPerRow = 1024;
constexpr Eigen::Index kPlainZetaSamples = 40000;
// A condition takes so many samples that a check looks at no more than these.
constexpr Eigen::Index kCheckedConditions = 200;
constexpr int kMetropolisProposals = 100;

template <typename T>
void require_fit(const Schema& schema, const UnnormalizedDensity<T>& model, const char* name) {
  if (model.features() != static_cast<Eigen::Index>(schema.features()) ||
      model.context_features() != static_cast<Eigen::Index>(schema.context_features())) {
    throw std::invalid_argument(fmt::format(
        "{}: expected {} features and {} context features as the schema has, got {} and {}", name,
        schema.features(), schema.context_features(), model.features(), model.context_features()));
  }
}

// The context of rows first to first + count: all of them, or the one row that serves for all. A
// context without columns may have any number of rows.
template <typename T>
Matrix<T> context_part(const MatrixView<double>& context, Eigen::Index first, Eigen::Index count) {
  if (context.rows() == 1 || context.cols() == 0) return context.cast<T>();
  return context.middleRows(first, count).cast<T>();
}

double log_of_sum(double a, double b) {
  const double most = std::max(a, b);
  return std::isfinite(most) ? most + std::log(std::exp(a - most) + std::exp(b - most)) : most;
}

// Adds to the log densities of rows x what the schema folds to the same values.
template <typename T>
void add_other_sources(const Schema& schema, const UnnormalizedDensity<T>& model,
                       const MatrixView<double>& x, const MatrixView<double>& context,
                       Vector<double>& log_prob) {
  for (Eigen::Index first = 0; first < x.rows(); first += kFoldedRowsAtOnce) {
    const Eigen::Index count = std::min(kFoldedRowsAtOnce, x.rows() - first);
    const Matrix<double> part = context_part<double>(context, first, count);
    const Schema::Sources sources = schema.other_sources(x.middleRows(first, count), part);
    if (sources.rows.empty()) continue;
    const bool shared = part.rows() == 1 || part.cols() == 0;
    const Matrix<double> c = shared ? part : Matrix<double>(part(sources.rows, Eigen::all));
    const Vector<T> values =
        model.log_unnormalized(Matrix<T>(sources.x.cast<T>()), Matrix<T>(c.cast<T>()));
    for (std::size_t i = 0; i < sources.rows.size(); ++i) {
      const auto place = static_cast<Eigen::Index>(i);
      double& sum = log_prob(first + sources.rows[i]);
      sum = log_of_sum(sum, static_cast<double>(values(place)) + sources.log_slope(place));
    }
  }
}

}  // namespace

template <typename T>
TabularDensity<T>::TabularDensity(Schema schema, AnyDensity<T> main,
                                  std::optional<AnyModel<T>> proxy)
    : schema_(std::move(schema)), main_(std::move(main)), proxy_(std::move(proxy)) {
  require_fit<T>(schema_, *main_, "main");
  if (proxy_) require_fit<T>(schema_, **proxy_, "proxy");
}

template <typename T>
const UnnormalizedDensity<T>& TabularDensity<T>::model(From from) const {
  if (from == From::main) return *main_;
  if (!proxy_) {
    throw std::invalid_argument(
        "from: there is no proxy model in this file, only main: a proxy is what the dual method "
        "trains, in a single fit (--members 1)");
  }
  return **proxy_;
}

template <typename T>
void TabularDensity<T>::use_threads(std::shared_ptr<ThreadPool> pool) {
  main_->use_threads(pool);
  if (proxy_) (*proxy_)->use_threads(pool);
}

template <typename T>
void TabularDensity<T>::choose(From from) {
  static_cast<void>(model(from));
  chosen_ = from;
}

template <typename T>
void TabularDensity<T>::normalize(std::uint64_t seed) {
  if (!proxy_ || (*proxy_)->normalized() || (*proxy_)->context_features() > 0) return;
  log_zeta_ =
      normalize_energy<T>(*main_, **proxy_, Matrix<T>(), kPlainZetaSamples, seed).log_zeta(0);
}

template <typename T>
EnergyCheck TabularDensity<T>::check_energy(const MatrixView<double>& conditions,
                                            std::uint64_t seed) const {
  if (!proxy_ || (*proxy_)->normalized()) return {};
  const bool conditional = (*proxy_)->context_features() > 0;
  if (conditional && conditions.rows() == 0) return {};
  const Eigen::Index samples = conditional ? kZetaSamplesPerRow : kPlainZetaSamples;
  const Matrix<T> some =
      conditional ? Matrix<T>(conditions.topRows(std::min(kCheckedConditions, conditions.rows()))
                                  .template cast<T>())
                  : Matrix<T>();
  return summarize(normalize_energy<T>(*main_, **proxy_, some, samples, seed), samples);
}

template <typename T>
Vector<double> TabularDensity<T>::log_unnormalized(const MatrixView<double>& x,
                                                   const MatrixView<double>& context,
                                                   From from) const {
  const UnnormalizedDensity<T>& model = this->model(from);
  Vector<double> result(x.rows());
  for (Eigen::Index first = 0; first < x.rows(); first += kRowsAtOnce) {
    const Eigen::Index count = std::min(kRowsAtOnce, x.rows() - first);
    const Matrix<T> part = x.middleRows(first, count).template cast<T>();
    result.segment(first, count) =
        model.log_unnormalized(part, context_part<T>(context, first, count))
            .template cast<double>();
  }
  if (schema_.folds()) add_other_sources<T>(schema_, model, x, context, result);
  return result;
}

template <typename T>
void TabularDensity<T>::subtract_log_zeta(const MatrixView<double>& context, From from,
                                          Vector<double>& log_prob) const {
  const UnnormalizedDensity<T>& model = this->model(from);
  if (model.normalized()) return;
  if (model.context_features() == 0) {
    log_prob.array() -= log_zeta_;
    return;
  }
  for (Eigen::Index first = 0; first < log_prob.size(); first += kRowsAtOnce) {
    const Eigen::Index count = std::min(kRowsAtOnce, log_prob.size() - first);
    const Matrix<T> c = context_part<T>(context, first, count);
    log_prob.segment(first, count) -= normalize_energy<T>(*main_, model, c, kZetaSamplesPerRow, 0)
                                          .log_zeta.replicate(c.rows() == 1 ? count : 1, 1);
  }
}

template <typename T>
Vector<double> TabularDensity<T>::log_prob(const MatrixView<double>& x,
                                           const MatrixView<double>& context, From from) const {
  Vector<double> result = log_unnormalized(x, context, from);
  subtract_log_zeta(context, from, result);
  return result;
}

template <typename T>
RowScores TabularDensity<T>::score(const EncodedRows& rows, From from) const {
  RowScores scores = score_rows(
      rows, [&](const auto& x, const auto& c) { return log_unnormalized(x, c, from); },
      [&] { return mixture_of_samples<T>(*main_, row_shape(schema_), rows.context); });
  subtract_log_zeta(rows.context, from, scores.log_prob);
  return scores;
}

template <typename T>
TableLogProb TabularDensity<T>::log_prob(const Table& table, std::optional<From> from,
                                         Unusual unusual) const {
  Schema::Encoded encoded = schema_.encode(table, unusual);
  TableLogProb result;
  result.dropped = encoded.dropped;
  result.unusual = std::move(encoded.unusual);
  std::vector<std::size_t> scored;  // all but rows without a single cell
  for (Eigen::Index row = 0; row < encoded.size(); ++row) {
    if (encoded.says_nothing(row)) {
      ++result.dropped;
      continue;
    }
    if (encoded.has_gaps(row)) result.with_gaps.push_back(scored.size());
    scored.push_back(static_cast<std::size_t>(row));
    result.rows.push_back(encoded.rows[static_cast<std::size_t>(row)]);
  }
  if (scored.empty() && result.dropped == table.rows()) {
    throw InputError(table.source,
                     fmt::format("no row can be scored: of each {} is missing",
                                 schema_.context_features() > 0
                                     ? "a condition, or every other cell that the model has"
                                     : "every cell that the model has"));
  }
  const bool all = std::ssize(scored) == encoded.size();
  static_cast<RowScores&>(result) =
      all ? score(encoded, from.value_or(chosen_))
          : score(static_cast<const EncodedRows&>(encoded).take(scored), from.value_or(chosen_));
  return result;
}

template <typename T>
void TabularDensity<T>::calibrate(const EncodedRows& all, bool kept) {
  const EncodedRows rows = all.take(complete_rows(all));
  const auto sorted = [&](From from) {
    Vector<double> scores = score(rows, from).log_prob;
    std::sort(scores.begin(), scores.end());
    return scores;
  };
  calibration_ = {.kept = kept};
  if (rows.size() == 0) return;
  calibration_.main = sorted(From::main);
  const bool cheap = proxy_ && ((*proxy_)->normalized() || (*proxy_)->context_features() == 0);
  if (cheap) calibration_.proxy = sorted(From::proxy);
}

template <typename T>
void TabularDensity<T>::calibrate_by(Vector<double> main_log_prob) {
  std::sort(main_log_prob.begin(), main_log_prob.end());
  calibration_ = {.main = std::move(main_log_prob)};
}

template <typename T>
Vector<double> TabularDensity<T>::p_values(const TableLogProb& scores, From from) const {
  const Vector<double>& known = from == From::main ? calibration_.main : calibration_.proxy;
  if (known.size() == 0) {
    throw std::invalid_argument(
        "p-values need rows that were not trained on, and none were kept for this model: fit it "
        "again with --calibration 0.1");
  }
  Vector<double> p = scores.log_prob.unaryExpr([&](double value) {
    if (std::isnan(value)) return value;
    const auto below = std::upper_bound(known.begin(), known.end(), value) - known.begin();
    return static_cast<double>(1 + below) / static_cast<double>(1 + known.size());
  });
  for (const std::size_t row : scores.with_gaps) p(static_cast<Eigen::Index>(row)) = std::nan("");
  return p;
}

template <typename T>
TableSamples TabularDensity<T>::sample(Eigen::Index rows, std::uint64_t seed,
                                       const MatrixView<double>& conditions,
                                       std::optional<From> from, Eigen::Index first_row) const {
  if (first_row < 0 || first_row % kSampleBlock != 0) {
    throw std::invalid_argument(
        fmt::format("first_row: expected a multiple of {}, got {}", kSampleBlock, first_row));
  }
  const auto columns = static_cast<Eigen::Index>(schema_.context_features());
  if (conditions.cols() != columns ||
      (columns > 0 && conditions.rows() != 1 && conditions.rows() != rows)) {
    throw std::invalid_argument(
        fmt::format("conditions: expected 1 or {} rows of {} numbers, got {} of {}", rows, columns,
                    conditions.rows(), conditions.cols()));
  }
  const UnnormalizedDensity<T>& model = this->model(from.value_or(chosen_));
  const Density<T>* density = model.as_density();
  Matrix<double> x(rows, model.features());
  TableSamples result;
  double accepted = 0;
  for (Eigen::Index first = 0; first < rows; first += kSampleBlock) {
    const Eigen::Index count = std::min(kSampleBlock, rows - first);
    const Matrix<T> c = columns > 0 ? context_part<T>(conditions, first, count) : Matrix<T>();
    const RandomStream stream{seed, kTableSamples,
                              static_cast<std::uint64_t>((first_row + first) / kSampleBlock)};
    if (density != nullptr) {
      x.middleRows(first, count) = density->sample(count, c, stream).x.template cast<double>();
      accepted += static_cast<double>(count);
    } else {
      const MetropolisResult<T> drawn =
          independence_metropolis<T>(model, *main_, count, c, kMetropolisProposals, stream);
      x.middleRows(first, count) = drawn.x.template cast<double>();
      accepted += drawn.acceptance_rate * static_cast<double>(count);
    }
  }
  result.acceptance_rate = rows > 0 ? accepted / static_cast<double>(rows) : 1;
  result.table = schema_.decode(x, conditions);
  return result;
}

template class TabularDensity<float>;
template class TabularDensity<double>;

}  // namespace jeffreys
