// The text of a journal: how headers and calls are written, and read line by line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sbi/finished_calls.h"
#include "sbi/journal.h"

namespace jeffreys {

inline constexpr std::string_view kJournalTitle = "# jeffreys simulations\n";
inline constexpr std::string_view kJournalAdvice =
    "delete it to simulate all of its rows again, or write to a file of another name";

[[nodiscard]] std::string text_of(const JournalHeader& header);
[[nodiscard]] std::string text_of(const FinishedCall& call, std::size_t outcomes);

// Reads a text that begins with the title. What is damaged throws InputError with the line.
class JournalText {
 public:
  JournalText(const std::filesystem::path& path, std::string_view text)
      : path_(path.string()), text_(text) {}

  // How much of the text is whole calls.
  [[nodiscard]] std::size_t whole() const { return whole_; }

  // First the header, then the calls.
  JournalHeader read_header();
  std::vector<FinishedCall> read_calls(const JournalHeader& header);

 private:
  struct Row {
    std::uint64_t number = 0;
    std::vector<double> values;  // parameters, then outcomes
    std::string failure;         // "" if it did not fail
  };

  [[noreturn]] void damaged(const std::string& what) const;
  bool next(std::string_view& line);
  std::string_view without_checksum(std::string_view line, std::size_t begin) const;
  Row read_row(std::string_view line, std::size_t numbers) const;
  FinishedCall call_of(const std::vector<Row>& rows, std::string_view end,
                       const JournalHeader& header) const;

  std::string path_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t whole_ = 0;
  bool has_checksums_ = true;  // the header's format says so
};

}  // namespace jeffreys
