// Densities of tables with their schema.
#include "fuzz/as_file.h"
#include "jeffreys/fit/tabular_density.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(
      bytes, size, [](const auto& path) { jeffreys::TabularDensity<float>::load(path); });
}
