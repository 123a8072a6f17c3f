// Densities of tables with their schema, and posteriors.
#include "fuzz/as_file.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/sbi/posterior.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    const auto density = jeffreys::TabularDensity<float>::load(jeffreys::fuzz::with_checksum(path));
    if (!density.attachments.empty())
      jeffreys::Posterior::load(jeffreys::fuzz::with_checksum(path));
  });
}
