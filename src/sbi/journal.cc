#include "sbi/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTitle = "# jeffreys simulations\n";
constexpr int kFormat = 1;
constexpr std::string_view kAdvice = "give another journal, or delete this one to start anew";

[[noreturn]] void fail(const std::filesystem::path& path, const char* attempt, int error) {
  std::string problem = fmt::format("{}: {}", attempt, std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    problem += "; free some space and start again: what is in the journal stays";
  }
  if (error == ENOENT || error == ENOTDIR) problem += "; create the directory first";
  if (error == EACCES || error == EROFS) problem += "; choose a directory that you may write to";
  if (error == EISDIR) problem += "; give the name of a file in it";
  throw InputError(path.string(), problem);
}

std::string text_of(const JournalHeader& header) {
  const Json json{{"format", kFormat},
                  {"seed", header.seed},
                  {"rows_per_call", header.rows_per_call},
                  {"parameters", header.parameter_names},
                  {"outcomes", header.outcome_names},
                  {"identity", header.identity}};
  return fmt::format("{}# {}\n", kTitle, json.dump(-1, ' ', true, Json::error_handler_t::replace));
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
  return text + fmt::format("# end of rows {} to {}\n", call.first, call.end() - 1);
}

// Reads the text of a journal line by line.
class JournalReader {
 public:
  JournalReader(const std::filesystem::path& path, std::string_view text)
      : path_(path.string()), text_(text) {}

  // How much of the text is whole calls.
  std::size_t whole() const { return whole_; }

  JournalHeader read_header();
  std::vector<FinishedCall> read_calls(const JournalHeader& header);

 private:
  struct Row {
    std::uint64_t number = 0;
    std::vector<double> values;  // parameters, then outcomes
    std::string failure;         // "" if it did not fail
  };

  [[noreturn]] void damaged(const std::string& what) const {
    throw InputError(path_, fmt::format("is damaged: {}; {}", what, kAdvice), line_);
  }

  // Without the line end; nothing when no whole line is left.
  bool next(std::string_view& line) {
    const std::size_t end = text_.find('\n', position_);
    if (end == std::string_view::npos) return false;
    line = text_.substr(position_, end - position_);
    position_ = end + 1;
    ++line_;
    return true;
  }

  Row read_row(std::string_view line, std::size_t numbers) const;
  FinishedCall call_of(const std::vector<Row>& rows, std::string_view end,
                       const JournalHeader& header) const;

  std::string path_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t whole_ = 0;
};

JournalHeader JournalReader::read_header() {
  std::string_view line;
  next(line);
  next(line);
  whole_ = position_;
  line.remove_prefix(std::min<std::size_t>(line.size(), 2));
  try {
    const Json json = Json::parse(line);
    if (json.at("format").get<int>() != kFormat) damaged("its format is unknown");
    return {json.at("parameters").get<std::vector<std::string>>(),
            json.at("outcomes").get<std::vector<std::string>>(),
            json.at("seed").get<std::uint64_t>(), json.at("rows_per_call").get<std::int64_t>(),
            json.at("identity").get<std::map<std::string, std::string>>()};
  } catch (const Json::exception&) {
    damaged("the second line does not tell what it holds");
  }
}

JournalReader::Row JournalReader::read_row(std::string_view line, std::size_t numbers) const {
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

Failure failure_of(Eigen::Index row, const std::string& text) {
  const std::size_t end = text.find(": ");
  if (end == std::string::npos) throw std::invalid_argument("no kind");
  return {row, parse_failure_kind(text.substr(0, end)), text.substr(end + 2)};
}

FinishedCall JournalReader::call_of(const std::vector<Row>& rows, std::string_view end,
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

std::vector<FinishedCall> JournalReader::read_calls(const JournalHeader& header) {
  const std::size_t numbers = header.parameter_names.size() + header.outcome_names.size();
  std::vector<FinishedCall> calls;
  // Cells are looked at when the call has its end: only then no line of it can be torn.
  std::vector<std::string_view> lines;
  for (std::string_view line; next(line);) {
    if (!line.starts_with('#')) {
      lines.push_back(line);
      continue;
    }
    std::vector<Row> rows;
    for (const std::string_view row : lines) rows.push_back(read_row(row, numbers));
    calls.push_back(call_of(rows, line, header));
    lines.clear();
    whole_ = position_;
  }
  return calls;
}

// As it stands in a message.
std::string shown(const std::string& value) { return quote(value); }
std::string shown(const std::vector<std::string>& values) {
  return quote(fmt::format("{}", fmt::join(values, ", ")));
}
template <typename Number>
std::string shown(Number value) {
  return fmt::to_string(value);
}

template <typename T>
void require_same(const std::filesystem::path& path, std::string_view what, const T& found,
                  const T& expected) {
  if (found == expected) return;
  throw InputError(path.string(), fmt::format("holds simulations with another {}: {} instead of "
                                              "{}; {}",
                                              what, shown(found), shown(expected), kAdvice));
}

std::string read_all(const std::filesystem::path& path, int descriptor) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ::ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "cannot read", errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// A simulator that a killed run had just started holds its lock until it becomes another program.
bool lock_soon(int descriptor) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::usleep(50'000);
  }
  return false;
}

int open_for_one(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && lock_soon(descriptor)) {
    return descriptor;
  }
  ::close(descriptor);
  throw InputError(path.string(), S_ISREG(status.st_mode)
                                      ? "is in use by another run; wait for its end, or give "
                                        "another journal"
                                      : "is not a regular file; give another name");
}

}  // namespace

Journal::Journal(std::filesystem::path path, JournalHeader expected)
    : path_(std::move(path)), header_(std::move(expected)), descriptor_(open_for_one(path_)) {
  try {
    read();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::require_same_header(const JournalHeader& found) const {
  // As it would come back from a file: JSON replaces bytes that are not UTF-8.
  const std::string text = text_of(header_);
  const JournalHeader expected = JournalReader(path_, text).read_header();
  require_same(path_, "parameters' names", found.parameter_names, expected.parameter_names);
  if (!expected.outcome_names.empty()) {
    require_same(path_, "outcomes' names", found.outcome_names, expected.outcome_names);
  }
  require_same(path_, "seed", found.seed, expected.seed);
  require_same(path_, "number of rows for each call", found.rows_per_call, expected.rows_per_call);
  for (const auto& [what, value] : expected.identity) {
    const auto was = found.identity.find(what);
    require_same(path_, what, was == found.identity.end() ? "unknown" : was->second, value);
  }
}

void Journal::read() {
  const std::string text = read_all(path_, descriptor_);
  const bool title = std::string_view(text).substr(0, kTitle.size()) ==
                     kTitle.substr(0, std::min(text.size(), kTitle.size()));
  if (!title) {
    throw InputError(path_.string(), "is not a journal of simulations; give another name");
  }
  std::size_t whole = 0;
  if (std::count(text.begin(), text.end(), '\n') >= 2) {
    JournalReader reader(path_, text);
    JournalHeader found = reader.read_header();
    require_same_header(found);
    header_ = std::move(found);
    found_ = reader.read_calls(header_);
    whole = reader.whole();
    begun_ = true;
  }
  if (whole < text.size() && ::ftruncate(descriptor_, static_cast<::off_t>(whole)) != 0) {
    fail(path_, "cannot write", errno);
  }
}

void Journal::append(const FinishedCall& call) {
  std::string text = begun_ ? std::string() : text_of(header_);
  text += text_of(call, header_.outcome_names.size());
  write(text);
  begun_ = true;
  // A disk takes milliseconds for it, which a fast simulator cannot wait for after every call.
  if (!since_synchronized_ || since_synchronized_->read() > 1) synchronize();
}

void Journal::write(std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, "cannot write", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Journal::synchronize() {
  while (::fdatasync(descriptor_) != 0) {
    if (errno != EINTR) fail(path_, "cannot write", errno);
  }
  since_synchronized_.emplace();
}

}  // namespace jeffreys
