// Densities of tables with their schema, and posteriors.
#include "fuzz/as_file.h"
#include "fuzz/tensor_mutator.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/sbi/posterior.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    const std::filesystem::path whole = jeffreys::fuzz::with_checksum(path);
    const auto density = jeffreys::TabularDensity<float>::load(whole);
    if (!density.attachments.empty()) jeffreys::Posterior::load(whole);
  });
}
