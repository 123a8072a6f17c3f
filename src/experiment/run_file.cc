#include "experiment/run_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::experiment {
namespace {

using Json = nlohmann::ordered_json;

// Seven digits: what single precision has to say, and small files.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

double number_from(const Json& json) { return json.is_null() ? kNotMeasured : json.get<double>(); }

Json numbers_to_json(const Numbers& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) json[name] = number(value);
  return json;
}

Numbers numbers_from(const Json& json) {
  Numbers numbers;
  for (const auto& [name, value] : json.items()) numbers[name] = number_from(value);
  return numbers;
}

template <typename Values>
Json list(const Values& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value));
  return json;
}

std::vector<double> list_from(const Json& json) {
  std::vector<double> values;
  for (const Json& item : json) values.push_back(number_from(item));
  return values;
}

std::filesystem::path seconds_file(std::filesystem::path file) {
  return file.replace_extension(".seconds.json");
}

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file.string(), "cannot be read");
  return Json::parse(stream);
}

Json grid_to_json(const Workload::DensityGrid& grid) {
  Json json = {{"range", {grid.x_min, grid.x_max, grid.y_min, grid.y_max}},
               {"pixels", grid.pixels}};
  for (const auto& [name, values] : grid.density) {
    Json& pixels = json["density"][name] = Json::array();
    // Four digits are more than a picture shows.
    for (const double value : values) {
      pixels.push_back(std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr));
    }
  }
  return json;
}

Workload::DensityGrid grid_from_json(const Json& json) {
  const Json& range = json.at("range");
  Workload::DensityGrid grid{range.at(0), range.at(1),       range.at(2),
                             range.at(3), json.at("pixels"), {}};
  for (const auto& [name, values] : json.at("density").items()) {
    const std::vector<double> pixels = list_from(values);
    grid.density[name] =
        Eigen::Map<const Vector<double>>(pixels.data(), static_cast<Eigen::Index>(pixels.size()));
  }
  return grid;
}

}  // namespace

void Curve::add(std::int64_t at, const Numbers& numbers) {
  const std::size_t before = iteration.size();
  iteration.push_back(at);
  for (const auto& [name, value] : numbers) {
    auto& column = columns.try_emplace(name, before, kNotMeasured).first->second;
    column.push_back(value);
  }
  for (auto& [name, column] : columns) column.resize(iteration.size(), kNotMeasured);
}

void Curve::cut(std::int64_t after) {
  while (!iteration.empty() && iteration.back() > after) iteration.pop_back();
  for (auto& [name, column] : columns) column.resize(iteration.size());
}

std::vector<double> Curve::column(const std::string& name) const {
  const auto found = columns.find(name);
  return found == columns.end() ? std::vector<double>() : found->second;
}

Json to_json(const Curve& curve) {
  Json json = {{"iteration", curve.iteration}};
  for (const auto& [name, column] : curve.columns) json[name] = list(column);
  return json;
}

Curve curve_from_json(const Json& json) {
  Curve curve;
  for (const auto& [name, values] : json.items()) {
    if (name == "iteration") {
      curve.iteration = values.get<std::vector<std::int64_t>>();
    } else {
      curve.columns[name] = list_from(values);
    }
  }
  for (const auto& [name, column] : curve.columns) {
    if (column.size() != curve.iteration.size()) {
      throw std::invalid_argument(fmt::format("curve: column {} has another length", name));
    }
  }
  return curve;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  storage::write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

void write_run(const std::filesystem::path& folder, const std::string& name,
               const RunResult& result) {
  Json json = {{"experiment", result.experiment}, {"data", result.data}, {"method", result.method},
               {"label", result.label},           {"seed", result.seed}, {"stop", result.stop}};
  json["settings"] = Json::object();
  for (const auto& [key, value] : result.settings) json["settings"][key] = value;
  json["curve"] = to_json(result.curve);
  json["last"] = numbers_to_json(result.last);
  if (result.grid.pixels > 0) json["grid"] = grid_to_json(result.grid);
  const std::filesystem::path file = folder / (name + ".json");
  Json machine = {{"seconds", list(result.seconds)}};
  if (!result.machine.empty()) machine["machine"] = numbers_to_json(result.machine);
  write_text(seconds_file(file), machine.dump() + "\n");
  write_text(file, json.dump() + "\n");
}

RunResult read_run(const std::filesystem::path& file) {
  try {
    const Json json = read_json(file);
    RunResult result{.experiment = json.at("experiment"),
                     .data = json.at("data"),
                     .method = json.at("method"),
                     .label = json.at("label"),
                     .seed = json.at("seed"),
                     .stop = json.at("stop")};
    for (const auto& [key, value] : json.at("settings").items()) {
      result.settings.emplace_back(key, value);
    }
    result.curve = curve_from_json(json.at("curve"));
    result.last = numbers_from(json.at("last"));
    if (json.contains("grid")) result.grid = grid_from_json(json["grid"]);
    if (std::filesystem::exists(seconds_file(file))) {
      const Json machine = read_json(seconds_file(file));
      result.seconds = list_from(machine.at("seconds"));
      if (machine.contains("machine")) result.machine = numbers_from(machine["machine"]);
    }
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string(), fmt::format("is not the file of a run: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(file.string(), fmt::format("is not the file of a run: {}", error.what()));
  }
}

}  // namespace jeffreys::experiment
