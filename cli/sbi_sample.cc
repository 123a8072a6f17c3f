#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/load.h"
#include "cli/sbi.h"
#include "jeffreys/report/posterior_plot.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kPlotSamples = 5000;

struct SbiArguments {
  std::string posterior;
  ObservedArguments observed;
  SamplingArguments sampling;
  std::int64_t rows = 1000;
  std::string table;
  std::string from;
  std::string output;
  std::vector<std::string> truth;
  std::vector<std::string> parameters;
};

void say_sampling(const PosteriorSamples& samples, const Globals& globals) {
  if (samples.acceptance_rate < 1) {
    say(globals,
        fmt::format("energy model sampled by a Markov chain: {:.0f} % of its moves accepted{}",
                    100 * samples.acceptance_rate,
                    samples.acceptance_rate < 0.2 ? " (few: do not trust these samples)" : ""));
  }
  if (samples.lost > 0) {
    say(globals, fmt::format("{} Langevin chains left the finite numbers and were drawn anew",
                             samples.lost));
  }
}

// What the samples of one observation say about each parameter.
void say_summary(const PosteriorSamples& samples, const Posterior& posterior,
                 const Globals& globals) {
  const std::vector<std::string> names = posterior.parameter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Vector<double> sorted = samples.parameters.col(static_cast<Eigen::Index>(i));
    std::sort(sorted.begin(), sorted.end());
    const double mean = sorted.mean();
    const double deviation = std::sqrt((sorted.array() - mean).square().mean());
    const auto quantile = [&](double share) {
      return sorted(static_cast<Eigen::Index>(share * static_cast<double>(sorted.size() - 1)));
    };
    say(globals,
        fmt::format("  {:<14} mean {:.4g}, deviation {:.3g}, 90 % between {:.4g} and {:.4g}",
                    names[i], mean, deviation, quantile(0.05), quantile(0.95)));
  }
}

void run_sample(const SbiArguments& a, const Globals& globals) {
  require_other_file(a.output, {a.posterior, a.observed.file});
  require_table_name(a.output);
  const Posterior posterior = load_posterior(a.posterior);
  const Matrix<double> observed = read_observed(a.observed, posterior, globals);
  const auto begin = std::chrono::steady_clock::now();
  const PosteriorSamples samples =
      posterior.sample(observed, a.rows, sampling_options(a.sampling, a.observed, posterior));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  say_sampling(samples, globals);
  say(globals,
      fmt::format("{} samples for {} observation{} in {:.2f} s ({:.3g} a second)",
                  samples.parameters.rows(), observed.rows(), observed.rows() == 1 ? "" : "s",
                  seconds, static_cast<double>(samples.parameters.rows()) / seconds));
  Table table = table_from_matrix(samples.parameters, posterior.parameter_names());
  if (observed.rows() > 1) {
    Column place{.name = "observation"};
    for (Eigen::Index r = 0; r < samples.parameters.rows(); ++r) {
      const Eigen::Index number = r / a.rows + 1;
      place.numbers.push_back(static_cast<double>(number));
    }
    table.columns.insert(table.columns.begin(), std::move(place));
  }
  write_result(table, a.output, globals);
  if (observed.rows() == 1 && !goes_to_output(a.output)) say_summary(samples, posterior, globals);
}

// Of a table of pairs, none of which is refused.
void say_beyond(const std::vector<ObservationDistance>& distances, const Globals& globals) {
  const auto beyond = std::count_if(distances.begin(), distances.end(),
                                    [](const ObservationDistance& d) { return d.beyond(); });
  if (beyond == 0) return;
  say(globals, fmt::format("warning: {} of {} rows {} beyond the pairs that the posterior was "
                           "fitted to: do not trust their log_prob",
                           beyond, distances.size(), beyond == 1 ? "is" : "are"));
}

// A table of pairs brings its own outcomes.
Matrix<double> outcomes_for(const SbiArguments& a, const Table& table, const Posterior& posterior,
                            const Globals& globals) {
  if (a.observed.given()) return read_observed(a.observed, posterior, globals);
  for (const std::string& name : posterior.outcome_names()) {
    if (table.find(name) != nullptr) continue;
    throw UsageError(
        fmt::format("sbi log_prob: given which outcomes? {} has no column '{}'; give --observed "
                    "with {}",
                    a.table, name, fmt::join(posterior.outcome_names(), ", ")));
  }
  Matrix<double> observed = matrix_from_table(table, posterior.outcome_names());
  say_beyond(posterior.distances(observed), globals);
  return observed;
}

void run_log_prob(const SbiArguments& a, const Globals& globals) {
  require_other_file(a.output, {a.posterior, a.table, a.observed.file});
  require_table_name(a.output);
  const Posterior posterior = load_posterior(a.posterior);
  const From from = chosen_from(a.from, posterior.density());
  const Table table = read_table_for(a.table, posterior.density().schema(), a.observed.reading);
  const Matrix<double> parameters = matrix_from_table(table, posterior.parameter_names());
  const Matrix<double> observed = outcomes_for(a, table, posterior, globals);
  if (observed.rows() != 1 && observed.rows() != parameters.rows()) {
    throw UsageError(
        fmt::format("{} has {} rows of parameters, but there are {} observations: "
                    "give one for all, or one for each",
                    a.table, parameters.rows(), observed.rows()));
  }
  const FarObservations far = a.observed.given() ? a.observed.far() : FarObservations::extrapolate;
  const Vector<double> values = posterior.log_prob(parameters, observed, from, far);
  const auto outside = std::count(values.begin(), values.end(), -HUGE_VAL);
  if (outside > 0) {
    say(globals,
        fmt::format("{} of {} rows lie outside the prior's support: their log_prob is -inf",
                    outside, values.size()));
  }
  write_result(table_from_matrix(values, {"log_prob"}), a.output, globals);
}

// --truth in the order of the parameters; empty if it is not given.
Vector<double> read_truth(const std::vector<std::string>& items, const Posterior& posterior) {
  if (items.empty()) return {};
  const std::vector<std::string> names = posterior.parameter_names();
  const std::map<std::string, double> given = read_assignments("--truth", items);
  Vector<double> truth(static_cast<Eigen::Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = given.find(names[i]);
    if (found != given.end()) truth(static_cast<Eigen::Index>(i)) = found->second;
    if (found != given.end() && given.size() == names.size()) continue;
    throw UsageError(fmt::format("--truth: give each parameter once: {}", fmt::join(names, ", ")));
  }
  if (posterior.prior() && !posterior.prior()->contains({truth.data(), names.size()})) {
    throw UsageError(fmt::format("--truth lies outside the prior's support: {}",
                                 fmt::join(posterior.prior()->describe(), "; ")));
  }
  return truth;
}

// Places of the parameters to draw: those asked for, or the first ones.
std::vector<Eigen::Index> drawn_parameters(const SbiArguments& a, const Posterior& posterior) {
  const std::vector<std::string> names = posterior.parameter_names();
  std::vector<Eigen::Index> places;
  for (const std::string& name : a.parameters) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw UsageError(fmt::format("--parameters: the posterior has no '{}'; it has {}", name,
                                   fmt::join(names, ", ")));
    }
    places.push_back(found - names.begin());
  }
  if (places.size() > static_cast<std::size_t>(report::kMostPosteriorParameters)) {
    throw UsageError(fmt::format("--parameters: at most {} can be drawn, got {}",
                                 report::kMostPosteriorParameters, places.size()));
  }
  const auto most = static_cast<std::size_t>(report::kMostPosteriorParameters);
  for (std::size_t i = 0; a.parameters.empty() && i < std::min(names.size(), most); ++i) {
    places.push_back(static_cast<Eigen::Index>(i));
  }
  return places;
}

void run_plot(const SbiArguments& a, const Globals& globals) {
  const std::string output = a.output.empty() ? a.posterior + ".png" : a.output;
  require_other_file(output, {a.posterior, a.observed.file});
  require_figure(output);
  const Posterior posterior = load_posterior(a.posterior);
  const Matrix<double> observed = read_one_observed(a.observed, posterior, globals);
  const Vector<double> truth = read_truth(a.truth, posterior);
  const PosteriorSamples samples =
      posterior.sample(observed, kPlotSamples, sampling_options(a.sampling, a.observed, posterior));
  say_sampling(samples, globals);
  const std::vector<Eigen::Index> places = drawn_parameters(a, posterior);
  const auto shown = static_cast<Eigen::Index>(places.size());
  report::PosteriorPlot plot{.samples = samples.parameters(Eigen::all, places)};
  if (truth.size() > 0) plot.truth = truth(places);
  if (posterior.prior()) {
    plot.lower.resize(shown);
    plot.upper.resize(shown);
  }
  const std::vector<std::string> names = posterior.parameter_names();
  for (Eigen::Index i = 0; i < shown; ++i) {
    const auto place = static_cast<std::size_t>(places[static_cast<std::size_t>(i)]);
    plot.names.push_back(names[place]);
    if (!posterior.prior()) continue;
    const Bounds ends = posterior.prior()->parameters()[place].distribution.support();
    plot.lower(i) = ends.lower;
    plot.upper(i) = ends.upper;
  }
  if (places.size() < names.size() && a.parameters.empty()) {
    plot.title = fmt::format("the first {} of {} parameters; --parameters chooses others", shown,
                             names.size());
  }
  report::draw_posterior(output, plot);
  announce(output, globals);
}

}  // namespace

void add_sbi_sample(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<SbiArguments>();
  CLI::App* command = sbi.add_subcommand("sample", "Draw parameters given observed outcomes");
  command->add_option("posterior", a->posterior, "Posterior file")->required();
  add_observed_options(*command, a->observed);
  command->add_option("-n,--rows", a->rows, "How many for each observation (default 1000)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  add_sampling_options(*command, a->sampling);
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  command->footer(
      "With several observations a column `observation` counts them. One that is beyond the pairs\n"
      "of the fit is refused, since the answer may be very sure and quite wrong. Examples:\n"
      "  jeffreys sbi sample p.model --observed x=0,y=0 -n 1000 -o samples.csv\n"
      "  jeffreys sbi sample p.model --observed-file nights.csv -n 200 -o samples.npz\n"
      "  jeffreys sbi sample p.model --observed x=0,y=0 --from proxy --sampler langevin\n"
      "The last one needs a posterior that was fitted with --proxy energy.");
  command->callback([a, &globals] { run_sample(*a, globals); });
}

void add_sbi_log_prob(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<SbiArguments>();
  CLI::App* command =
      sbi.add_subcommand("log_prob", "Log density of parameters given observed outcomes");
  command->add_option("posterior", a->posterior, "Posterior file")->required();
  command->add_option("table", a->table, "Table with the parameters' columns")->required();
  add_observed_options(*command, a->observed);
  add_from(*command, a->from);
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  command->footer(
      "Without --observed the table's own outcome columns count; then rows beyond the pairs of "
      "the\n"
      "fit are not refused, but counted. Examples:\n"
      "  jeffreys sbi log_prob p.model candidates.csv --observed x=0,y=0\n"
      "  jeffreys sbi log_prob p.model pairs.csv -o scores.csv");
  command->callback([a, &globals] { run_log_prob(*a, globals); });
}

void add_sbi_plot(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<SbiArguments>();
  CLI::App* command =
      sbi.add_subcommand("plot", "Draw a posterior: pair plot with credible regions");
  command->add_option("posterior", a->posterior, "Posterior file")->required();
  add_observed_options(*command, a->observed);
  command
      ->add_option("--parameters", a->parameters, "Which parameters to draw (default: the first)")
      ->option_text("NAME ...")
      ->delimiter(',');
  command->add_option("--truth", a->truth, "PARAMETER=NUMBER,...: the true parameter, marked")
      ->delimiter(',');
  add_sampling_options(*command, a->sampling);
  command->add_option("-o,--output", a->output, "SVG or PNG file (default: POSTERIOR.png)");
  command->footer(
      "Example:\n"
      "  jeffreys sbi plot p.model --observed x=0,y=0 --truth a=0.3,b=-0.1 -o posterior.png");
  command->callback([a, &globals] { run_plot(*a, globals); });
}

}  // namespace jeffreys::cli
