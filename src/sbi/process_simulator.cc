#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/simulator.h"
#include "sbi/process.h"

namespace jeffreys {
namespace {

constexpr std::size_t kBlankLines = 1000;  // that may follow the last row
constexpr std::size_t kBytesPerRow = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r";

std::string input_of(const MatrixView<double>& parameters) {
  std::string text;
  for (Eigen::Index i = 0; i < parameters.rows(); ++i) {
    for (Eigen::Index j = 0; j < parameters.cols(); ++j) {
      fmt::format_to(std::back_inserter(text), "{}{}", parameters(i, j),
                     j + 1 < parameters.cols() ? ',' : '\n');
    }
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Without the rest of a line that was not finished, unless it is wanted.
std::vector<std::string_view> lines_of(std::string_view text, bool with_unfinished) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !with_unfinished) break;
    lines.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// By commas, or by blanks in a line without commas.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const bool commas = line.find(',') != std::string_view::npos;
  while (true) {
    const std::size_t end = commas ? line.find(',') : line.find_first_of(kBlanks);
    cells.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
    if (!commas) line = trimmed(line);
  }
}

struct Line {
  std::vector<double> numbers = {};  // NaN where missing
  bool garbage = false;
  bool missing = false;  // there is not one number in it
};

Line read_line(std::string_view text) {
  Line line{{}, false, true};
  for (const std::string_view cell : cells_of(text)) {
    double number = std::numeric_limits<double>::quiet_NaN();
    const CellKind kind = read_cell(cell, number);
    line.garbage = line.garbage || kind == CellKind::text;
    line.missing = line.missing && kind == CellKind::missing;
    line.numbers.push_back(number);
  }
  return line;
}

std::string what_is_wrong(const Line& line, std::string_view text, Eigen::Index expected,
                          bool first) {
  if (!line.garbage) {
    return fmt::format("expected {} numbers, got {}: {}", expected, line.numbers.size(),
                       quote(text));
  }
  return fmt::format("not numbers: {}{}", quote(text),
                     first ? "; if this is a header, write none" : "");
}

// What it said last.
std::string last_words(const std::string& errors) {
  const std::vector<std::string_view> lines = lines_of(errors, true);
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](auto l) { return !l.empty(); });
  return last == lines.rend() ? std::string() : ": " + quote(*last);
}

class CommandSimulator final : public Simulator {
 public:
  explicit CommandSimulator(const ProcessOptions& options)
      : options_(options), outcomes_(options.outcomes) {}
  Eigen::Index outcomes() const override { return outcomes_; }

 private:
  Call call(const MatrixView<double>& parameters, std::uint64_t seed, std::uint64_t first_row,
            const std::stop_token& stop) const override;

  std::string place() const { return "simulator " + quote(options_.command); }
  ProcessResult run(const ProcessRequest& request, const std::stop_token& stop) const;
  void require_command(const ProcessResult& result) const;
  void explain(const ProcessResult& result, Call& call) const;
  Eigen::Index settle_outcomes(std::span<const Line> lines) const;
  void take(const std::vector<std::string_view>& text, bool every_row, Call& call) const;

  ProcessOptions options_;
  mutable std::atomic<Eigen::Index> outcomes_;
};

ProcessResult CommandSimulator::run(const ProcessRequest& request,
                                    const std::stop_token& stop) const {
  try {
    return run_process(request, stop);
  } catch (const std::system_error& error) {
    throw InputError(place(),
                     fmt::format("cannot be started: {}; use fewer processes", error.what()));
  }
}

void CommandSimulator::require_command(const ProcessResult& result) const {
  if (result.end != ProcessEnd::exited || !result.output.empty()) return;
  if (result.code != 126 && result.code != 127) return;  // as shells say it
  throw InputError(place(), fmt::format("cannot be run{}; check the command, its permissions and "
                                        "the directory that it is started in",
                                        last_words(result.errors)));
}

// Why the rows that were not delivered were not.
void CommandSimulator::explain(const ProcessResult& result, Call& call) const {
  const std::string words = last_words(result.errors);
  switch (result.end) {
    case ProcessEnd::exited:
      call.message = fmt::format("ended with exit code {}{}", result.code, words);
      return;
    case ProcessEnd::killed:
      call.message = fmt::format("was ended by signal {} ({}){}", result.code,
                                 ::strsignal(result.code), words);
      return;
    case ProcessEnd::timed_out:
      call.reason = FailureKind::timed_out;
      call.message = fmt::format("took more than {} s{}", options_.seconds, words);
      return;
    case ProcessEnd::stopped:
      call.reason = FailureKind::stopped;
      call.message = "stopped";
      return;
    case ProcessEnd::too_much_output: return;
  }
}

// The number of outcomes that all calls agree on: the first line that shows it decides.
Eigen::Index CommandSimulator::settle_outcomes(std::span<const Line> lines) const {
  for (const Line& line : lines) {
    if (line.garbage || line.missing) continue;
    Eigen::Index unknown = 0;
    outcomes_.compare_exchange_strong(unknown, static_cast<Eigen::Index>(line.numbers.size()));
    break;
  }
  return outcomes_;
}

// One line for each of the first rows. Where the call did not give every row its line, a line that
// is wrong casts doubt on those after it: they may belong to other rows.
void CommandSimulator::take(const std::vector<std::string_view>& text, bool every_row,
                            Call& call) const {
  std::vector<Line> lines;
  for (const std::string_view line : text) {
    lines.push_back(read_line(line));
    if (lines.back().garbage && !every_row) break;
  }
  const Eigen::Index expected = settle_outcomes(lines);
  call.outcomes.resize(static_cast<Eigen::Index>(call.delivered.size()), expected);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const std::vector<double>& numbers = lines[i].numbers;
    const auto count = static_cast<Eigen::Index>(numbers.size());
    if (lines[i].missing) {
      call.wrong.push_back({row, FailureKind::not_finite, "no outcome: " + quote(text[i])});
    } else if (!lines[i].garbage && count == expected) {
      call.delivered[i] = true;
      call.outcomes.row(row) = Eigen::Map<const Eigen::RowVectorXd>(numbers.data(), count);
    } else if (!every_row) {
      return;
    } else {
      call.wrong.push_back(
          {row, FailureKind::garbage, what_is_wrong(lines[i], text[i], expected, row == 0)});
    }
  }
}

Simulator::Call CommandSimulator::call(const MatrixView<double>& parameters, std::uint64_t seed,
                                       std::uint64_t first_row, const std::stop_token& stop) const {
  const auto rows = static_cast<std::size_t>(parameters.rows());
  const ProcessResult result =
      run({options_.command,
           {fmt::format("JEFFREYS_SEED={}", seed), fmt::format("JEFFREYS_FIRST_ROW={}", first_row)},
           input_of(parameters),
           options_.seconds,
           rows + kBlankLines,
           (rows + 1) * kBytesPerRow},
          stop);
  require_command(result);
  const bool ended_well = result.end == ProcessEnd::exited && result.code == 0;
  std::vector<std::string_view> lines = lines_of(result.output, ended_well);
  while (lines.size() > rows && lines.back().empty()) lines.pop_back();
  Call call;
  call.delivered.resize(rows);
  explain(result, call);
  if (lines.size() > rows || result.end == ProcessEnd::too_much_output) {
    call.reason = FailureKind::garbage;
    const bool header = !lines.empty() && read_line(lines.front()).garbage;
    call.message = header ? fmt::format("the first line is not numbers: {}; write no header",
                                        quote(lines.front()))
                          : fmt::format(
                                "wrote more lines, or longer ones, than {} rows have; "
                                "write one line for each row",
                                rows);
  } else if (ended_well && lines.size() < rows) {
    // Nobody knows which rows it left out, so no line is taken.
    call.reason = FailureKind::missing_line;
    call.message =
        fmt::format("wrote {} lines for {} rows{}", lines.size(), rows, last_words(result.errors));
  } else {
    take(lines, lines.size() == rows, call);
  }
  return call;
}

}  // namespace

void ProcessOptions::validate() const {
  if (trimmed(command).empty() || command.find('\0') != std::string::npos) {
    throw std::invalid_argument(
        fmt::format("command: expected a shell command, got {}", quote(command)));
  }
  if (!(seconds > 0) || !std::isfinite(seconds)) {
    throw std::invalid_argument(
        fmt::format("seconds: expected a positive finite number, got {}", seconds));
  }
  if (outcomes < 0) {
    throw std::invalid_argument(fmt::format("outcomes: expected 0 or more, got {}", outcomes));
  }
}

std::unique_ptr<Simulator> make_command_simulator(const ProcessOptions& options) {
  options.validate();
  return std::make_unique<CommandSimulator>(options);
}

}  // namespace jeffreys
