// A run on disk: its curve and what else was measured, as JSON. The same run gives the same bytes,
// so what depends on the machine (seconds) is in a file of its own.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/workload.h"

namespace jeffreys::experiment {

// Numbers at the points of a run. A number that was not measured at a point is NaN.
struct Curve {
  std::vector<std::int64_t> iteration;
  std::map<std::string, std::vector<double>> columns;  // each as long as `iteration`

  void add(std::int64_t at, const Numbers& numbers);
  // Forgets what came after this iteration.
  void cut(std::int64_t after);
  // Empty if there is no such column.
  [[nodiscard]] std::vector<double> column(const std::string& name) const;
};

struct RunResult {
  std::string experiment;
  std::string data;
  std::string method;
  std::string label;
  std::uint64_t seed = 0;
  std::string stop;  // finished, diverged, or lost (see lost_run.h)
  Settings settings = {};
  Curve curve = {};
  Numbers last = {};  // measured at the end
  Workload::DensityGrid grid = {};
  // From the file beside it; may be missing in results that were copied without it.
  std::vector<double> seconds = {};  // of processor time up to each point of the curve
  Numbers machine = {};              // what else depends on the machine
};

[[nodiscard]] nlohmann::ordered_json to_json(const Curve& curve);
[[nodiscard]] Curve curve_from_json(const nlohmann::ordered_json& json);

// FOLDER/NAME.json and FOLDER/NAME.seconds.json, both replaced atomically.
void write_run(const std::filesystem::path& folder, const std::string& name,
               const RunResult& result);
// Throws InputError for a file that is no run.
[[nodiscard]] RunResult read_run(const std::filesystem::path& file);

// Writes text so that a reader sees all of it or the old file.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace jeffreys::experiment
