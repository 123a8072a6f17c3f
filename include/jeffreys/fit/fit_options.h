// Everything that can be set about a fit, and its names for files and command lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/table/schema.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

// The name of a model that settings can ask for: model_choices() lists them.
struct ModelChoice {
  std::string name;
  bool operator==(const ModelChoice&) const = default;
};

// Of an energy proxy, with conditions or without.
struct EnergySettings {
  Eigen::Index hidden = 128;
  Eigen::Index blocks = 2;
  Eigen::Index film_layers = 2;  // with conditions
  bool bounded = true;           // with conditions: see FilmEnergyOptions
  bool confined = true;          // see kConfinement
  double temperature = 1;
};

struct FitOptions {
  std::uint64_t seed = 0;  // that of `train` is set from it
  SchemaOptions schema = {};
  double validation_fraction = -1;  // share held out; negative: by the number of rows; 0: none
  // Share kept for p-values alone; negative: by the number of rows; 0: none.
  double calibration_fraction = -1;
  ModelChoice main = {"flow"};
  ModelChoice proxy = {"flow"};
  // The numbers of features and the seeds of the models are set when they are made.
  SplineFlowOptions flow = {.transforms = 4};
  EnergySettings energy = {};
  GaussianMixtureOptions mixture = {};
  TrainOptions train = {};
  // How many fits, which each leave out other rows, make one density; 0: by the number of rows.
  int members = 0;
  bool simple = true;    // whether simple models may be part of it
  bool distill = false;  // whether one flow learns it and stands in its place

  // Throws std::invalid_argument naming the setting, expected and actual value.
  void validate() const;
};

// The defaults for a table of this many training rows, features and context features, and for this
// proxy: listed in docs/settings.md, chosen by the experiments of docs/evidence.md.
[[nodiscard]] FitOptions default_fit_options(std::size_t rows, std::size_t features,
                                             std::size_t context_features,
                                             const ModelChoice& proxy = FitOptions().proxy);

// How many rows a batch has where small batches fit better: a flow then learns less of single rows
// by heart, and needs less time. 0: all rows.
[[nodiscard]] Eigen::Index small_batch(std::size_t rows);

// Named collections of settings, applied over the defaults. Throws std::invalid_argument for an
// unknown name, listing the known ones.
void apply_preset(const std::string& name, FitOptions& options);
struct Preset {
  std::string name;
  std::string description;
};
[[nodiscard]] std::vector<Preset> presets();

struct Setting {
  std::string key;
  std::string value;
  std::string help;
};

// All settings in a fixed order.
[[nodiscard]] std::vector<Setting> list_settings(const FitOptions& options);

// Sets one by its key. Throws std::invalid_argument for an unknown key (with the nearest known
// ones) or a value of the wrong form.
void change_setting(FitOptions& options, const std::string& key, const std::string& value);

}  // namespace jeffreys
