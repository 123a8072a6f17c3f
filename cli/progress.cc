#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace jeffreys::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int signal) {
  stop_requested = 1;
  // A second Ctrl-C ends at once.
  std::signal(signal, SIG_DFL);
}

}  // namespace

std::string duration(double seconds) {
  const auto total = static_cast<std::int64_t>(std::ceil(seconds));
  if (total < 60) return fmt::format("{} s", total);
  if (total < 3600) return fmt::format("{}:{:02} min", total / 60, total % 60);
  return fmt::format("{}:{:02} h", total / 3600, total / 60 % 60);
}

StopOnSignal::StopOnSignal() {
  stop_requested = 0;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

StopOnSignal::~StopOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopOnSignal::requested() { return stop_requested != 0; }

ProgressLine::ProgressLine(const Globals& globals, std::chrono::seconds silence)
    : shown_(!globals.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      pause_(terminal_ ? Clock::duration(std::chrono::milliseconds(200)) : silence) {}

ProgressLine::~ProgressLine() {
  if (drawn_ && terminal_) tell("\n");
}

bool ProgressLine::due() const { return shown_ && Clock::now() >= last_ + pause_; }

void ProgressLine::draw(const std::string& text) {
  if (!shown_) return;
  last_ = Clock::now();
  drawn_ = true;
  if (terminal_) {
    constexpr std::size_t kWidth = 160;
    tell("\r\033[K" + text.substr(0, kWidth));
  } else {
    tell(text + "\n");
  }
}

void ProgressLine::clear() {
  if (drawn_ && terminal_) tell("\r\033[K");
  drawn_ = false;
}

Progress::Progress(const Globals& globals, std::string label, const FitOptions& options,
                   const PreparedTable& table)
    : line_(globals),
      label_(std::move(label)),
      iterations_(options.train.iterations),
      shift_(
          -(table.validation.size() > 0 ? table.validation : table.training).log_jacobian.mean()) {}

void Progress::on_evaluation(const Evaluation& evaluation) { evaluation_ = evaluation; }

void Progress::on_step(const StepRecord& record) {
  if (first_ < 0) first_ = record.iteration - 1;
  if (line_.due() || (line_.shown() && record.iteration == iterations_)) line_.draw(text(record));
}

std::string Progress::text(const StepRecord& record) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto done = static_cast<double>(record.iteration - first_);
  const double rate = done / std::max(seconds, 1e-9);
  std::string line =
      fmt::format("{} {}/{}  {:.0f}/s  {} left  NLL {:.3f}", label_, record.iteration, iterations_,
                  rate, duration(static_cast<double>(iterations_ - record.iteration) / rate),
                  record.divergences.forward + shift_);
  if (evaluation_.iteration > 0) {
    line += fmt::format("  validation {:.3f}", evaluation_.main + shift_);
    if (!std::isnan(evaluation_.proxy)) {
      line += fmt::format(" (proxy {:.3f})", evaluation_.proxy + shift_);
    }
  }
  if (!std::isnan(record.balance)) line += fmt::format("  balance {:.2f}", record.balance);
  return line;
}

}  // namespace jeffreys::cli
