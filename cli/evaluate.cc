#include <fmt/format.h>

#include "cli/load.h"
#include "cli/summary.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/objective/importance.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kReverseRows = 10000;

struct EvaluateArguments {
  std::string model;
  std::string table;
};

// KL(main || proxy), and how even the weights of the same samples are.
struct Reverse {
  PairedDifference kl;
  ImportanceEstimate importance;
};

Reverse reverse_kl(const TabularDensity<float>& density) {
  const Samples<float> samples = density.main().sample(kReverseRows, {0, kComparedSamples, 0});
  const Matrix<double> x = samples.x.cast<double>();
  const Vector<double> main = samples.log_prob.cast<double>();
  const Vector<double> proxy = density.log_prob(x, Matrix<double>(), From::proxy);
  const Vector<double> weights = proxy - main;
  return {paired_difference(proxy, main),
          importance_estimate({weights.data(), static_cast<std::size_t>(weights.size())})};
}

void run_evaluate(const EvaluateArguments& a, const Globals& globals) {
  const auto density = TabularDensity<float>::load(a.model);
  const Table table = read_table_for(a.table, density.schema());
  Json json{{"model", a.model}, {"table", a.table}, {"default", name_of(density.chosen())}};
  std::vector<std::string> lines{
      fmt::format("mean negative log density of {}, nats a row", a.table)};
  for (const From from : {From::main, From::proxy}) {
    if (from == From::proxy && !density.proxy()) continue;
    const TableLogProb result = density.log_prob(table, from);
    const MeanNll nll = mean_nll(result.log_prob);
    json[name_of(from)] = {{"nll", number(nll.nll)},
                           {"standard_error", number(nll.standard_error)},
                           {"rows", nll.rows}};
    json["dropped_rows"] = result.dropped;
    lines.push_back(fmt::format("  {:<6} {:.4f} +- {:.4f}{}", name_of(from), nll.nll,
                                nll.standard_error,
                                density.chosen() == from ? "  <- used by default" : ""));
    if (from == density.chosen() && result.dropped > 0) {
      lines.push_back(fmt::format("  {} rows with missing values were left out", result.dropped));
    }
  }
  if (density.proxy() && density.schema().context_features() == 0) {
    const Reverse reverse = reverse_kl(density);
    json["reverse_kl"] = {{"kl", number(reverse.kl.mean)},
                          {"standard_error", number(reverse.kl.standard_error)},
                          {"samples", kReverseRows}};
    json["effective_sample_size"] = number(reverse.importance.effective_sample_size);
    json["pareto_k"] = number(reverse.importance.pareto_k);
    lines.push_back(fmt::format(
        "KL(main || proxy) {:.4f} +- {:.4f}, effective sample size {:.1f} %, Pareto k {:.2f}, from "
        "{} samples of main",
        reverse.kl.mean, reverse.kl.standard_error, 100 * reverse.importance.effective_sample_size,
        reverse.importance.pareto_k, kReverseRows));
  }
  const EnergyCheck energy = density.check_energy(density.schema().encode(table).context, 0);
  if (energy.conditions > 0) {
    json.update(energy_json(energy));
    json["warnings"] = energy.warnings();
    lines.push_back(energy_line(energy));
    for (const std::string& warning : energy.warnings()) lines.push_back("warning: " + warning);
  }
  if (globals.json) {
    print_json(json);
  } else {
    for (const std::string& line : lines) print_line(line);
  }
}

}  // namespace

void add_evaluate(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<EvaluateArguments>();
  CLI::App* command =
      app.add_subcommand("evaluate", "How well a model fits a table, and how its two parts agree");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "Rows that the model has not seen")->required();
  command->footer("Example:\n  jeffreys evaluate table.model test.csv --json");
  command->callback([a, &globals] { run_evaluate(*a, globals); });
}

}  // namespace jeffreys::cli
