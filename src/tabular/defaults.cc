// Defaults by the size of a table, and presets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "jeffreys/tabular/fit_options.h"

namespace jeffreys {
namespace {

struct NamedPreset {
  const char* name;
  const char* description;
  void (*apply)(FitOptions&);
};

void paper_setting(FitOptions& o) {
  const std::uint64_t seed = o.seed;
  const SchemaOptions schema = o.schema;
  o = FitOptions();
  o.seed = seed;
  o.schema = schema;
  o.schema.ties = Ties::keep;
  o.schema.standardize = Standardize::all;
  o.validation_fraction = 0;
}

void paper_density(FitOptions& o) {
  paper_setting(o);
  o.proxy = ProxyKind::energy;
}

void paper_uci(FitOptions& o) {
  paper_setting(o);
  o.flow.transforms = 2;
  o.train.iterations = 50000;
  o.train.learning_rate = {.main = 1e-3, .proxy = 1e-3, .multipliers = 1e-2, .zeta = 1e-3};
}

void paper_gmm40(FitOptions& o) {
  paper_setting(o);
  o.proxy = ProxyKind::energy;
  o.flow.bins = 6;
  o.flow.hidden = {32, 32};
  o.energy.hidden = 64;
  o.train.learning_rate = {.main = 1e-4, .proxy = 1e-4, .multipliers = 1e-3, .zeta = 1e-3};
  o.train.optimizer.weight_decay = 1e-4;
  o.train.optimizer.clip_norm = 5;
  o.train.dual.zeta_slack = 0.01;
}

void paper_sbi(FitOptions& o) {
  paper_setting(o);
  o.proxy = ProxyKind::energy;
  o.energy.blocks = 3;
  o.train.batch_size = 1000;
  o.train.learning_rate = {.main = 1e-4, .proxy = 1e-5, .multipliers = 1e-6, .zeta = 1e-2};
  o.train.dual.zeta_slack = 30;
}

void quick(FitOptions& o) {
  o.train.iterations = std::min<std::int64_t>(o.train.iterations, 500);
  o.train.validation.patience = 0;
}

void thorough(FitOptions& o) {
  o.train.iterations *= 5;
  o.train.validation.patience *= 3;
}

constexpr NamedPreset kPresets[] = {
    {"quick", "a look in seconds: at most 500 iterations", quick},
    {"thorough", "five times the iterations, three times the patience", thorough},
    {"paper-density", "the paper's two-dimensional densities: energy proxy, nothing held out",
     paper_density},
    {"paper-uci", "the paper's UCI tables: flow proxy, 50,000 iterations, nothing held out",
     paper_uci},
    {"paper-gmm40", "the paper's mixture of 40 Gaussians: energy proxy, small rates, clipping",
     paper_gmm40},
    {"paper-sbi", "the paper's simulation-based inference: conditional energy proxy", paper_sbi},
};

}  // namespace

FitOptions default_fit_options(std::size_t rows, std::size_t features,
                               std::size_t context_features) {
  FitOptions o;
  o.flow.transforms = features <= 4 ? 4 : 2;
  o.proxy = ProxyKind::flow;
  (void)context_features;
  o.train.iterations = 5000;
  o.train.batch_size = rows > 2000 ? 1000 : 0;
  o.train.learning_rate = {.main = 1e-3, .proxy = 1e-3, .multipliers = 1e-2, .zeta = 1e-3};
  o.train.averaging = 0.995;
  o.train.schedule.kind = Schedule::cosine;
  o.train.dual.reverse_estimator = ReverseEstimator::leave_one_out;
  o.train.validation.patience = 1500;
  return o;
}

std::vector<Preset> presets() {
  std::vector<Preset> all;
  for (const NamedPreset& preset : kPresets) all.push_back({preset.name, preset.description});
  return all;
}

void apply_preset(const std::string& name, FitOptions& options) {
  for (const NamedPreset& preset : kPresets) {
    if (name == preset.name) {
      preset.apply(options);
      return;
    }
  }
  std::vector<std::string> names;
  for (const NamedPreset& preset : kPresets) names.emplace_back(preset.name);
  throw std::invalid_argument(
      fmt::format("unknown preset '{}': there are {}", name, fmt::join(names, ", ")));
}

}  // namespace jeffreys
