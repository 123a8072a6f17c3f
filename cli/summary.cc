#include "cli/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace jeffreys::cli {
namespace {

constexpr std::size_t kMostNotes = 5;

std::string nll_text(const MeanNll& nll) {
  return nll.rows > 0 ? fmt::format("{:9.3f} +- {:.3f}", nll.nll, nll.standard_error)
                      : fmt::format("{:>9}", "-");
}

std::string model_line(const char* name, const ModelReport& model, bool chosen) {
  return fmt::format("  {:<9} {:<20} {:<20}{}", name, nll_text(model.held_out),
                     nll_text(model.training), chosen ? "  <- used by default" : "");
}

// One line for each kind of density in the mixture that several fits make.
std::vector<std::string> blend_lines(const FitReport& report) {
  std::vector<std::string> lines;
  if (report.blend.empty()) return lines;
  lines.emplace_back(report.distilled
                         ? "main learned from a mixture; its parts alone, on rows that they have "
                           "not seen"
                         : "main is a mixture; its parts alone, on rows that they have not seen");
  for (const BlendShare& share : report.blend) {
    const std::string name =
        share.densities > 1 ? fmt::format("{} x {}", share.densities, share.name) : share.name;
    lines.push_back(
        fmt::format("  {:<18} weight {:.2f}  {}", name, share.weight, nll_text(share.held_out)));
  }
  if (report.distilled) {
    lines.push_back(fmt::format(
        "one flow learned the mixture and loses {:.3f} +- {:.3f} nats a row of its draws; the "
        "held-out numbers are the mixture's",
        report.distilled->mean, report.distilled->standard_error));
  }
  return lines;
}

std::string stop_text(const TrainResult& training, int members) {
  std::string length =
      members > 1 ? fmt::format("{} iterations of {} fits, {:.1f} s in all", training.iterations,
                                members, training.seconds)
                  : fmt::format("{} iterations in {:.1f} s", training.iterations, training.seconds);
  switch (training.stop_reason) {
    case StopReason::finished: return length;
    case StopReason::patience: return length + ", stopped early: no more improvement";
    case StopReason::time_limit: return length + ", stopped by the time limit";
    case StopReason::interrupted: return length + ", interrupted";
    case StopReason::diverged: return length + ", DIVERGED";
  }
  return length;
}

}  // namespace

std::string summary_text(const PreparedTable& table, const FitReport& report) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "{} training rows, {} held out{}{}{}; {} columns modelled{}", table.rows(),
      report.members > 1 ? "each" : fmt::format("{}", table.validation.size()),
      report.members > 1 ? fmt::format(" by {} of {} fits", report.held_out_by, report.members)
                         : "",
      table.calibration.size() > 0 ? fmt::format(", {} kept for p-values", table.calibration.size())
                                   : "",
      table.dropped > 0 ? fmt::format(", {} dropped (missing values)", table.dropped) : "",
      table.schema.feature_names().size(),
      table.schema.context_features() > 0
          ? fmt::format(", given {}", fmt::join(table.schema.condition_names(), ", "))
          : ""));
  const std::vector<std::string>& notes = table.schema.notes();
  const std::size_t leading = table.schema.leading_notes();
  const std::size_t shown =
      notes.size() <= kMostNotes ? notes.size() : std::max(leading, kMostNotes - 1);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back("  note: " + notes[i]);
  if (shown < notes.size()) {
    lines.push_back(fmt::format("  and {} more note{}: `jeffreys inspect` shows them",
                                notes.size() - shown, notes.size() - shown == 1 ? "" : "s"));
  }
  lines.push_back(stop_text(report.training, report.blend.empty() ? 1 : report.members));
  lines.emplace_back("mean negative log density, nats a row (lower is better)");
  lines.push_back(fmt::format("  {:<9} {:<20} {:<20}", "model", "held-out", "training"));
  lines.push_back(model_line("Gaussian", report.gaussian, false));
  lines.push_back(model_line("main", report.main, report.chosen == From::main));
  if (report.proxy) {
    lines.push_back(model_line("proxy", *report.proxy, report.chosen == From::proxy));
    if (!std::isnan(report.balance)) {
      std::string line =
          fmt::format("balance {:.2f} (1: forward KL alone, 0: reverse KL alone)", report.balance);
      if (!std::isnan(report.residual)) {
        line += fmt::format(", residual of the multipliers {:.2g}", report.residual);
      }
      lines.push_back(line);
    }
  }
  for (std::string& line : blend_lines(report)) lines.push_back(std::move(line));
  if (report.energy.conditions > 0) {
    lines.push_back(energy_line(report.energy));
  }
  for (const std::string& warning : report.warnings) lines.push_back("warning: " + warning);
  lines.push_back("verdict: " + report.verdict);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string energy_line(const EnergyCheck& c) {
  const std::string range = c.conditions > 1
                                ? fmt::format(" ({:.3f} to {:.3f} over {} conditions)",
                                              c.log_zeta_lowest, c.log_zeta_highest, c.conditions)
                                : "";
  return fmt::format(
      "energy model: log zeta {:.3f}{} from {} samples{} ({:+.3f} from half as many), effective "
      "sample size {:.1f} %, Pareto k {:.2f}, mass that main's samples miss {:.1f} %",
      c.log_zeta, range, c.samples, c.conditions > 1 ? " each" : "", c.log_zeta_half - c.log_zeta,
      100 * c.effective_sample_size, c.pareto_k, 100 * c.unseen);
}

Json energy_json(const EnergyCheck& check) { return Json::parse(to_json(check)); }

Json nll_json(const MeanNll& nll) { return Json::parse(to_json(nll)); }

Json summary_json(const PreparedTable& table, const FitReport& report) {
  return Json::parse(result_record(table, report));
}

Json settings_json(const FitOptions& options, const FitOptions& defaults) {
  return Json::parse(settings_record(options, defaults));
}

}  // namespace jeffreys::cli
