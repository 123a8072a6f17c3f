// One entry of the list of models that settings can ask for.
#pragma once

#include <memory>

#include "jeffreys/fit/fit_options.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/model/density.h"

namespace jeffreys {

struct ModelChoiceEntry {
  const char* name;
  const char* description;
  bool draws;  // whether it is a density that draws samples
  // Of rows without categories.
  std::unique_ptr<UnnormalizedDensity<float>> (*make)(const FitOptions& options,
                                                      const RowShape& shape, std::uint64_t seed);
  // What the defaults are where this is the proxy and there are so many training rows, as a change
  // of those for a flow; may be null.
  void (*defaults)(std::size_t rows, const RowShape& shape, FitOptions& options);
};

// Throws std::invalid_argument for an unknown name, listing the known ones.
[[nodiscard]] const ModelChoiceEntry& find_model_choice(const ModelChoice& choice);

}  // namespace jeffreys
