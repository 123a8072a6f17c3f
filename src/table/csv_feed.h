// Records of a CSV text that arrives in blocks.
#pragma once

#include <csv.h>

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace jeffreys {

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void field(std::string_view text) = 0;
  // `line`: where the record began, counted from 1.
  virtual void end_record(std::size_t line) = 0;
};

// Hands the text to libcsv line by line: so it knows on which line each record began, and lines
// that begin with # outside of a record never reach the parser, unless that is the error value of a
// spreadsheet, such as #N/A.
class CsvFeed {
 public:
  CsvFeed(std::string file, char delimiter, char terminator, RecordSink& sink);
  ~CsvFeed();
  CsvFeed(const CsvFeed&) = delete;
  CsvFeed& operator=(const CsvFeed&) = delete;

  // Throws what the sink throws, and InputError for quotes in wrong places.
  void push(std::string_view block);
  // Ends the last record if no line end did.
  void finish();

 private:
  static void on_field(void* text, std::size_t size, void* self);
  static void on_record(int terminator, void* self);
  void begin_line(std::string_view rest);
  void parse(std::string_view piece);
  void rethrow();
  [[noreturn]] void refuse_quote() const;

  std::string file_;
  char terminator_;
  RecordSink& sink_;
  csv_parser parser_{};
  int between_records_ = 0;  // the parser's state outside of a record
  std::size_t line_ = 0;
  std::size_t record_line_ = 0;
  bool at_line_start_ = true;
  bool skipping_ = false;
  std::string held_;  // the beginning of a line that may be a comment
  // Exceptions must not pass through libcsv, which is C.
  std::exception_ptr failure_;
};

}  // namespace jeffreys
