#include "fit/distill.h"

#include <fmt/format.h>

#include <algorithm>

#include "jeffreys/base/random_purpose.h"

namespace jeffreys {
namespace {

// So many that a flow cannot know them by heart, and so few that it learns them in a minute.
constexpr std::size_t kFewestDraws = 10000;
constexpr std::size_t kMostDraws = 20000;
constexpr std::size_t kDrawsOfARow = 20;
constexpr double kHeldOut = 0.1;

// Far from the streams of samples that users draw.
enum class Set : std::uint64_t { training = 1, validation, judging };

// `each` draws for each of these rows.
EncodedRows draws_for(const Density<float>& model, const EncodedRows& table,
                      const std::vector<std::size_t>& rows, std::size_t each, std::uint64_t seed,
                      Set set) {
  std::vector<std::size_t> repeated;
  for (const std::size_t row : rows) repeated.insert(repeated.end(), each, row);
  EncodedRows result;
  result.context = table.context(repeated, Eigen::all);
  const Matrix<float> context =
      result.context.cols() > 0 ? Matrix<float>(result.context.cast<float>()) : Matrix<float>();
  const RandomStream stream{seed, kTableSamples, ~static_cast<std::uint64_t>(set)};
  result.x = model.sample(std::ssize(repeated), context, stream).x.cast<double>();
  result.log_jacobian = Vector<double>::Zero(result.x.rows());
  result.cells = Cells(result.log_jacobian);
  return result;
}

}  // namespace

Distilled distill(const DensityMixture<float>& mixture, const PreparedTable& table,
                  const std::function<FitOptions(std::size_t rows)>& options_for,
                  const SpentOnMembers& spent, const FitRun& run) {
  const std::size_t wanted = std::clamp(kDrawsOfARow * table.rows(), kFewestDraws, kMostDraws);
  const std::size_t each = (wanted + table.rows() - 1) / table.rows();
  const std::uint64_t seed = options_for(table.rows()).seed;
  DensityMixture<float> source = mixture;
  if (run.threads > 1) source.use_threads(std::make_shared<ThreadPool>(run.threads));
  const Split rows = split_rows(table.rows(), kHeldOut, seed);
  const auto drawn = [&](const std::vector<std::size_t>& chosen, Set set) {
    return draws_for(source, table.training, chosen, each, seed, set);
  };
  PreparedTable draws{.schema = table.schema};
  draws.training = drawn(rows.training, Set::training);
  draws.validation = drawn(rows.validation, Set::validation);
  if (run.tell) run.tell(fmt::format("one flow learns from {} of their draws", draws.rows()));
  Distilled result{fit_after_members(draws, options_for(draws.rows()), spent, run), {}};
  if (result.fit.report.training.stop_reason == StopReason::interrupted) return result;
  const EncodedRows fresh = drawn(rows.validation, Set::judging);
  const Matrix<float> x = fresh.x.cast<float>();
  const Matrix<float> context = fresh.context.cast<float>();
  result.loss = paired_difference(result.fit.density.main().log_prob(x, context).cast<double>(),
                                  source.log_prob(x, context).cast<double>());
  return result;
}

}  // namespace jeffreys
