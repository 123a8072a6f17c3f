// Defaults by the size of a table, and presets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "fit/model_choice.h"
#include "jeffreys/fit/fit_options.h"

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
  o.schema.missing = Missing::drop;
  o.schema.standardize = Standardize::all;
  o.validation_fraction = 0;
  o.calibration_fraction = 0;
  // The formulas as written. The stable ones are the default: docs/settings.md, "Energy proxies".
  o.train.dual.zeta_constraint = ZetaConstraint::raw;
  o.train.zeta.estimator = ZetaEstimator::separate;
  o.train.zeta.samples_per_condition = 10;
  o.energy.bounded = false;
  o.energy.confined = false;
}

void paper_density(FitOptions& o) {
  paper_setting(o);
  o.proxy = {"energy"};
}

void paper_uci(FitOptions& o, Eigen::Index transforms, Eigen::Index bins, double learning_rate) {
  paper_setting(o);
  o.flow.transforms = transforms;
  o.flow.bins = bins;
  o.train.iterations = 50000;
  o.train.learning_rate = {
      .main = learning_rate, .proxy = learning_rate, .multipliers = 1e-2, .zeta = 1e-2};
}

void paper_wine(FitOptions& o) { paper_uci(o, 1, 2, 1e-4); }
void paper_heart(FitOptions& o) { paper_uci(o, 4, 8, 1e-5); }
void paper_cancer(FitOptions& o) { paper_uci(o, 2, 8, 1e-4); }

void paper_gmm40(FitOptions& o) {
  paper_setting(o);
  o.proxy = {"energy"};
  o.flow.bins = 6;
  o.flow.hidden = {32, 32};
  o.train.iterations = 200000;
  o.train.learning_rate = {.main = 1e-4, .proxy = 1e-4, .multipliers = 1e-3, .zeta = 1e-3};
  o.train.optimizer.weight_decay = 1e-4;
  o.train.optimizer.clip_norm = 5;
  o.train.dual.zeta_slack = 0.01;
}

// 100 features: temperature, the T-weighted reverse KL, warm start, log zeta kept for 100 steps.
void paper_high_dimensions(FitOptions& o) {
  paper_setting(o);
  o.proxy = {"energy"};
  o.flow.transforms = 6;
  o.flow.bins = 16;
  o.energy = {
      .hidden = 1024, .blocks = 5, .bounded = false, .confined = false, .temperature = 0.01};
  o.train.batch_size = 128;
  o.train.iterations = 3125;  // 40 epochs of 10,000 rows
  o.train.learning_rate = {.main = 1e-3, .proxy = 1e-6, .multipliers = 1e-6, .zeta = 1e-4};
  o.train.dual.zeta_slack = 100;
  o.train.dual.reverse_scale = 0.01;
  o.train.zeta.samples = 5000;
  o.train.zeta.refresh = 100;
  o.train.warm_start = 1000;
}

void paper_sbi(FitOptions& o) {
  paper_setting(o);
  o.proxy = {"energy"};
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
  o.train.validation.relative_patience *= 3;
}

constexpr NamedPreset kPresets[] = {
    {"quick", "a look in seconds: at most 500 iterations", quick},
    {"thorough", "five times the iterations, three times the patience", thorough},
    {"paper-density", "the paper's two-dimensional densities: energy proxy, nothing held out",
     paper_density},
    {"paper-wine", "the paper's wine table: flow proxy, 50,000 iterations, nothing held out",
     paper_wine},
    {"paper-heart", "the same for its heart table", paper_heart},
    {"paper-cancer", "the same for its cancer table", paper_cancer},
    {"paper-gmm40", "the paper's mixture of 40 Gaussians: energy proxy, small rates, clipping",
     paper_gmm40},
    {"paper-100d", "the paper's 100 features: temperature, warm start, energy proxy of 5 x 1024",
     paper_high_dimensions},
    {"paper-sbi", "the paper's simulation-based inference: conditional energy proxy", paper_sbi},
};

}  // namespace

Eigen::Index small_batch(std::size_t rows) {
  if (rows <= 100) return 0;
  if (rows >= 20000) return 1000;
  return rows >= 5000 ? 250 : 100;
}

FitOptions default_fit_options(std::size_t rows, std::size_t features, std::size_t context_features,
                               const ModelChoice& proxy) {
  FitOptions o;
  const bool few = features <= 4;
  o.flow.transforms = few ? 4 : 2;
  // Between two columns hardly anything is to be unlearned: they gain nothing by independence.
  o.flow.start = features <= 2 ? FlowStart::unconditional : FlowStart::independent;
  o.proxy = proxy;
  o.energy.blocks = context_features > 0 ? 3 : 2;
  o.train.iterations = few ? 15000 : 10000;
  o.train.batch_size = few ? (rows > 2000 ? 1000 : 0) : small_batch(rows);
  o.train.learning_rate = {.main = 2e-3, .proxy = 2e-3, .multipliers = 1e-2, .zeta = 1e-3};
  if (const auto adjust = find_model_choice(proxy).defaults) {
    adjust(rows, {static_cast<Eigen::Index>(features), static_cast<Eigen::Index>(context_features)},
           o);
  }
  o.train.averaging = 0.995;
  o.train.schedule.kind = Schedule::cosine;
  o.train.dual.reverse_estimator = ReverseEstimator::leave_one_out;
  o.train.validation.patience = few ? 4000 : 3000;
  o.train.validation.relative_patience = 2;
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
