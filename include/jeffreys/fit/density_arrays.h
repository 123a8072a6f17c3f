// Arrays that the owner of a density keeps in its file; for example an autoencoder whose numbers
// are the table. The file is one of TabularDensity::save with more in it, and is read as such too.
#pragma once

#include <filesystem>

#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/storage/array.h"

namespace jeffreys {

template <typename T>
void save_with_arrays(const TabularDensity<T>& density, const storage::Arrays& arrays,
                      const std::filesystem::path& path);

// Those of such a file, by the names under which they were saved; none if it has none.
[[nodiscard]] storage::Arrays load_attached_arrays(const std::filesystem::path& path);

}  // namespace jeffreys
