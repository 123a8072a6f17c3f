#include <fmt/format.h>

#include <thread>

#include "cli/command.h"
#include "cli/plotting.h"
#include "cli/progress.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/truth/source.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kTestRows = 10000;

struct DemoArguments {
  std::string source = "moons";
  Eigen::Index rows = 500;
  std::uint64_t seed = 0;
  std::string output = "demo.png";
  std::int64_t iterations = 0;
};

Fit fit_source(const Table& table, Method method, const DemoArguments& a, const Globals& globals) {
  ChosenSettings settings;
  settings.add("seed", fmt::format("{}", a.seed), "--seed");
  settings.add("members", "1", "demo");
  settings.add("method", method == Method::dual ? "dual" : "mle", "method");
  if (a.iterations > 0) settings.add("iterations", fmt::format("{}", a.iterations), "--iterations");
  const auto observe = [&](const std::string&, const FitOptions& options,
                           const PreparedTable& prepared) {
    return std::make_unique<Progress>(
        globals, method == Method::dual ? "dual method       " : "maximum likelihood", options,
        prepared);
  };
  return fit_table(table, {}, settings,
                   {.threads = std::max(1U, std::thread::hardware_concurrency()),
                    .observe = observe,
                    .should_stop = StopOnSignal::requested})
      .fit;
}

MeanNll test_nll(const TabularDensity<float>& density, const Table& test, From from) {
  return mean_nll(density.log_prob(test, from).log_prob);
}

void run_demo(const DemoArguments& a, const Globals& globals) {
  const auto source = make_source(a.source);
  const Table training = table_from_matrix(source->sample(a.rows, a.seed, 0), {"x", "y"});
  const Table test = table_from_matrix(source->sample(kTestRows, a.seed, 1), {"x", "y"});
  say(globals,
      fmt::format("{} rows from the source '{}', whose density is known; tested on {} others",
                  a.rows, a.source, kTestRows));
  const StopOnSignal signals;
  const Fit likelihood = fit_source(training, Method::mle, a, globals);
  const Fit dual = fit_source(training, Method::dual, a, globals);
  if (StopOnSignal::requested()) throw std::runtime_error("interrupted");

  const double entropy = source->entropy();
  const MeanNll mle = test_nll(likelihood.density, test, From::main);
  const MeanNll main = test_nll(dual.density, test, From::main);
  const MeanNll proxy = test_nll(dual.density, test, From::proxy);
  const auto box = source->range();
  const PlaneBox plane{box.x_min, box.x_max, box.y_min, box.y_max};
  const report::Scatter data = scatter_panel(source->sample(a.rows, a.seed, 0), "x", "y", plane,
                                             fmt::format("{} rows of data", a.rows));
  const Matrix<double> none;
  report::draw(a.output, {{data,
                           density_map(likelihood.density, From::main, none, plane,
                                       fmt::format("maximum likelihood, NLL {:.3f}", mle.nll)),
                           density_map(dual.density, From::main, none, plane,
                                       fmt::format("main model, NLL {:.3f}", main.nll)),
                           density_map(dual.density, From::proxy, none, plane,
                                       fmt::format("proxy model, NLL {:.3f}", proxy.nll))}});
  if (globals.json) {
    print_json({{"source", a.source},
                {"rows", a.rows},
                {"seed", a.seed},
                {"entropy", entropy},
                {"mle", number(mle.nll)},
                {"main", number(main.nll)},
                {"proxy", number(proxy.nll)},
                {"standard_error", number(main.standard_error)},
                {"chosen", dual.report.chosen == From::main ? "main" : "proxy"},
                {"picture", a.output}});
    return;
  }
  print_line(
      fmt::format("mean negative log density of {} new rows, nats (lower is better):", kTestRows));
  print_line(
      fmt::format("  maximum likelihood         {:7.3f} +- {:.3f}", mle.nll, mle.standard_error));
  print_line(fmt::format("  dual method, main model    {:7.3f} +- {:.3f}{}", main.nll,
                         main.standard_error,
                         dual.report.chosen == From::main ? "  <- chosen by validation" : ""));
  print_line(fmt::format("  dual method, proxy model   {:7.3f} +- {:.3f}{}", proxy.nll,
                         proxy.standard_error,
                         dual.report.chosen == From::proxy ? "  <- chosen by validation" : ""));
  print_line(fmt::format("  entropy: no model is below {:7.3f}", entropy));
  print_line(fmt::format("picture: {}", a.output));
}

}  // namespace

void add_demo(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<DemoArguments>();
  CLI::App* command = app.add_subcommand(
      "demo", "Fit a small set with known density by maximum likelihood and by the dual method");
  command->add_option("--source", a->source, "Where the rows come from")
      ->check(CLI::IsMember(source_names()));
  command->add_option("--rows", a->rows, "How many (default 500)")
      ->check(CLI::Range(Eigen::Index{20}, Eigen::Index{1'000'000}));
  add_seed(*command, a->seed, "Of rows and training (default 0)");
  command->add_option("--iterations", a->iterations, "Of each fit (default: by the number of rows)")
      ->check(positive());
  command->add_option("-o,--output", a->output, "SVG or PNG file (default demo.png)");
  command->footer(
      "Examples:\n  jeffreys demo\n  jeffreys demo --source ring --rows 1000 -o ring.svg");
  command->callback([a, &globals] { run_demo(*a, globals); });
}

}  // namespace jeffreys::cli
