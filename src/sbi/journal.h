// The file in which simulations are kept as they are made. Comments, which tables allow, carry what
// is not numbers; a row that failed has no outcomes, and the reason in the last cell:
//
//   # jeffreys simulations
//   # {"format":2,"identity":{"prior":"..."},"outcomes":["x1"],...}, checksum 0123456789abcdef
//   0,0.25,1.5,-0.3,
//   1,0.75,2,,"timed_out: took more than 60 s"
//   # end of rows 0 to 1, checksum 0123456789abcdef
//
// A call is appended in one piece with its last line at the end. What follows the last such line
// was torn by the end of the process that wrote it, and is dropped. A checksum is that of all bytes
// before it, back to the beginning of the file or of the call. Journals of format 1 have none but
// for the calls that were added since.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "sbi/finished_calls.h"

namespace jeffreys {

// What has to be the same for a journal to be continued.
struct JournalHeader {
  std::vector<std::string> parameter_names;
  std::vector<std::string> outcome_names;  // empty while unknown
  std::uint64_t seed = 0;
  std::int64_t rows_per_call = 0;
  std::map<std::string, std::string> identity;
};

// One process at a time holds a journal. Whatever is wrong with the file throws InputError.
class Journal {
 public:
  // Makes the file if there is none. Unknown outcome names are taken from it.
  Journal(std::filesystem::path path, JournalHeader expected);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const JournalHeader& header() const { return header_; }
  // What was in the file when it was opened, in the order of appending. Once.
  std::vector<FinishedCall> take_found() { return std::exchange(found_, {}); }

  // Only before the first append().
  void name_outcomes(std::vector<std::string> names) { header_.outcome_names = std::move(names); }
  // In the file when it returns, and on the disk within about a second.
  void append(const FinishedCall& call);
  // Brings everything to the disk.
  void synchronize();

 private:
  void read();
  void require_same_header(const JournalHeader& found) const;
  void write(std::string_view text);

  std::filesystem::path path_;
  JournalHeader header_;
  int descriptor_ = -1;
  bool begun_ = false;                           // the header is in the file
  std::optional<Stopwatch> since_synchronized_;  // nothing: never was
  std::vector<FinishedCall> found_;
};

}  // namespace jeffreys
