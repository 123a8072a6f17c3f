// Models by themselves as Python holds them.
#pragma once

#include "jeffreys/model/density.h"
#include "python/src/binding.h"

namespace jeffreys::python {

// A model may be in a trainer too, which changes it.
template <typename T>
struct ModelHandle {
  std::shared_ptr<UnnormalizedDensity<T>> model;
};

}  // namespace jeffreys::python
