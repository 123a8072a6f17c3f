#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/quote.h"
#include "jeffreys/base/distribution.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKinds{DistributionKind::uniform, DistributionKind::normal,
                            DistributionKind::log_normal};

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw InputError(file, fmt::format("the distribution is damaged: {}", problem));
}

double take_number(const std::string& file, const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(file, fmt::format("it lacks {}", key));
  if (!found->is_number()) refuse(file, fmt::format("it has no number in {}", key));
  return found->get<double>();
}

Distribution read_distribution(const std::string& file, const Json& object) {
  if (!object.is_object()) refuse(file, "it is not an object");
  const auto kind = object.find("kind");
  if (kind == object.end() || !kind->is_string()) refuse(file, "it has no text in kind");
  Distribution distribution;
  distribution.kind = parse_distribution_kind(kind->get<std::string>());
  std::set<std::string> known{"kind", "lower", "upper"};
  if (distribution.kind != DistributionKind::uniform) {
    known.insert({"mean", "deviation"});
    distribution.mean = take_number(file, object, "mean");
    distribution.deviation = take_number(file, object, "deviation");
  }
  auto& [lower, upper] = distribution.bounds;
  if (object.contains("lower")) lower = take_number(file, object, "lower");
  if (object.contains("upper")) upper = take_number(file, object, "upper");
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) refuse(file, "it has an unknown " + quote(key));
  }
  distribution.validate();
  return distribution;
}

}  // namespace

std::string_view name_of(DistributionKind kind) {
  switch (kind) {
    case DistributionKind::uniform: return "uniform";
    case DistributionKind::normal: return "normal";
    case DistributionKind::log_normal: break;
  }
  return "log_normal";
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const DistributionKind kind : kKinds) names.emplace_back(name_of(kind));
  return names;
}

DistributionKind parse_distribution_kind(std::string_view name) {
  for (const DistributionKind kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  throw std::invalid_argument(fmt::format("distribution: expected one of {}, got {}",
                                          fmt::join(distribution_names(), ", "), quote(name)));
}

std::string Distribution::to_json() const {
  Json json{{"kind", name_of(kind)}};
  if (kind != DistributionKind::uniform) {
    json["mean"] = mean;
    json["deviation"] = deviation;
  }
  // JSON has no infinity.
  if (std::isfinite(bounds.lower)) json["lower"] = bounds.lower;
  if (std::isfinite(bounds.upper)) json["upper"] = bounds.upper;
  return json.dump();
}

Distribution Distribution::from_json(const std::string& text, const std::string& file) {
  try {
    return read_distribution(file, Json::parse(text, nullptr, false));
  } catch (const std::invalid_argument& error) {
    refuse(file, error.what());
  }
}

std::string Distribution::describe_support() const {
  const auto [lower, upper] = support();
  if (kind == DistributionKind::log_normal && lower == 0) {
    return std::isfinite(upper) ? fmt::format("above 0 and up to {}", upper) : "above 0";
  }
  if (!std::isfinite(lower) && !std::isfinite(upper)) return "all numbers";
  if (!std::isfinite(lower)) return fmt::format("up to {}", upper);
  return std::isfinite(upper) ? fmt::format("{} to {}", lower, upper)
                              : fmt::format("{} and above", lower);
}

std::string Distribution::describe() const {
  if (kind == DistributionKind::uniform) return fmt::format("uniform, {}", describe_support());
  const std::string moments =
      fmt::format("{} with mean {} and deviation {}{}", name_of(kind), mean, deviation,
                  kind == DistributionKind::log_normal ? " of the logarithm" : "");
  return bounds == Bounds{} ? moments : fmt::format("{}, {}", moments, describe_support());
}

}  // namespace jeffreys
