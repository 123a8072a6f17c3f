// The journal of simulations, whose lines have checksums.
#include "sbi/journal_text.h"

#include "fuzz/as_file.h"
#include "jeffreys/storage/checksum.h"

namespace {

// With the right checksums, which no fuzzer finds: behind them is what has to be read.
std::string with_right_checksums(std::string text) {
  constexpr std::string_view kMark = ", checksum ";
  constexpr std::size_t kDigits = 16;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', end + 1)) {
    const std::size_t length = kMark.size() + kDigits;
    if (end < begin + length || text.compare(end - length, kMark.size(), kMark) != 0) continue;
    const std::string_view covered(text.data() + begin, end - length - begin);
    text.replace(end - kDigits, kDigits, jeffreys::storage::checksum_of(covered));
    begin = end + 1;
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [&](const auto& path) {
    const std::string text = with_right_checksums(
        std::string(jeffreys::kJournalTitle).append(reinterpret_cast<const char*>(bytes), size));
    jeffreys::JournalText journal(path, text);
    const jeffreys::JournalHeader header = journal.read_header();
    static_cast<void>(journal.read_calls(header));
  });
}
