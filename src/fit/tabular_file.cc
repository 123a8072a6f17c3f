// A TabularDensity on disk: a model archive with the schema in its metadata.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/density_arrays.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/train/record_arrays.h"

namespace jeffreys {
namespace {

constexpr const char* kSchema = "schema";
constexpr const char* kRecord = "record";
constexpr const char* kChosen = "chosen";
constexpr const char* kLogZeta = "log_zeta";
constexpr const char* kHistory = "history";
constexpr const char* kHistoryColumns = "history.columns";
constexpr const char* kEvaluations = "evaluations";
constexpr const char* kCalibrationMain = "calibration.main";
constexpr const char* kCalibrationProxy = "calibration.proxy";
constexpr const char* kCalibrationKept = "calibration.kept";
constexpr std::string_view kAttachment = "attachment.";

From read_choice(const std::string& text) {
  if (text == "main") return From::main;
  if (text == "proxy") return From::proxy;
  throw std::invalid_argument(fmt::format("chosen: expected main or proxy, got '{}'", text));
}

double read_finite(const std::string& text) {
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  if (end != text.size() || !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("log_zeta: expected a finite number, got '{}'", text));
  }
  return value;
}

template <typename Record, typename Read>
std::vector<Record> read_records(const storage::Arrays& arrays, const char* name,
                                 const std::string& file, Read read) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) return {};
  try {
    return read(found->second);
  } catch (const std::invalid_argument& error) {
    throw InputError(file, fmt::format("{}: {}", name, error.what()));
  }
}

Vector<double> read_scores(const storage::Arrays& arrays, const char* name,
                           const std::string& file) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) return {};
  const std::vector<double> values = found->second.values<double>();
  Vector<double> scores =
      Eigen::Map<const Vector<double>>(values.data(), static_cast<Eigen::Index>(values.size()));
  if (scores.hasNaN() || !std::is_sorted(scores.begin(), scores.end())) {
    throw InputError(file, fmt::format("{}: not in increasing order", name));
  }
  return scores;
}

storage::Array to_array(const Vector<double>& scores) {
  return storage::Array::from<double>({scores.size()},
                                      {scores.data(), static_cast<std::size_t>(scores.size())});
}

}  // namespace

template <typename T>
void save_with_arrays(const TabularDensity<T>& density, const storage::Arrays& arrays,
                      const std::filesystem::path& path) {
  ModelArchive<T> archive;
  archive.models.emplace("main", AnyModel<T>(density.main().clone()));
  if (density.proxy() != nullptr) {
    archive.models.emplace("proxy", AnyModel<T>(density.proxy()->clone()));
  }
  archive.metadata = {{kSchema, density.schema().to_json()},
                      {kRecord, density.record},
                      {kChosen, density.chosen() == From::main ? "main" : "proxy"},
                      {kLogZeta, fmt::format("{:a}", density.log_zeta())}};
  for (const auto& [name, text] : density.attachments) {
    archive.metadata[std::string(kAttachment) + name] = text;
  }
  for (const auto& [name, array] : arrays) {
    archive.arrays[std::string(kAttachment) + name] = array;
  }
  HistoryArray steps = to_array(density.history);
  archive.arrays[kHistory] = std::move(steps.numbers);
  archive.metadata[kHistoryColumns] = steps.columns;
  archive.arrays[kEvaluations] = to_array(density.evaluations);
  const CalibrationScores& calibration = density.calibration();
  if (calibration.main.size() > 0) {
    archive.arrays[kCalibrationMain] = to_array(calibration.main);
    archive.arrays[kCalibrationProxy] = to_array(calibration.proxy);
    archive.metadata[kCalibrationKept] = calibration.kept ? "yes" : "no";
  }
  save_archive(archive, path);
}

storage::Arrays load_attached_arrays(const std::filesystem::path& path) {
  storage::Arrays arrays;
  ModelArchive<float> archive = load_archive<float>(path);
  for (auto& [name, array] : archive.arrays) {
    if (name.starts_with(kAttachment)) {
      arrays.emplace(name.substr(kAttachment.size()), std::move(array));
    }
  }
  return arrays;
}

template <typename T>
void TabularDensity<T>::save(const std::filesystem::path& path) const {
  save_with_arrays(*this, {}, path);
}

template <typename T>
TabularDensity<T> TabularDensity<T>::load(const std::filesystem::path& path) {
  ModelArchive<T> archive = load_archive<T>(path);
  const std::string file = path.string();
  const auto fail = [&](const std::string& problem) { throw InputError(file, problem); };
  const auto entry = [&](const char* key) {
    const auto found = archive.metadata.find(key);
    return found == archive.metadata.end() ? std::string() : found->second;
  };
  const auto main = archive.models.find("main");
  if (main == archive.models.end() || main->second->as_density() == nullptr) {
    fail("holds no density as its main model: fit one with `jeffreys fit`");
  }
  AnyDensity<T> density_model(std::move(main->second).release());
  const std::string schema_text = entry(kSchema);
  std::optional<AnyModel<T>> proxy;
  if (const auto found = archive.models.find("proxy"); found != archive.models.end()) {
    proxy = std::move(found->second);
  }
  try {
    Schema schema =
        schema_text.empty()
            ? Schema::identity(static_cast<std::size_t>(density_model->features()),
                               static_cast<std::size_t>(density_model->context_features()))
            : Schema::from_json(schema_text, file);
    TabularDensity density(std::move(schema), std::move(density_model), std::move(proxy));
    density.record = entry(kRecord);
    for (const auto& [key, text] : archive.metadata) {
      if (key.starts_with(kAttachment)) density.attachments[key.substr(kAttachment.size())] = text;
    }
    if (const std::string chosen = entry(kChosen); !chosen.empty()) {
      density.choose(read_choice(chosen));
    }
    if (const std::string text = entry(kLogZeta); !text.empty()) {
      density.log_zeta_ = read_finite(text);
    }
    density.history =
        read_records<StepRecord>(archive.arrays, kHistory, file, [&](const storage::Array& array) {
          return to_step_records(array, entry(kHistoryColumns));
        });
    density.evaluations =
        read_records<Evaluation>(archive.arrays, kEvaluations, file, to_evaluations);
    density.calibration_ = {read_scores(archive.arrays, kCalibrationMain, file),
                            read_scores(archive.arrays, kCalibrationProxy, file),
                            entry(kCalibrationKept) == "yes"};
    return density;
  } catch (const std::logic_error& error) {
    throw InputError(file, fmt::format("damaged, or not written by jeffreys ({})", error.what()));
  }
}

#define JEFFREYS_INSTANTIATE(T)                                                    \
  template void save_with_arrays(const TabularDensity<T>&, const storage::Arrays&, \
                                 const std::filesystem::path&);                    \
  template void TabularDensity<T>::save(const std::filesystem::path&) const;       \
  template TabularDensity<T> TabularDensity<T>::load(const std::filesystem::path&);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys
