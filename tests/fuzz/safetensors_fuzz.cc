#include "jeffreys/storage/safetensors.h"

#include "fuzz/as_file.h"
#include "fuzz/tensor_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(
      bytes, size, [](const auto& path) { jeffreys::storage::read_safetensors(path); });
}
