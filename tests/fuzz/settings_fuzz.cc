#include "fuzz/as_file.h"
#include "jeffreys/fit/chosen_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    jeffreys::ChosenSettings settings;
    settings.add_file(path);
  });
}
