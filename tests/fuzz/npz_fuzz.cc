#include "jeffreys/storage/npz.h"

#include "fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size,
                                      [](const auto& path) { jeffreys::storage::read_npz(path); });
}
