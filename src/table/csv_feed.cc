#include "table/csv_feed.h"

#include <cstring>
#include <new>
#include <utility>

#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

// A longer field is a quote that was never closed.
constexpr std::size_t kLongestField = std::size_t{1} << 20;

constexpr std::size_t kLongestError = 8;

bool is_error_value(std::string_view line) {
  for (const std::string_view error :
       {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"}) {
    if (line.starts_with(error)) return true;
  }
  return false;
}

}  // namespace

CsvFeed::CsvFeed(std::string file, char delimiter, char terminator, RecordSink& sink)
    : file_(std::move(file)), terminator_(terminator), sink_(sink) {
  if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
  csv_set_blk_size(&parser_, 4096);
  between_records_ = parser_.pstate;
}

CsvFeed::~CsvFeed() { csv_free(&parser_); }

void CsvFeed::on_field(void* text, std::size_t size, void* self) {
  auto& feed = *static_cast<CsvFeed*>(self);
  if (feed.failure_) return;
  try {
    feed.sink_.field({static_cast<const char*>(text), size});
  } catch (...) {
    feed.failure_ = std::current_exception();
  }
}

void CsvFeed::on_record(int, void* self) {
  auto& feed = *static_cast<CsvFeed*>(self);
  if (feed.failure_) return;
  try {
    feed.sink_.end_record(feed.record_line_);
  } catch (...) {
    feed.failure_ = std::current_exception();
  }
}

void CsvFeed::push(std::string_view block) {
  if (!held_.empty()) {
    const std::string joined = std::exchange(held_, {}).append(block);
    push(joined);
    return;
  }
  while (!block.empty()) {
    if (at_line_start_ && block.front() == '#' && block.size() < kLongestError &&
        block.find(terminator_) == std::string_view::npos) {
      held_ = block;
      return;
    }
    if (at_line_start_) begin_line(block);
    const std::size_t end = block.find(terminator_);
    const bool whole = end != std::string_view::npos;
    const std::string_view piece = whole ? block.substr(0, end + 1) : block;
    if (!skipping_) parse(piece);
    at_line_start_ = whole;
    block.remove_prefix(piece.size());
  }
}

void CsvFeed::finish() {
  // Too short to be an error value and more.
  if (const std::string rest = std::exchange(held_, {}); is_error_value(rest)) {
    begin_line(rest);
    parse(rest);
  }
  const int status = csv_fini(&parser_, on_field, on_record, this);
  rethrow();
  if (status != 0) {
    throw InputError(file_, "a quoted field in this row never ends; close the quote", record_line_);
  }
}

void CsvFeed::begin_line(std::string_view rest) {
  ++line_;
  const bool between = parser_.pstate == between_records_;
  skipping_ = between && rest.front() == '#' && !is_error_value(rest);
  if (between) record_line_ = line_;
}

void CsvFeed::parse(std::string_view piece) {
  const std::size_t done =
      csv_parse(&parser_, piece.data(), piece.size(), on_field, on_record, this);
  rethrow();
  if (done == piece.size() && parser_.entry_pos <= kLongestField) return;
  if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
  if (parser_.entry_pos > kLongestField) {
    throw InputError(file_, "a field in this row is longer than 1 MB; close its quote",
                     record_line_);
  }
  refuse_quote();
}

void CsvFeed::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CsvFeed::refuse_quote() const {
  throw InputError(file_,
                   "a quote (\") inside a field; put the whole field in quotes and double those "
                   "inside",
                   line_);
}

}  // namespace jeffreys
