#include "sbi/journal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/checksum.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr int kFormatWithoutChecksums = 1;
constexpr std::string_view kChecksum = ", checksum ";
constexpr std::size_t kDigits = 16;
constexpr const char* kNoChecksum = "the checksum is missing at the end of this line";

std::string with_checksum(std::string text) {
  const std::string digits = storage::checksum_of(text);
  return text.append(kChecksum).append(digits) + "\n";
}

// One line without quotes, fit for a quoted cell.
std::string cell_of(const Failure& failure) {
  std::string text = fmt::format("{}: {}", name_of(failure.kind), failure.message);
  for (char& c : text) {
    if (c == '"') c = '\'';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

Failure failure_of(Eigen::Index row, const std::string& text) {
  const std::size_t end = text.find(": ");
  if (end == std::string::npos) throw std::invalid_argument("no kind");
  return {row, parse_failure_kind(text.substr(0, end)), text.substr(end + 2)};
}

}  // namespace

std::string text_of(const JournalHeader& header) {
  const Json json{{"format", kFormat},
                  {"seed", header.seed},
                  {"rows_per_call", header.rows_per_call},
                  {"parameters", header.parameter_names},
                  {"outcomes", header.outcome_names},
                  {"identity", header.identity}};
  return with_checksum(fmt::format("{}# {}", kJournalTitle,
                                   json.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

std::string text_of(const FinishedCall& call, std::size_t outcomes) {
  std::string text;
  auto failure = call.failures.begin();
  for (Eigen::Index i = 0; i < call.parameters.rows(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}", call.first + static_cast<std::uint64_t>(i));
    for (const double value : call.parameters.row(i)) {
      fmt::format_to(std::back_inserter(text), ",{}", value);
    }
    if (failure != call.failures.end() && failure->row == i) {
      text.append(outcomes, ',');
      fmt::format_to(std::back_inserter(text), ",\"{}\"\n", cell_of(*failure++));
    } else {
      for (const double value : call.outcomes.row(i)) {
        fmt::format_to(std::back_inserter(text), ",{}", value);
      }
      text += ",\n";
    }
  }
  return with_checksum(text + fmt::format("# end of rows {} to {}", call.first, call.end() - 1));
}

void JournalText::damaged(const std::string& what) const {
  throw InputError(path_, fmt::format("is damaged: {}; {}", what, kJournalAdvice), line_);
}

// Without the line end; nothing when no whole line is left.
bool JournalText::next(std::string_view& line) {
  const std::size_t end = text_.find('\n', position_);
  if (end == std::string_view::npos) return false;
  line = text_.substr(position_, end - position_);
  position_ = end + 1;
  ++line_;
  return true;
}

// The line that was read last, without the checksum at its end, which is that of the text from
// `begin` to there.
std::string_view JournalText::without_checksum(std::string_view line, std::size_t begin) const {
  const std::size_t length = kChecksum.size() + kDigits;
  const std::size_t rest = line.size() - std::min(line.size(), length);
  if (!line.substr(rest).starts_with(kChecksum)) {
    if (has_checksums_) damaged(kNoChecksum);
    return line;
  }
  const std::string_view covered = text_.substr(begin, position_ - 1 - length - begin);
  if (line.substr(rest + kChecksum.size()) == storage::checksum_of(covered)) {
    return line.substr(0, rest);
  }
  constexpr const char* kProblem = "the checksum in this line does not match";
  if (begin == 0) damaged(kProblem);
  const auto lines = static_cast<std::size_t>(std::ranges::count(covered, '\n'));
  throw InputError(path_,
                   fmt::format("is damaged: {}; delete lines {} to {} to simulate their rows again",
                               kProblem, line_ - lines, line_),
                   line_);
}

JournalHeader JournalText::read_header() {
  std::string_view line;
  next(line);
  next(line);
  whole_ = position_;
  has_checksums_ = false;  // until the format tells
  std::string_view text = without_checksum(line, 0);
  const bool has_one = text.size() < line.size();
  text.remove_prefix(std::min<std::size_t>(text.size(), 2));
  try {
    const Json json = Json::parse(text);
    const int format = json.at("format").get<int>();
    if (format != kFormat && format != kFormatWithoutChecksums) damaged("its format is unknown");
    has_checksums_ = format == kFormat;
    if (has_checksums_ && !has_one) damaged(kNoChecksum);
    return {json.at("parameters").get<std::vector<std::string>>(),
            json.at("outcomes").get<std::vector<std::string>>(),
            json.at("seed").get<std::uint64_t>(), json.at("rows_per_call").get<std::int64_t>(),
            json.at("identity").get<std::map<std::string, std::string>>()};
  } catch (const Json::exception&) {
    damaged("the second line does not tell what it holds");
  }
}

JournalText::Row JournalText::read_row(std::string_view line, std::size_t numbers) const {
  std::vector<double> values;
  for (std::size_t i = 0; i <= numbers; ++i) {
    const std::size_t end = line.find(',');
    double value = std::numeric_limits<double>::quiet_NaN();
    if (end == std::string_view::npos || read_cell(line.substr(0, end), value) == CellKind::text) {
      damaged(fmt::format("cell {} is no number", i + 1));
    }
    values.push_back(value);
    line.remove_prefix(end + 1);
  }
  if (!(values[0] >= 0 && values[0] < 0x1p53)) damaged("the row has no number");
  if (line.size() >= 2) line = line.substr(1, line.size() - 2);
  return {
      static_cast<std::uint64_t>(values[0]), {values.begin() + 1, values.end()}, std::string(line)};
}

FinishedCall JournalText::call_of(const std::vector<Row>& rows, std::string_view end,
                                  const JournalHeader& header) const {
  const auto count = static_cast<Eigen::Index>(rows.size());
  const auto parameters = static_cast<Eigen::Index>(header.parameter_names.size());
  const auto outcomes = static_cast<Eigen::Index>(header.outcome_names.size());
  if (rows.empty()) damaged("an end without rows");
  FinishedCall call{
      rows.front().number, Matrix<double>(count, parameters), Matrix<double>(count, outcomes), {}};
  if (end != fmt::format("# end of rows {} to {}", call.first, call.end() - 1)) {
    damaged("rows are missing before this line");
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const Row& row = rows[static_cast<std::size_t>(i)];
    if (row.number != call.first + static_cast<std::uint64_t>(i)) damaged("rows are out of order");
    const Eigen::Map<const Eigen::RowVectorXd> values(row.values.data(), parameters + outcomes);
    call.parameters.row(i) = values.head(parameters);
    call.outcomes.row(i) = values.tail(outcomes);
    if (!row.failure.empty()) {
      try {
        call.failures.push_back(failure_of(i, row.failure));
      } catch (const std::invalid_argument&) {
        damaged("a failure of unknown kind: " + quote(row.failure));
      }
    }
    if (!call.parameters.row(i).allFinite() ||
        (row.failure.empty() && !call.outcomes.row(i).allFinite())) {
      damaged(fmt::format("row {} has empty cells", row.number));
    }
  }
  return call;
}

std::vector<FinishedCall> JournalText::read_calls(const JournalHeader& header) {
  const std::size_t numbers = header.parameter_names.size() + header.outcome_names.size();
  std::vector<FinishedCall> calls;
  // Cells are looked at when the call has its end: only then no line of it can be torn.
  std::vector<std::string_view> lines;
  for (std::string_view line; next(line);) {
    if (!line.starts_with('#')) {
      lines.push_back(line);
      continue;
    }
    const std::string_view end = without_checksum(line, whole_);
    std::vector<Row> rows;
    for (const std::string_view row : lines) rows.push_back(read_row(row, numbers));
    calls.push_back(call_of(rows, end, header));
    lines.clear();
    whole_ = position_;
  }
  return calls;
}

}  // namespace jeffreys
