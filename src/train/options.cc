#include "jeffreys/train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "jeffreys/train/train_options.h"

namespace jeffreys {

std::int64_t ValidationOptions::patience_after(std::int64_t best) const {
  constexpr double kLeast = 1000;
  const auto most = static_cast<double>(patience);
  const double relative = std::max(kLeast, relative_patience * static_cast<double>(best));
  return relative_patience > 0 && relative < most ? static_cast<std::int64_t>(relative) : patience;
}

std::vector<Constraint> TrainOptions::constraints(bool normalized_proxy) const {
  std::vector<Constraint> list;
  if (method == Method::fixed_epsilon) {
    if (!epsilon) {
      throw std::invalid_argument(
          "epsilon: the method fixed-epsilon needs the NLL that the proxy must reach, in nats a "
          "row");
    }
    list = fixed_epsilon_problem(dual, multipliers, *epsilon, normalized_proxy);
  } else {
    list = adaptive_problem(dual, multipliers, normalized_proxy);
  }
  for (const Constraint& more : requirements) {
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const Constraint& c) { return c.name == more.name; });
    if (known || !more.statistic) {
      throw std::invalid_argument(fmt::format("requirements: '{}' {}", more.name,
                                              known
                                                  ? "is the name of another constraint"
                                                  : "has no statistic: make it by requirement()"));
    }
    list.push_back(more);
  }
  return list;
}

void TrainOptions::validate() const {
  visit_train_options(*this, [](const char* key, const auto& value, const OptionRule& rule,
                                const char*) { check_option(key, value, rule); });
}

}  // namespace jeffreys
