// Section "Comparison with MLE" and appendix ap:mle_noise: figures fig:uci and fig:uci_noise_*.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/comparison.h"
#include "experiment/nll_table.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kBeyond = "beyond the paper";
constexpr const char* kOursValidated = "ours-validated";
constexpr const char* kLikelihoodValidated = "mle-validated";
// A run's lowest test NLL is never above its last, so only a rise of more than this counts. In nats
// for each row.
constexpr double kRise = 0.1;

struct Model {
  const char* name;
  const char* legend;
  const char* method;
  const char* model;
  int color;

  [[nodiscard]] std::string test() const { return std::string(model) + ".test_nll"; }
  [[nodiscard]] std::string train() const { return std::string(model) + ".train_nll"; }
};
constexpr Model kMain{"ours, main", "ours, main", "ours", "main", ours_color};
constexpr Model kProxy{"ours, proxy", "ours, proxy", "ours", "proxy", proxy_color};
constexpr Model kLikelihood{"MLE", "MLE", "mle", "main", likelihood_color};
constexpr Model kMuchNoise{"MLE + noise 0.1", "noise 0.1", "noise-0.1", "main", third_color};
constexpr Model kLittleNoise{"MLE + noise 0.01", "noise 0.01", "noise-0.01", "main", fourth_color};
constexpr Model kEntropy{"MLE + entropy", "entropy", "entropy", "main", fifth_color};
constexpr Model kModels[] = {kMain, kProxy, kLikelihood, kMuchNoise, kLittleNoise, kEntropy};

// The tables as the paper prepares them, or with noise as wide as the rounding.
struct Variant {
  std::string name;
  std::string title;
  std::vector<std::string> data = {};
};

std::vector<Variant> variants_of(const Results& results) {
  Variant paper{"paper", "as in the paper"};
  Variant dequantised{"dequantised", "dequantised"};
  for (const std::string& data : results.data()) {
    (data.ends_with("-dequantised") ? dequantised : paper).data.push_back(data);
  }
  return {paper, dequantised};
}

std::string table_name(const std::string& data) { return data.substr(0, data.find('-')); }

std::vector<report::Panel> nll_panels(const Results& results, const Variant& variant, bool test) {
  std::vector<report::Panel> row;
  for (const std::string& data : variant.data) {
    report::Curves curves{
        .title = fmt::format("{}: {} rows", table_name(data), test ? "test" : "training"),
        .x_label = "epoch",
        .y_label = "NLL",
        .log_x = test};
    for (const Model& model : kModels) {
      auto line = mean_line(results, data, model.method, test ? model.test() : model.train(),
                            model.legend, model.color);
      if (test) shorten_start(line);
      if (!line.x.empty()) curves.lines.push_back(std::move(line));
    }
    if (curves.lines.empty()) continue;
    hide_start(curves);
    row.emplace_back(std::move(curves));
  }
  return row;
}

std::vector<report::Panel> multiplier_panels(const Results& results, const Variant& variant) {
  std::vector<report::Panel> row;
  for (const std::string& data : variant.data) {
    report::Curves curves{.title = fmt::format("{}: multipliers of ours", table_name(data)),
                          .x_label = "epoch",
                          .log_x = true};
    int color = ours_color;
    for (const char* term : {"forward", "reverse", "proxy"}) {
      auto line =
          mean_line(results, data, kMain.method, std::string("multiplier.") + term, term, color++);
      shorten_start(line);
      if (!line.x.empty()) curves.lines.push_back(std::move(line));
    }
    if (!curves.lines.empty()) row.emplace_back(std::move(curves));
  }
  return row;
}

void figure(const Variant& variant, const char* name, std::vector<report::Panel> row,
            const std::string& text, Section& section) {
  if (row.empty()) return;
  section.figure(fmt::format("{}-{}", variant.name, name), {std::move(row)},
                 fmt::format("Tables {}: {}, mean over seeds with a band of one deviation.",
                             variant.title, text));
}

void test_figure(const Results& results, const Variant& variant, Section& section) {
  figure(variant, "test", nll_panels(results, variant, true),
         "NLL of the test rows, other ones in each seed", section);
}

void more_figures(const Results& results, const Variant& variant, Section& section) {
  figure(variant, "train", nll_panels(results, variant, false), "NLL of the training rows",
         section);
  figure(variant, "multipliers", multiplier_panels(results, variant), "the dual variables",
         section);
}

void table(const Results& results, const Variant& variant, Section& section) {
  std::vector<TableRow> rows;
  const auto add = [&](const std::string& model, const std::string& taken,
                       const std::string& method, const Measure& measure) {
    TableRow row{model, taken, {}};
    for (const std::string& data : variant.data) {
      row.values.push_back(summary_of(values_of(results, data, method, measure)));
    }
    rows.push_back(std::move(row));
  };
  for (const auto& [moment, taken] : {std::pair{Moment::last, "last"}, {Moment::best, "best"}}) {
    for (const Model& model : kModels) {
      add(model.name, taken, model.method, at(model.test(), moment));
    }
  }
  for (const char* method :
       {kOursValidated, kLikelihoodValidated, "mixture", "kernel", "gaussian"}) {
    const auto known = std::find(results.methods().begin(), results.methods().end(), method);
    if (known == results.methods().end()) continue;
    add(results.label(method), "by validation", method, validated_nll());
  }
  value_table(
      section.page(), variant.data, rows,
      fmt::format("Tables {}: test NLL in nats for each row, mean ± deviation over seeds (their "
                  "number), the lowest in bold. Each seed has other test rows, so deviations are "
                  "mostly theirs; the claims compare within seeds. Last: after all epochs. Best: "
                  "the lowest point of each run, chosen on the test rows as the paper does; nobody "
                  "can stop there. By validation: a fifth of the training rows chooses, for ours "
                  "also between main, proxy and the averages of their weights; the Gaussian has "
                  "nothing to choose and uses all rows.",
                  variant.title));
}

// A claim is judged on the tables as the paper prepares them; what the dequantised ones say stands
// beside it. fill: adds a data set to the comparison.
template <typename Fill>
void claim(const Results& results, Section& section, Claim claim, const Fill& fill) {
  for (const Variant& variant : variants_of(results)) {
    Comparison comparison(2);
    for (const std::string& data : variant.data) fill(data, comparison);
    if (variant.name == "paper") {
      claim.numbers += comparison.numbers();
      claim.finding = comparison.finding();
      claim.brief = comparison.brief();
      claim.data = variant.data;
    } else if (!comparison.empty()) {
      claim.numbers += fmt::format(". Dequantised ({}): {}", text_of(comparison.finding()),
                                   comparison.numbers());
    }
  }
  section.claim(std::move(claim));
}

SeedValues nll(const Results& results, const std::string& data, const Model& model, Moment moment) {
  return values_of(results, data, model.method, at(model.test(), moment));
}

// How much the test NLL is above its lowest value at the end; infinite for a run that diverged.
SeedValues rise_of(const Results& results, const std::string& data, const Model& model) {
  return values_of(results, data, model.method, [&](const RunResult& run) {
    return value_at(run, model.test(), Moment::last) - value_at(run, model.test(), Moment::best);
  });
}

// What the training NLL does while the test NLL goes from its lowest value to the last one.
double training_change(const RunResult& run, const Model& model) {
  const std::vector<double> test = run.curve.column(model.test());
  const std::vector<double> train = run.curve.column(model.train());
  const double lowest = value_at(run, model.test(), Moment::best);
  const auto place = std::find(test.begin(), test.end(), lowest);
  if (place == test.end() || train.size() != test.size()) return kNotMeasured;
  return value_at(run, model.train(), Moment::last) -
         train[static_cast<std::size_t>(place - test.begin())];
}

// Overfitting: the test NLL rises while the training NLL falls. A run that diverged shows neither.
void add_overfitting(const Results& results, const std::string& data, const Model& model,
                     Comparison& comparison) {
  const Difference rises = interval_of(rise_of(results, data, model));
  const auto rise = rises.interval;
  const auto change = interval_of(values_of(results, data, model.method, [&](const RunResult& run) {
                        return training_change(run, model);
                      })).interval;
  Finding finding = Finding::not_enough_runs;
  if (rise && change && std::min(rise->n, change->n) >= kFewestSeeds) {
    if (rise->lower > kRise && change->upper < 0) finding = Finding::holds;
    if (rise->upper < kRise || change->lower > 0) finding = Finding::fails;
  }
  comparison.add(table_name(data), rises, finding,
                 change ? fmt::format("training {:+.2f}", change->mean) : "");
}

// From half of the epochs to the end, of that method that improves least.
SeedValues least_training_change(const Results& results, const std::string& data) {
  SeedValues most;
  for (const Model& model : kModels) {
    const SeedValues changes = values_of(results, data, model.method, [&](const RunResult& run) {
      const std::vector<double> train = run.curve.column(model.train());
      const auto& epochs = run.curve.iteration;
      if (train.empty()) return kNotMeasured;
      const auto half = std::lower_bound(epochs.begin(), epochs.end(), epochs.back() / 2);
      return value_at(run, model.train(), Moment::last) -
             train[static_cast<std::size_t>(half - epochs.begin())];
    });
    for (const auto& [seed, change] : changes) {
      const auto [place, fresh] = most.emplace(seed, change);
      if (!fresh) place->second = std::max(place->second, change);
    }
  }
  return most;
}

std::string rises() {
  return fmt::format(
      "rise of the test NLL from its lowest point to the end, more than {} counts, a limit of ours "
      "(and the training NLL's change): ",
      kRise);
}

void overfitting_claims(const Results& results, Section& section) {
  claim(results, section,
        {.paper = "fig:uci",
         .text = "Ours ends at a lower NLL than MLE.",
         .numbers = "main - MLE, after all epochs: ",
         .headline = "On all tables a lower NLL than maximum likelihood (MLE), at the end.",
         .methods = {kMain.method, kLikelihood.method}},
        [&](const std::string& data, Comparison& comparison) {
          comparison.add(table_name(data),
                         difference_of(nll(results, data, kLikelihood, Moment::last),
                                       nll(results, data, kMain, Moment::last)));
        });
  claim(results, section,
        {.paper = "ssec:results_uci, fig:uci, fig:uci_noise_train",
         .text = "MLE overfits: its test NLL rises while its training NLL falls.",
         .numbers = "MLE, " + rises(),
         .headline = "MLE overfits: its test NLL rises while its training NLL falls.",
         .methods = {kLikelihood.method}},
        [&](const std::string& data, Comparison& comparison) {
          add_overfitting(results, data, kLikelihood, comparison);
        });
  claim(results, section,
        {.paper = "ssec:results_uci",
         .text = "Ours remains stable where MLE overfits.",
         .numbers =
             "rise of the test NLL from its lowest point to the end, that of main - that of MLE: ",
         .methods = {kMain.method, kLikelihood.method}},
        [&](const std::string& data, Comparison& comparison) {
          comparison.add(table_name(data), difference_of(rise_of(results, data, kLikelihood),
                                                         rise_of(results, data, kMain)));
        });
}

void regularisation_claims(const Results& results, Section& section) {
  claim(results, section,
        {.paper = "ap:mle_noise, fig:uci_noise_train",
         .text = "The training NLL of all methods keeps improving.",
         .numbers = "change of the training NLL in the second half of the epochs, of the method "
                    "that improves least: ",
         .methods = {kMain.method, kLikelihood.method, kMuchNoise.method, kLittleNoise.method,
                     kEntropy.method}},
        [&](const std::string& data, Comparison& comparison) {
          comparison.add(table_name(data), interval_of(least_training_change(results, data)));
        });
  claim(results, section,
        {.paper = "ssec:results_uci",
         .text = "Maximising the entropy as well does not prevent overfitting.",
         .numbers = "MLE + entropy, " + rises(),
         .methods = {kEntropy.method}},
        [&](const std::string& data, Comparison& comparison) {
          add_overfitting(results, data, kEntropy, comparison);
        });
}

// Compares b with a on all tables and says so in the claim.
Comparison compare(const Results& results, const std::vector<std::string>& tables, const Model& a,
                   const Model& b, Moment moment, Claim& claim) {
  Comparison comparison(2);
  for (const std::string& data : tables) {
    comparison.add(data,
                   difference_of(nll(results, data, a, moment), nll(results, data, b, moment)));
  }
  claim.numbers += fmt::format("{}{} - {}, {}: {}", claim.numbers.empty() ? "" : ". ", b.name,
                               a.name, moment == Moment::last ? "last" : "best", comparison.text());
  return comparison;
}

// A claim that something happens somewhere fails only if every table is decided.
void sensitivity_claim(const Results& results, Section& section,
                       const std::vector<std::string>& tables) {
  Claim claim{.paper = "ssec:results_uci, fig:uci, fig:uci_noise_test",
              .text = "Noise improves MLE on one table, and the same noise makes another worse.",
              .headline = "Noise improves MLE on one table and makes another worse.",
              .methods = {kLikelihood.method, kMuchNoise.method, kLittleNoise.method},
              .data = tables};
  bool decided = true;
  for (const Moment moment : {Moment::best, Moment::last}) {
    for (const Model& noisy : {kMuchNoise, kLittleNoise}) {
      const Comparison comparison = compare(results, tables, kLikelihood, noisy, moment, claim);
      decided = decided && !comparison.any(Finding::not_enough_runs);
      if (!comparison.any(Finding::holds) || !comparison.any(Finding::fails)) continue;
      claim.finding = moment == Moment::last ? Finding::holds : Finding::in_part;
      claim.brief = fmt::format("{} does, {}", noisy.name,
                                moment == Moment::last ? "at the end" : "at the best points");
    }
  }
  if (claim.finding == Finding::not_enough_runs && decided) {
    claim.finding = Finding::fails;
    claim.brief = "on no table";
  }
  section.claim(std::move(claim));
}

void noise_wins_claim(const Results& results, Section& section,
                      const std::vector<std::string>& tables) {
  Claim claim{.paper = "ap:mle_noise, fig:uci_noise_test",
              .text = "In one case noise even outperforms ours.",
              .methods = {kMain.method, kMuchNoise.method, kLittleNoise.method},
              .data = tables};
  bool decided = true;
  for (const Model& noisy : {kMuchNoise, kLittleNoise}) {
    const Comparison comparison = compare(results, tables, kMain, noisy, Moment::last, claim);
    decided = decided && !comparison.any(Finding::not_enough_runs);
    if (!comparison.any(Finding::holds)) continue;
    claim.finding = Finding::holds;
    claim.brief = fmt::format("{} does", noisy.name);
  }
  if (claim.finding == Finding::not_enough_runs && decided) {
    claim.finding = Finding::fails;
    claim.brief = "on no table";
  }
  section.claim(std::move(claim));
}

void claims_beyond(const Results& results, Section& section) {
  claim(results, section,
        {.paper = kBeyond,
         .text = "The proxy, itself a flow, ends at a lower NLL than the main model.",
         .numbers = "proxy - main, after all epochs: ",
         .methods = {kMain.method}},
        [&](const std::string& data, Comparison& comparison) {
          comparison.add(table_name(data), difference_of(nll(results, data, kMain, Moment::last),
                                                         nll(results, data, kProxy, Moment::last)));
        });
  const std::tuple<const char*, const char*, const char*> others[] = {
      {kLikelihoodValidated, "Ours, validated, is better than MLE that is stopped early.",
       "ours - MLE, each where validation chooses: "},
      {"mixture", "Ours, validated, is better than a mixture of Gaussians.", "ours - mixture: "}};
  for (const auto& [method, text, compared] : others) {
    claim(
        results, section,
        {.paper = kBeyond, .text = text, .numbers = compared, .methods = {kOursValidated, method}},
        [&, other = method](const std::string& data, Comparison& comparison) {
          comparison.add(table_name(data),
                         difference_of(values_of(results, data, other, validated_nll()),
                                       values_of(results, data, kOursValidated, validated_nll())));
        });
  }
}

}  // namespace

void describe_uci(const Results& results, Section& section) {
  const std::vector<Variant> variants = variants_of(results);
  overfitting_claims(results, section);
  regularisation_claims(results, section);
  sensitivity_claim(results, section, variants.front().data);
  noise_wins_claim(results, section, variants.front().data);
  claims_beyond(results, section);
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  test_figure(results, variants.front(), section);
  section.details();
  section.page().paragraph(
      "Three UCI tables; main model and proxy are flows. Values that repeat (rounded or whole "
      "numbers) let a flow gain likelihood without bound by spikes on them, so every table is also "
      "used dequantised: with noise as wide as the rounding on every column with repeated values.");
  note_diverged(results, section.page());
  for (const Variant& variant : variants) {
    if (variant.name != "paper") test_figure(results, variant, section);
    more_figures(results, variant, section);
    table(results, variant, section);
  }
  chosen_table(results, {kOursValidated, kLikelihoodValidated}, section.page());
}

}  // namespace jeffreys::experiment
