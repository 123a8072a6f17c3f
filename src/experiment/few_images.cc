// Beyond the paper: its argument that the reverse KL helps where data are few, on pictures.
#include <fmt/format.h>

#include <tuple>

#include "experiment/image_tables.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kFewFlow = "flow";
constexpr const char* kFewFlowValidated = "flow-validated";

struct FewOurs {
  const char* method;
  const char* phrase;
};
constexpr FewOurs kFewOurs[] = {{"ours-flow", "ours with a flow as proxy"},
                                {"ours-energy", "ours with an energy proxy"}};
// Of faces only: what the weight of the reverse KL does to samples. No claim is about it.
constexpr const char* kFewFlowWeighted = "ours-flow-weighted";

// "celeba 1000"
std::string few_name(std::string data) {
  const std::size_t dash = data.rfind('-');
  if (dash != std::string::npos) data[dash] = ' ';
  return data;
}

// values(data, method): of ours and of the other, lower is better.
template <typename Ours, typename Theirs>
void few_claim(const Results& results, Section& section, Claim claim, const Ours& ours,
               const Theirs& theirs) {
  Comparison comparison(2);
  for (const std::string& data : results.data()) {
    comparison.add(few_name(data), difference_of(theirs(data), ours(data)));
  }
  claim.paper = "beyond the paper";
  claim.numbers += comparison.numbers();
  claim.finding = comparison.finding();
  claim.brief = comparison.brief();
  section.claim(std::move(claim));
}

void few_nll_claims(const Results& results, Section& section) {
  const auto validated = [&](const char* method) {
    return [&results, method](const std::string& data) {
      return values_of(results, data, method, validated_nll());
    };
  };
  const auto last = [&](const std::string& data) {
    return values_of(results, data, kFewFlow, at("main.test_nll", Moment::last));
  };
  for (const FewOurs& ours : kFewOurs) {
    few_claim(results, section,
              {.text = fmt::format("With few pictures the held-out NLL of {}, stopped early, is "
                                   "lower than that of a flow that is stopped early.",
                                   ours.phrase),
               .numbers = "ours - flow, each where validation chooses: ",
               .methods = {ours.method, kFewFlowValidated}},
              validated(ours.method), validated(kFewFlowValidated));
    few_claim(results, section,
              {.text = fmt::format("With few pictures the held-out NLL of {}, stopped early, is "
                                   "lower than that of a flow that never stops.",
                                   ours.phrase),
               .numbers = "ours, where validation chooses - flow, at the end: ",
               .methods = {ours.method, kFewFlow}},
              validated(ours.method), last);
  }
}

// In the network that is no part of the model: it is another one for faces and for small pictures.
SeedValues judged_distance(const Results& results, const std::string& data, const char* method) {
  const std::vector<DistanceKind> kinds = distances_of(results, data);
  if (kinds.empty()) return {};
  return values_of(results, data, method, at(kinds.back().column(), Moment::selected));
}

void few_distance_claims(const Results& results, Section& section) {
  for (const FewOurs& ours : kFewOurs) {
    few_claim(
        results, section,
        {.text = fmt::format("With few pictures decoded samples of {} are nearer to real pictures "
                             "than those of a flow, both stopped early.",
                             ours.phrase),
         .numbers = "main model - flow, distance in a second encoder's numbers (faces) or in our "
                    "classifier's features: ",
         .methods = {ours.method, kFewFlowValidated}},
        [&](const std::string& data) { return judged_distance(results, data, ours.method); },
        [&](const std::string& data) { return judged_distance(results, data, kFewFlowValidated); });
  }
}

void few_figure(const Results& results, Section& section) {
  std::vector<std::vector<report::Panel>> grid;
  for (const std::string& data : results.data()) {
    report::Curves curves{.title = few_name(data), .x_label = "step", .y_label = "held-out NLL"};
    const std::tuple<const char*, const char*, const char*, int> lines[] = {
        {"flow", "main", "flow", likelihood_color},
        {"ours-flow", "main", "ours, flow as proxy: main", ours_color},
        {"ours-flow", "proxy", "its proxy", proxy_color},
        {"ours-energy", "main", "ours, energy as proxy: main", third_color}};
    for (const auto& [method, model, name, color] : lines) {
      auto line = mean_line(results, data, method, std::string(model) + ".test_nll", name, color);
      if (!line.x.empty()) curves.lines.push_back(std::move(line));
    }
    if (curves.lines.empty()) continue;
    hide_start(curves);
    if (grid.empty() || grid.back().size() == 2) grid.emplace_back();
    grid.back().emplace_back(std::move(curves));
  }
  if (grid.empty()) return;
  section.figure("nll", grid,
                 "Held-out NLL of the autoencoder's numbers over the steps, mean over seeds with a "
                 "band of one deviation.");
}

void few_nll_table(const Results& results, report::Page& page) {
  std::vector<TableRow> rows;
  const auto add = [&](const char* method, const char* taken, const Measure& measure) {
    TableRow row{results.label(method), taken, {}};
    for (const std::string& data : results.data()) {
      row.values.push_back(summary_of(values_of(results, data, method, measure)));
    }
    rows.push_back(std::move(row));
  };
  for (const FewOurs& ours : kFewOurs) add(ours.method, "", validated_nll());
  add(kFewFlowWeighted, "", validated_nll());
  add(kFewFlowValidated, "", validated_nll());
  add(kFewFlow, "", at("main.test_nll", Moment::last));
  add("gaussian", "", validated_nll());
  value_table(
      page, results.data(), rows,
      "Held-out NLL in nats for all numbers of a picture, each with mean 0 and deviation "
      "1, mean ± deviation over seeds (their number), the lowest in bold. Stopped early: "
      "a tenth of the training pictures chooses, for ours also between main model and "
      "proxy, an energy proxy only if Pareto k says throughout the second half of the run that "
      "its zeta can be trusted. Other autoencoders have other numbers: columns cannot be "
      "compared.");
}

void few_distance_table(const Results& results, const DistanceKind& kind, report::Page& page) {
  std::vector<std::string> shown;
  for (const std::string& data : results.data()) {
    if (common_number(results, data, kind.column("halves"))) shown.push_back(data);
  }
  std::vector<TableRow> rows;
  for (const auto& [method, moment] : {std::pair{kFewOurs[0].method, Moment::selected},
                                       {kFewOurs[1].method, Moment::selected},
                                       {kFewFlowWeighted, Moment::selected},
                                       {kFewFlowValidated, Moment::selected},
                                       {kFewFlow, Moment::last}}) {
    TableRow row{results.label(method), "", {}};
    for (const std::string& data : shown) {
      row.values.push_back(results.summary(data, method, kind.column(), moment));
    }
    rows.push_back(std::move(row));
  }
  for (TableRow& row : distance_references(results, shown, kind)) rows.push_back(std::move(row));
  value_table(page, shown, rows,
              fmt::format("Fréchet distance {} of decoded samples of the main model to held-out "
                          "pictures, as many of both, mean ± deviation over seeds (their number). "
                          "The last rows are what real pictures, the autoencoder alone and one "
                          "Gaussian have. It is no FID.",
                          kind.words));
}

}  // namespace

void describe_few_images(const Results& results, Section& section) {
  few_nll_claims(results, section);
  few_distance_claims(results, section);
  report::Page& page = section.page();
  if (results.empty()) {
    page.notice("No runs yet.");
    return;
  }
  few_figure(results, section);
  section.details();
  page.paragraph(
      "Faces (64 x 64, 100 numbers) and small grey pictures (32 x 32, 20 numbers), few of them: "
      "also the autoencoder sees no others. The network in whose features distances are measured "
      "was trained on other pictures. Seeds differ in first weights, batches and validation rows, "
      "and share pictures and autoencoder.");
  note_sheets("few-images", page);
  note_diverged(results, page);
  few_nll_table(results, page);
  for (const DistanceKind& kind : kDistanceKinds) few_distance_table(results, kind, page);
  chosen_table(results,
               {kFewOurs[0].method, kFewOurs[1].method, kFewFlowWeighted, kFewFlowValidated}, page);
  distance_interval_table(results, page);
  importance_table(results, page);
  copies_table(results, page);
  autoencoder_table(results, page);
  image_cost_table(results, page);
}

}  // namespace jeffreys::experiment
