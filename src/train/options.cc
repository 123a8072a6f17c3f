#include "jeffreys/train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace jeffreys {
namespace {

template <typename Value>
[[noreturn]] void refuse(const char* name, const char* expected, Value value) {
  throw std::invalid_argument(fmt::format("{}: expected {}, got {}", name, expected, value));
}

void at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value < least) refuse(name, fmt::format("at least {}", least).c_str(), value);
}

void not_negative(const char* name, double value) {
  if (!(value >= 0) || !std::isfinite(value)) refuse(name, "a number that is not negative", value);
}

void below_one(const char* name, double value) {
  if (!(value >= 0 && value < 1)) refuse(name, "a number from 0 to below 1", value);
}

}  // namespace

std::int64_t ValidationOptions::patience_after(std::int64_t best) const {
  constexpr double kLeast = 1000;
  const auto most = static_cast<double>(patience);
  const double relative = std::max(kLeast, relative_patience * static_cast<double>(best));
  return relative_patience > 0 && relative < most ? static_cast<std::int64_t>(relative) : patience;
}

void TrainOptions::validate() const {
  at_least("iterations", iterations, 1);
  at_least("batch_size", batch_size, 0);
  not_negative("learning_rate.main", learning_rate.main);
  not_negative("learning_rate.proxy", learning_rate.proxy);
  not_negative("learning_rate.multipliers", learning_rate.multipliers);
  not_negative("learning_rate.zeta", learning_rate.zeta);
  at_least("schedule.warm_up", schedule.warm_up, 0);
  if (!(schedule.final_share >= 0 && schedule.final_share <= 1)) {
    refuse("schedule.final_share", "a number from 0 to 1", schedule.final_share);
  }
  below_one("optimizer.beta1", optimizer.beta1);
  below_one("optimizer.beta2", optimizer.beta2);
  not_negative("optimizer.weight_decay", optimizer.weight_decay);
  not_negative("optimizer.clip_norm", optimizer.clip_norm);
  below_one("averaging", averaging);
  not_negative("multipliers.forward", multipliers.forward);
  not_negative("multipliers.reverse", multipliers.reverse);
  not_negative("multipliers.proxy", multipliers.proxy);
  not_negative("multipliers.zeta_lower", multipliers.zeta_lower);
  not_negative("multipliers.zeta_upper", multipliers.zeta_upper);
  dual.validate();
  at_least("zeta.samples", zeta.samples, 1);
  at_least("zeta.samples_per_condition", zeta.samples_per_condition, 1);
  at_least("zeta.refresh", zeta.refresh, 1);
  at_least("warm_start", warm_start, 0);
  not_negative("noise", noise);
  not_negative("entropy_weight", entropy_weight);
  at_least("validation.every", validation.every, 1);
  at_least("validation.patience", validation.patience, 0);
  not_negative("validation.relative_patience", validation.relative_patience);
  at_least("validation.zeta_samples", validation.zeta_samples, 2);
  at_least("validation.zeta_samples_per_condition", validation.zeta_samples_per_condition, 2);
  not_negative("checkpoint.seconds", checkpoint.seconds);
  not_negative("time_limit", time_limit);
  at_least("max_skipped", max_skipped, 1);
  at_least("record_every", record_every, 0);
}

}  // namespace jeffreys
