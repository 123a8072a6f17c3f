#include "jeffreys/fit/fit_record.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "jeffreys/version.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json nll_json(const MeanNll& nll) {
  return {
      {"nll", number(nll.nll)}, {"standard_error", number(nll.standard_error)}, {"rows", nll.rows}};
}

Json model_json(const ModelReport& model) {
  return {{"held_out", nll_json(model.held_out)},
          {"training", nll_json(model.training)},
          {"gain_over_gaussian",
           {{"mean", number(model.over_gauss.mean)},
            {"standard_error", number(model.over_gauss.standard_error)}}}};
}

Json energy_json(const EnergyCheck& c) {
  return {{"effective_sample_size", number(c.effective_sample_size)},
          {"pareto_k", number(c.pareto_k)},
          {"log_zeta", number(c.log_zeta)},
          {"log_zeta_lowest", number(c.log_zeta_lowest)},
          {"log_zeta_highest", number(c.log_zeta_highest)},
          {"log_zeta_half", number(c.log_zeta_half)},
          {"zeta_conditions", c.conditions},
          {"zeta_samples", c.samples},
          {"unseen_mass", number(c.unseen)}};
}

Json blend_json(const FitReport& report) {
  Json all = Json::array();
  for (const BlendShare& share : report.blend) {
    all.push_back({{"name", share.name},
                   {"densities", share.densities},
                   {"weight", number(share.weight)},
                   {"held_out", nll_json(share.held_out)}});
  }
  return all;
}

Json result_json(const PreparedTable& table, const FitReport& report) {
  Json json{{"stop_reason", name_of(report.training.stop_reason)},
            {"iterations", report.training.iterations},
            {"skipped", report.training.skipped},
            {"seconds", number(report.training.seconds)},
            {"training_rows", table.rows()},
            {"held_out_rows", table.validation.size()},
            {"calibration_rows", table.calibration.size()},
            {"dropped_rows", table.dropped},
            {"members", report.members},
            {"features", table.schema.feature_names()},
            {"conditions", table.schema.condition_names()},
            {"chosen", name_of(report.chosen)},
            {"gaussian", model_json(report.gaussian)},
            {"main", model_json(report.main)}};
  if (report.proxy) {
    json["proxy"] = model_json(*report.proxy);
    json["balance"] = number(report.balance);
    json["residual"] = number(report.residual);
    if (report.energy.conditions > 0) json.update(energy_json(report.energy));
  }
  if (!report.blend.empty()) {
    json["blend"] = blend_json(report);
    json["optimism"] = number(report.optimism);
  }
  if (report.distilled) {
    json["distilled"] = {{"loss", number(report.distilled->mean)},
                         {"standard_error", number(report.distilled->standard_error)}};
  }
  json["selected"] = {{"main_iteration", report.training.main.iteration},
                      {"main_averaged", report.training.main.averaged},
                      {"proxy_iteration", report.training.proxy.iteration},
                      {"proxy_averaged", report.training.proxy.averaged}};
  json["notes"] = table.schema.notes();
  json["warnings"] = report.warnings;
  json["verdict"] = report.verdict;
  return json;
}

// What a mean NLL of rows as the models see them lacks to one in the table's units.
Json units_json(const PreparedTable& table) {
  const auto shift = [](const EncodedRows& rows) { return -rows.log_jacobian.mean(); };
  const double training = table.training.size() > 0 ? shift(table.training) : 0;
  return {{"training", number(training)},
          {"held_out", number(table.validation.size() > 0 ? shift(table.validation) : training)}};
}

Json settings_json(const FitOptions& options, const FitOptions& defaults) {
  const std::vector<Setting> now = list_settings(options);
  const std::vector<Setting> usual = list_settings(defaults);
  Json json = Json::object();
  for (std::size_t i = 0; i < now.size(); ++i) {
    json[now[i].key] = {{"value", now[i].value}, {"default", now[i].value == usual[i].value}};
  }
  return json;
}

}  // namespace

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::finished: return "finished";
    case StopReason::patience: return "patience";
    case StopReason::time_limit: return "time_limit";
    case StopReason::interrupted: return "interrupted";
    case StopReason::diverged: return "diverged";
  }
  return "unknown";
}

const char* name_of(From from) { return from == From::main ? "main" : "proxy"; }

std::string to_json(const MeanNll& nll) { return nll_json(nll).dump(); }

std::string to_json(const EnergyCheck& check) { return energy_json(check).dump(); }

std::string result_record(const PreparedTable& table, const FitReport& report) {
  return result_json(table, report).dump();
}

std::string settings_record(const FitOptions& options, const FitOptions& defaults) {
  return settings_json(options, defaults).dump();
}

std::string fit_record(const std::string& source, const PreparedTable& table,
                       const FitOptions& options, const FitOptions& defaults,
                       const FitReport& report) {
  Json record{{"jeffreys", kVersion}, {"table", source}};
  record["settings"] = settings_json(options, defaults);
  record["result"] = result_json(table, report);
  record["result"].erase("seconds");
  record["units"] = units_json(table);
  return record.dump();
}

}  // namespace jeffreys
