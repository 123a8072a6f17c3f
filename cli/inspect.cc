#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/load.h"
#include "cli/summary.h"
#include "jeffreys/model/model_kind.h"

namespace jeffreys::cli {
namespace {

Json column_json(const ColumnInfo& c) {
  Json json{{"name", c.name}, {"role", name_of(c.role)}, {"kind", name_of(c.kind)}};
  if (!c.labels.empty()) json["labels"] = c.labels;
  if (c.notation.is_time()) json["pattern"] = c.notation.pattern;
  json["minimum"] = number(c.minimum);
  json["maximum"] = number(c.maximum);
  json["resolution"] = number(c.resolution);
  json["lower"] = number(c.bounds.lower);
  json["upper"] = number(c.bounds.upper);
  json["mean"] = number(c.mean);
  json["scale"] = number(c.scale);
  return json;
}

std::string column_line(const ColumnInfo& c) {
  std::string line =
      fmt::format("  {:<20} {:<10} {:<12}", c.name, name_of(c.role), name_of(c.kind));
  if (!c.labels.empty()) {
    line += fmt::format(" {} labels", c.labels.size());
  } else if (c.role != ColumnRole::left_out) {
    const auto text = [&](double value) {
      return c.notation.is_plain() ? fmt::format("{:g}", value) : c.notation.write(value);
    };
    line += fmt::format(" {} to {}", text(c.minimum), text(c.maximum));
  }
  if (!c.atoms.empty()) line += fmt::format(", {} often", fmt::join(c.atoms, " and "));
  if (c.resolution > 0) line += fmt::format(", resolution {:g}", c.resolution);
  return line;
}

// Nothing where the record is not one.
void print_record(const Json& record) {
  const auto text = [](const Json& object, const char* key) {
    const bool there = object.is_object() && object.contains(key) && object[key].is_string();
    return there ? object[key].get<std::string>() : std::string();
  };
  const Json result = record.is_object() ? record.value("result", Json()) : Json();
  if (const std::string table = text(record, "table"); !table.empty()) {
    const Json members = result.is_object() ? result.value("members", Json(1)) : Json(1);
    const bool several = members.is_number_integer() && members.get<std::int64_t>() > 1;
    print_line(fmt::format("fitted to {}{}", table,
                           several ? fmt::format(" by {} fits that left out different rows",
                                                 members.get<std::int64_t>())
                                   : ""));
  }
  if (const std::string verdict = text(result, "verdict"); !verdict.empty()) {
    print_line("verdict: " + verdict);
  }
  const Json settings = record.is_object() ? record.value("settings", Json()) : Json();
  if (!settings.is_object()) return;
  std::vector<std::string> changed;
  for (const auto& [key, setting] : settings.items()) {
    if (setting.is_object() && setting.value("default", Json(true)) == Json(false)) {
      changed.push_back(fmt::format("  {} = {}", key, text(setting, "value")));
    }
  }
  print_line(changed.empty() ? "all settings are the default"
                             : "settings that are not the default:");
  for (const std::string& line : changed) print_line(line);
}

void run_inspect(const std::string& path, const Globals& globals) {
  const auto density = TabularDensity<float>::load(path);
  const std::string main = describe_model(density.main());
  const std::string proxy = density.proxy() != nullptr ? describe_model(*density.proxy()) : "";
  const Json record = Json::parse(density.record, nullptr, false);
  if (globals.json) {
    Json json{{"model", path},
              {"main", main},
              {"proxy", density.proxy() ? Json(proxy) : Json(nullptr)},
              {"default", name_of(density.chosen())}};
    for (const ColumnInfo& column : density.schema().columns()) {
      json["columns"].push_back(column_json(column));
    }
    json["notes"] = density.schema().notes();
    if (record.is_object()) json["record"] = record;
    print_json(json);
    return;
  }
  print_line("main:  " + main);
  if (density.proxy()) print_line("proxy: " + proxy);
  print_line(fmt::format("log_prob and sample use {} by default", name_of(density.chosen())));
  print_line("columns:");
  for (const ColumnInfo& column : density.schema().columns()) print_line(column_line(column));
  for (const std::string& note : density.schema().notes()) print_line("note: " + note);
  if (density.schema().outdated()) print_line(kOutdated);
  print_record(record);
}

}  // namespace

void add_inspect(CLI::App& app, Globals& globals) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("inspect", "What is in a model file");
  command->add_option("model", *path, "Model file")->required();
  command->footer(
      "Examples:\n  jeffreys inspect table.model\n  jeffreys inspect table.model --json");
  command->callback([path, &globals] { run_inspect(*path, globals); });
}

}  // namespace jeffreys::cli
