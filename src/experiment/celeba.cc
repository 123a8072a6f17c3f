// Appendix ap:img_sampling: figure fig:celeba.
// Differs from the paper: distances are no FID, for which no weights were to be had, but Fréchet
// distances in the numbers of networks of our own; and 10,000 pictures stand for 200,000.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "experiment/image_tables.h"

namespace jeffreys::experiment {
namespace {

// The paper calls 48.07 and 48.99 comparable. Ours counts as comparable if it is at most this much
// further from real pictures than the flow is, as a share: a limit of ours.
constexpr double kAsWell = 0.1;
// Beyond this a rise of the held-out NLL of 100 numbers counts as overfitting: 0.01 nats a number.
constexpr double kOverfits = 1;

constexpr const char* kCodesFlow = "flow";
constexpr const char* kCodesFlowValidated = "flow-validated";

constexpr const char* kCodesFlowLong = "flow-long";

struct CodesForm {
  const char* method;
  const char* long_method;
  const char* phrase;
  Form form;
};
constexpr CodesForm kCodesForms[] = {
    {"ours", "ours-long", "ours (as written)", Form::written},
    {"stable", "stable-long", "ours (in the stable form)", Form::stable}};

const std::string& pictures_of(const Results& results) { return results.data().front(); }

// The last step that all runs of both methods have.
std::int64_t shared_steps(const Results& results, const std::string& method,
                          const std::string& other) {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const std::string& each : {method, other}) {
    const std::vector<const RunResult*> runs = results.runs(pictures_of(results), each);
    if (runs.empty()) return 0;
    for (const RunResult* run : runs) steps = std::min(steps, run->curve.iteration.back());
  }
  return steps;
}

// A column of a run at a moment.
using Taken = std::function<Measure(const std::string& column)>;

Taken taken_at(Moment moment) {
  return [moment](const std::string& column) { return at(column, moment); };
}
Taken taken_at_step(std::int64_t step) {
  return [step](const std::string& column) { return at_iteration(column, step); };
}

// How much further ours is than the flow, as a share, by seed.
SeedValues further(const Results& results, const std::string& method, const std::string& flow,
                   const DistanceKind& kind, const Taken& taken) {
  const std::string& data = pictures_of(results);
  const SeedValues theirs = values_of(results, data, flow, taken(kind.column()));
  SeedValues shares = values_of(results, data, method, taken(kind.column()));
  std::erase_if(shares, [&](const auto& entry) { return !theirs.contains(entry.first); });
  for (auto& [seed, value] : shares) value = value / theirs.at(seed) - 1;
  return shares;
}

// Whether all of the interval is on one side of a limit.
Finding below(const Difference& difference, double limit) {
  if (difference.lost > 0) return Finding::fails;
  if (!difference.interval || difference.interval->n < kFewestSeeds) {
    return Finding::not_enough_runs;
  }
  if (difference.interval->upper < limit) return Finding::holds;
  return difference.interval->lower > limit ? Finding::fails : Finding::not_enough_runs;
}

std::string percent_text(const Difference& difference) {
  if (difference.lost > 0) return "diverged";
  if (!difference.interval) return "–";
  const PairedInterval& i = *difference.interval;
  if (i.n < 2) return fmt::format("{:+.1f} %, 1 seed", 100 * i.mean);
  return fmt::format("{:+.1f} % [{:+.1f}, {:+.1f}], {} seeds", 100 * i.mean, 100 * i.lower,
                     100 * i.upper, i.n);
}

// "in the encoder's numbers: ..."
std::string further_text(const Results& results, const std::string& method, const std::string& flow,
                         const Taken& taken) {
  std::string text;
  for (const DistanceKind& kind : distances_of(results, pictures_of(results))) {
    const Difference share = interval_of(further(results, method, flow, kind, taken));
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", kind.words, percent_text(share));
  }
  return text;
}

void comparable_claims(const Results& results, Section& section) {
  const std::string& data = pictures_of(results);
  for (const CodesForm& form : kCodesForms) {
    Comparison comparison;
    for (const DistanceKind& kind : distances_of(results, data)) {
      const Difference last =
          interval_of(further(results, form.method, kCodesFlow, kind, taken_at(Moment::last)));
      comparison.add(kind.words, percent_text(last), below(last, kAsWell),
                     last.seeds() >= kFewestSeeds);
    }
    Claim claim{.paper = "ap:img_sampling, fig:celeba",
                .text = fmt::format("Decoded samples of {} are comparable with those of a flow.",
                                    form.phrase),
                .finding = comparison.finding(),
                .headline = "The 100-D codes of CelebA are learned as well as by a flow.",
                .form = form.form,
                .methods = {form.method, kCodesFlow}};
    if (!comparison.empty()) {
      claim.brief = comparison.text();
      claim.numbers = fmt::format(
          "Distance to held-out pictures, ours against the flow, at the end, at most {:.0f} % "
          "further counts (a limit of ours): {}. Each at its best, as the paper takes it: {}",
          100 * kAsWell, claim.brief,
          further_text(results, form.method, kCodesFlow, taken_at(Moment::best)));
      if (const std::int64_t steps = shared_steps(results, form.long_method, kCodesFlowLong)) {
        claim.numbers += fmt::format(
            ". In longer runs, at step {}: {}", steps,
            further_text(results, form.long_method, kCodesFlowLong, taken_at_step(steps)));
      }
    }
    section.claim(std::move(claim));
  }
}

void reason_claims(const Results& results, Section& section) {
  const std::string& data = pictures_of(results);
  const Difference rise = interval_of(nll_rise(results, data, kCodesFlow));
  section.claim({.paper = "ap:img_sampling",
                 .text = "The flow does not overfit.",
                 .numbers = fmt::format(
                     "Rise of its held-out NLL from the lowest point to the end, less than "
                     "{} nat for all numbers counts (a limit of ours): {}",
                     kOverfits, text_of(rise, 2)),
                 .finding = below(rise, kOverfits),
                 .brief = rise.interval ? fmt::format("rise {}", text_of(rise, 2)) : "",
                 .methods = {kCodesFlow}});
  for (const CodesForm& form : kCodesForms) {
    const std::vector<double> tails =
        results.values(data, form.method, "proxy.pareto_k", Moment::last);
    Claim claim{.paper = "ap:img_sampling",
                .text = fmt::format("The estimate of zeta has a high variance, {}.", form.phrase),
                .form = form.form,
                .methods = {form.method}};
    if (!tails.empty()) {
      const auto heavy = std::count_if(tails.begin(), tails.end(),
                                       [](double tail) { return tail > kTrustedTail; });
      claim.brief =
          fmt::format("Pareto k above {} with {} of {} seeds", kTrustedTail, heavy, tails.size());
      claim.numbers = claim.brief;
      const bool all = heavy == static_cast<std::ptrdiff_t>(tails.size());
      if (tails.size() >= kFewestSeeds) {
        claim.finding = all ? Finding::holds : heavy > 0 ? Finding::in_part : Finding::fails;
      }
    }
    section.claim(std::move(claim));
  }
}

// Of runs that go on when the flow has long overfitted.
std::string longer_nll_text(const Results& results, const CodesForm& form) {
  const std::int64_t steps = shared_steps(results, form.long_method, kCodesFlowLong);
  if (steps == 0) return "";
  const auto nll = [&](const char* method) {
    return values_of(results, pictures_of(results), method, at_iteration("main.test_nll", steps));
  };
  return fmt::format(". In longer runs, at step {}, against the flow that goes on: {}", steps,
                     text_of(difference_of(nll(kCodesFlowLong), nll(form.long_method)), 2));
}

void nll_claims_of_codes(const Results& results, Section& section) {
  const std::string& data = pictures_of(results);
  for (const CodesForm& form : kCodesForms) {
    const auto add = [&](const char* other, const std::string& words, const SeedValues& theirs) {
      Comparison comparison(2);
      comparison.add(data, difference_of(theirs, values_of(results, data, form.method,
                                                           at("main.test_nll", Moment::last))));
      section.claim({.paper = "beyond the paper",
                     .text = fmt::format("The held-out NLL of {} is lower than that of {}.",
                                         form.phrase, words),
                     .numbers = "ours, main model, at the end - flow: " + comparison.numbers() +
                                longer_nll_text(results, form),
                     .finding = comparison.finding(),
                     .brief = comparison.brief(),
                     .form = form.form,
                     .methods = {form.method, other}});
    };
    add(kCodesFlow, "the flow at the end",
        values_of(results, data, kCodesFlow, at("main.test_nll", Moment::last)));
    add(kCodesFlowValidated, "the flow that is stopped early",
        values_of(results, data, kCodesFlowValidated, validated_nll()));
  }
}

struct CodesLine {
  const char* method;
  const char* model;
  const char* name;
  int color;
};
constexpr CodesLine kCodesLines[] = {
    {"flow", "main", "flow", likelihood_color},
    {"ours", "main", "ours, as written: main", third_color},
    {"stable", "main", "ours, stable form: main", ours_color},
    {"ours", "proxy", "as written: proxy", fourth_color},
    {"stable", "proxy", "stable form: proxy", proxy_color},
};

report::Curves codes_panel(const Results& results, const std::string& quantity,
                           const std::string& title, const char* y_label) {
  report::Curves curves{.title = title, .x_label = "step", .y_label = y_label};
  for (const CodesLine& one : kCodesLines) {
    auto line = mean_line(results, pictures_of(results), one.method,
                          std::string(one.model) + "." + quantity, one.name, one.color);
    if (!line.x.empty()) curves.lines.push_back(std::move(line));
  }
  return curves;
}

void codes_figures(const Results& results, Section& section) {
  const std::string& data = pictures_of(results);
  std::vector<report::Panel> row;
  const auto add = [&row](report::Curves curves) {
    if (curves.lines.empty()) return;
    hide_start(curves);
    row.emplace_back(std::move(curves));
  };
  add(codes_panel(results, "test_nll", "held-out NLL of 100 numbers", "NLL"));
  for (const DistanceKind& kind : distances_of(results, data)) {
    report::Curves curves =
        codes_panel(results, std::string("distance_") + kind.judge, kind.words, "distance");
    if (const auto halves = common_number(results, data, kind.column("halves"))) {
      curves.references.push_back({"two halves of real pictures", halves->mean});
    }
    if (const auto one = common_number(results, data, kind.column("gaussian"))) {
      curves.references.push_back({"one Gaussian", one->mean});
    }
    add(std::move(curves));
  }
  if (row.empty()) return;
  section.figure("codes", {std::move(row)},
                 "Held-out NLL of the autoencoder's numbers, and Fréchet distances of decoded "
                 "samples to held-out pictures, as many of both; mean over seeds with a band of "
                 "one deviation. These distances are no FID and cannot be compared with one.");
}

void zeta_figure(const Results& results, Section& section) {
  std::vector<report::Panel> row;
  for (const auto& [column, title] : {std::pair{"log_zeta", "log zeta from fresh samples"},
                                      {"effective_sample_size", "share of effective samples"}}) {
    report::Curves curves = codes_panel(results, column, title, "");
    if (!curves.lines.empty()) row.emplace_back(std::move(curves));
  }
  if (row.empty()) return;
  section.figure("zeta", {std::move(row)}, "The normaliser of the energy proxy over the steps.");
}

void codes_table(const Results& results, report::Page& page) {
  const std::string& data = pictures_of(results);
  const std::vector<DistanceKind> kinds = distances_of(results, data);
  std::vector<std::string> columns = {"held-out NLL"};
  for (const DistanceKind& kind : kinds) columns.push_back(std::string("distance ") + kind.words);
  std::vector<TableRow> rows;
  const auto add = [&](const std::string& name, const char* taken, const std::string& method,
                       const std::string& model, Moment moment) {
    TableRow row{name, taken, {results.summary(data, method, model + ".test_nll", moment)}};
    for (const DistanceKind& kind : kinds) {
      row.values.push_back(results.summary(data, method, kind.column(model), moment));
    }
    rows.push_back(std::move(row));
  };
  for (const auto& [moment, taken] : {std::pair{Moment::last, "last"}, {Moment::best, "best"}}) {
    for (const std::string& method : results.methods()) {
      if (method == kCodesFlowValidated) continue;
      add(results.label(method), taken, method, "main", moment);
    }
  }
  add(results.label(kCodesFlowValidated), "by validation", kCodesFlowValidated, "main",
      Moment::selected);
  std::vector<TableRow> references;
  for (const DistanceKind& kind : kinds) {
    const std::vector<TableRow> of_kind = distance_references(results, {data}, kind);
    if (references.empty()) {
      references = of_kind;
      for (TableRow& row : references) row.values = {std::nullopt};
    }
    for (std::size_t r = 0; r < of_kind.size(); ++r) {
      references[r].values.push_back(of_kind[r].values.front());
    }
  }
  rows.insert(rows.end(), references.begin(), references.end());
  value_table(page, columns, rows,
              "NLL in nats for 100 numbers with mean 0 and deviation 1, and Fréchet distances of "
              "decoded samples to held-out pictures, as many of both, mean ± deviation over seeds "
              "(their number). Last: after all steps. Best: each column at its lowest point, "
              "chosen on the held-out pictures as the paper does. By validation: where a tenth of "
              "the training pictures says. The last rows have no density: what real pictures and "
              "the autoencoder alone have, and one Gaussian. No distance is an FID.");
}

}  // namespace

void describe_celeba(const Results& results, Section& section) {
  comparable_claims(results, section);
  reason_claims(results, section);
  nll_claims_of_codes(results, section);
  report::Page& page = section.page();
  if (results.empty()) {
    page.notice("No runs yet.");
    return;
  }
  codes_figures(results, section);
  section.details();
  page.paragraph(
      "An autoencoder makes 100 numbers of each of 10,000 pictures of CelebA, 1,000 of which are "
      "held out of everything; densities of these numbers are fitted with the paper's settings "
      "(flow of 6 transforms and 16 bins, energy of 5 x 1024, temperature 0.01). 3,125 steps are "
      "40 epochs of 10,000 pictures; the paper's 40 epochs of 200,000 are 62,500. Seeds differ in "
      "first weights, batches and validation rows, and share pictures and autoencoder.");
  note_sheets("celeba", page);
  note_diverged(results, page);
  codes_table(results, page);
  zeta_figure(results, section);
  distance_interval_table(results, page);
  importance_table(results, page);
  copies_table(results, page);
  autoencoder_table(results, page);
  image_cost_table(results, page);
}

}  // namespace jeffreys::experiment
