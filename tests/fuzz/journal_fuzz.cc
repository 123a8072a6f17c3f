// The journal of simulations, whose lines have checksums.
#include "fuzz/as_file.h"
#include "sbi/journal_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [&](const auto& path) {
    const std::string text =
        std::string(jeffreys::kJournalTitle).append(reinterpret_cast<const char*>(bytes), size);
    jeffreys::JournalText journal(path, text);
    const jeffreys::JournalHeader header = journal.read_header();
    static_cast<void>(journal.read_calls(header));
  });
}
