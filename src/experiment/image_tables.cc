#include "experiment/image_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jeffreys::experiment {
namespace {

constexpr double kGreyValues = 127.5;  // that the unit of pixels in [-1, 1] has
constexpr double kMinute = 60;

// Of all runs on these pictures that have such a number.
std::vector<double> machine_numbers(const Results& results, const std::string& data,
                                    const std::string& method, const std::string& name) {
  std::vector<double> values;
  for (const RunResult* run : results.runs(data, method)) {
    const auto found = run->machine.find(name);
    if (found != run->machine.end() && std::isfinite(found->second)) {
      values.push_back(found->second);
    }
  }
  return values;
}

// The first that a run has; NaN for none.
double common_machine_number(const Results& results, const std::string& data,
                             const std::string& name) {
  for (const std::string& method : results.methods()) {
    const std::vector<double> values = machine_numbers(results, data, method, name);
    if (!values.empty()) return values.front();
  }
  return kNotMeasured;
}

std::string minutes_text(double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", seconds / kMinute) : "–";
}

// "4.81 [4.52, 5.10], +0.60"; a mean over seeds for each of them.
std::string interval_text(const std::optional<SeedSummary>& distance,
                          const std::optional<SeedSummary>& lower,
                          const std::optional<SeedSummary>& upper,
                          const std::optional<SeedSummary>& bias) {
  if (!distance || !lower || !upper || !bias) return "–";
  return fmt::format("{:.2f} [{:.2f}, {:.2f}], {:+.2f}", distance->mean, lower->mean, upper->mean,
                     bias->mean);
}

// calls f(data, method) where there are runs.
template <typename F>
void each_method(const Results& results, const F& f) {
  for (const std::string& data : results.data()) {
    for (const std::string& method : results.methods()) {
      if (!results.runs(data, method).empty()) f(data, method);
    }
  }
}

}  // namespace

std::vector<DistanceKind> distances_of(const Results& results, const std::string& data) {
  std::vector<DistanceKind> kinds;
  for (const DistanceKind& kind : kDistanceKinds) {
    if (common_number(results, data, kind.column("halves"))) kinds.push_back(kind);
  }
  return kinds;
}

std::optional<SeedSummary> common_number(const Results& results, const std::string& data,
                                         const std::string& column) {
  for (const std::string& method : results.methods()) {
    if (const auto found = results.summary(data, method, column, Moment::last)) return found;
  }
  return std::nullopt;
}

std::vector<TableRow> distance_references(const Results& results,
                                          const std::vector<std::string>& data,
                                          const DistanceKind& kind) {
  constexpr std::pair<const char*, const char*> kReferences[] = {
      {"halves", "two halves of the held-out pictures"},
      {"training", "training pictures"},
      {"reconstructed", "held-out pictures through the autoencoder"},
      {"gaussian", "one Gaussian"}};
  std::vector<TableRow> rows;
  for (const auto& [name, words] : kReferences) {
    TableRow row{words, "", {}, true};
    for (const std::string& one : data) {
      row.values.push_back(common_number(results, one, kind.column(name)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void distance_interval_table(const Results& results, report::Page& page) {
  std::vector<DistanceKind> kinds;
  for (const DistanceKind& kind : kDistanceKinds) {
    const auto measured = [&](const std::string& data) {
      return common_number(results, data, kind.column("halves")).has_value();
    };
    if (std::any_of(results.data().begin(), results.data().end(), measured)) kinds.push_back(kind);
  }
  std::vector<std::string> columns = {"data", "method"};
  for (const DistanceKind& kind : kinds) columns.push_back(kind.words);
  std::vector<std::vector<report::Cell>> rows;
  // number(column): of a method, or what all methods have in common.
  const auto add = [&](const std::string& data, const std::string& name, const std::string& model,
                       const auto& number) {
    std::vector<report::Cell> row = {{data}, {name}};
    bool any = false;
    for (const DistanceKind& kind : kinds) {
      const std::string column = kind.column(model);
      row.emplace_back(interval_text(number(column), number(column + "_lower"),
                                     number(column + "_upper"), number(column + "_bias")));
      any = any || number(column + "_lower");
    }
    if (any) rows.push_back(std::move(row));
  };
  for (const std::string& data : results.data()) {
    for (const std::string& method : results.methods()) {
      add(data, results.label(method), "main", [&](const std::string& column) {
        return results.summary(data, method, column, Moment::last);
      });
    }
    add(data, "one Gaussian", "gaussian",
        [&](const std::string& column) { return common_number(results, data, column); });
  }
  if (rows.empty()) return;
  page.table(columns, rows,
             {.caption = "The distances at the end with what chance among so few pictures does to "
                         "them, means over seeds: the 95 % interval from 200 draws with "
                         "replacement of real and of made pictures, and how much such a draw adds "
                         "to the distance, which says about how much too large it is itself."});
}

SeedValues nll_rise(const Results& results, const std::string& data, const std::string& method) {
  return values_of(results, data, method, [](const RunResult& run) {
    return value_at(run, "main.test_nll", Moment::last) -
           value_at(run, "main.test_nll", Moment::best);
  });
}

void autoencoder_table(const Results& results, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  for (const std::string& data : results.data()) {
    const auto training = common_number(results, data, "pictures.training");
    const auto held_out = common_number(results, data, "pictures.held_out");
    const auto error = common_number(results, data, "autoencoder.training_error");
    const auto unseen = common_number(results, data, "autoencoder.held_out_error");
    if (!training || !held_out || !error || !unseen) continue;
    const auto grey = [](double squared) {
      return fmt::format("{:.1f}", kGreyValues * std::sqrt(squared));
    };
    rows.push_back({data, fmt::format("{:.0f}", training->mean),
                    fmt::format("{:.0f}", held_out->mean), grey(error->mean), grey(unseen->mean),
                    minutes_text(common_machine_number(results, data, "autoencoder_seconds")),
                    minutes_text(common_machine_number(results, data, "judge_seconds"))});
  }
  if (rows.empty()) return;
  page.table({"data", "pictures", "held out", "error on the pictures", "on held-out ones",
              "core-minutes", "of the second autoencoder"},
             rows,
             {.caption = "The autoencoders, each made once for all runs on its pictures. Errors "
                         "are root mean squares in grey values of 255."});
}

void importance_table(const Results& results, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  each_method(results, [&](const std::string& data, const std::string& method) {
    const auto number = [&](const char* column) {
      return results.summary(data, method, std::string("proxy.") + column, Moment::last);
    };
    const auto log_zeta = number("log_zeta");
    if (!log_zeta) return;
    const auto lower = number("log_zeta_lower");
    const auto upper = number("log_zeta_upper");
    const auto size = number("effective_sample_size");
    rows.push_back(
        {data, results.label(method), text_of(log_zeta, 2),
         lower && upper ? fmt::format("[{:.2f}, {:.2f}]", lower->mean, upper->mean) : "–",
         size ? fmt::format("{:.3g} %", 100 * size->mean) : "–", text_of(number("pareto_k"), 2)});
  });
  if (rows.empty()) return;
  page.table({"data", "method", "log zeta", "95 % interval of one estimate",
              "effective sample size", "Pareto k"},
             rows,
             {.caption = "The normaliser of energy proxies at the end, from as many fresh samples "
                         "of the main model as training takes, mean over seeds. Where Pareto k is "
                         "above 0.7 or the effective sample size below 1 %, neither log zeta nor "
                         "its interval can be trusted, nor the NLL of the proxy that follows from "
                         "it."});
}

void image_cost_table(const Results& results, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  each_method(results, [&](const std::string& data, const std::string& method) {
    std::vector<double> seconds;
    double steps = 0;
    for (const RunResult* run : results.runs(data, method)) {
      if (run->seconds.empty() || run->curve.iteration.back() == 0) continue;
      steps = static_cast<double>(run->curve.iteration.back());
      seconds.push_back(run->seconds.back());
    }
    if (seconds.empty()) return;
    const double all = seed_summary(seconds).mean;
    const std::vector<double> memory = machine_numbers(results, data, method, "peak_megabytes");
    rows.push_back({data, results.label(method), fmt::format("{:.0f}", steps),
                    fmt::format("{:.3f}", all / steps), minutes_text(all),
                    memory.empty() ? "–" : fmt::format("{:.0f}", seed_summary(memory).mean)});
  });
  if (rows.empty()) return;
  page.table({"data", "method", "steps", "seconds a step", "core-minutes", "MB"}, rows,
             {.caption = "Processor time of training on one thread, without measurements, and the "
                         "most memory that the whole process had, with all pictures in it."});
}

void copies_table(const Results& results, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  each_method(results, [&](const std::string& data, const std::string& method) {
    const auto samples = results.summary(data, method, "nearest.samples", Moment::last);
    const auto held_out = results.summary(data, method, "nearest.held_out", Moment::last);
    const std::vector<DistanceKind> kinds = distances_of(results, data);
    if (!samples || !held_out || kinds.empty()) return;
    rows.push_back(
        {data, results.label(method), text_of(samples), fmt::format("{:.3f}", held_out->mean)});
    for (const DistanceKind& kind : {kinds.front(), kinds.back()}) {
      rows.back().emplace_back(
          text_of(results.summary(data, method, kind.column("to_training"), Moment::last)));
    }
  });
  if (rows.empty()) return;
  page.table({"data", "method", "nearest: samples", "held-out pictures", "distance: encoder",
              "other network"},
             rows,
             {.caption = "Samples and the training pictures, at the end. Nearest: median distance "
                         "to the nearest training picture in the autoencoder's numbers, in "
                         "deviations of each number; copies would be much nearer than held-out "
                         "pictures are. Distance: Fréchet distance of as many samples as there are "
                         "training pictures to these, in the encoder's numbers and in the second "
                         "encoder's or the classifier's; a model that copies is near."});
}

void note_sheets(const std::string& experiment, report::Page& page) {
  page.paragraph(fmt::format(
      "Sheets of decoded samples (at the same place from the same noise in every method), of the "
      "training pictures nearest to samples, of interpolations and of reconstructions are files in "
      "{}/pictures of the output folder. They are not on this page: CelebA's pictures may not be "
      "passed on.",
      experiment));
}

}  // namespace jeffreys::experiment
