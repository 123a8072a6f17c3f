#include "jeffreys/train/options.h"

#include <algorithm>

#include "jeffreys/train/train_options.h"

namespace jeffreys {

std::int64_t ValidationOptions::patience_after(std::int64_t best) const {
  constexpr double kLeast = 1000;
  const auto most = static_cast<double>(patience);
  const double relative = std::max(kLeast, relative_patience * static_cast<double>(best));
  return relative_patience > 0 && relative < most ? static_cast<std::int64_t>(relative) : patience;
}

void TrainOptions::validate() const {
  visit_train_options(*this, [](const char* key, const auto& value, const OptionRule& rule,
                                const char*) { check_option(key, value, rule); });
}

}  // namespace jeffreys
