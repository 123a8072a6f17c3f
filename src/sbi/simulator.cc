#include "jeffreys/sbi/simulator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "jeffreys/truth/task.h"

namespace jeffreys {
namespace {

// Rows that fail alone, one and all, before the others are not tried. Fewer where each takes all
// the time that a call may: a simulator that hangs would cost many minutes a batch.
constexpr Eigen::Index kHopeless = 20;
constexpr Eigen::Index kHopelessTimeouts = 3;

constexpr std::array<std::pair<FailureKind, std::string_view>, 6> kKinds{{
    {FailureKind::failed, "failed"},
    {FailureKind::timed_out, "timed_out"},
    {FailureKind::garbage, "garbage"},
    {FailureKind::missing_line, "missing_line"},
    {FailureKind::not_finite, "not_finite"},
    {FailureKind::stopped, "stopped"},
}};

void require_parameters(const MatrixView<double>& parameters) {
  if (parameters.cols() < 1) {
    throw std::invalid_argument("parameters: expected at least one column, got 0");
  }
  if (!parameters.allFinite()) {
    throw std::invalid_argument("parameters: expected finite numbers, got NaN or infinity");
  }
}

// Puts together what the calls of a batch gave.
class Assembly {
 public:
  explicit Assembly(Eigen::Index rows) : failures_(static_cast<std::size_t>(rows)) {
    delivered_.resize(failures_.size());
  }

  bool delivered(Eigen::Index row) const { return delivered_[at(row)]; }
  bool settled(Eigen::Index row) const { return delivered(row) || failures_[at(row)]; }

  // A Simulator::Call whose first row is row `first` of the batch.
  template <typename Call>
  void keep(Eigen::Index first, const Call& call) {
    for (const Failure& wrong : call.wrong) fail(first + wrong.row, wrong.kind, wrong.message);
    for (std::size_t i = 0; i < call.delivered.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (call.delivered[i]) deliver(first + row, call.outcomes.middleRows(row, 1));
    }
  }

  void fail(Eigen::Index row, FailureKind kind, std::string message) {
    failures_[at(row)] = Failure{row, kind, std::move(message)};
  }

  SimulatedBatch finish(Eigen::Index outcomes, std::int64_t calls) {
    if (outcomes_.size() == 0) {
      outcomes_.setConstant(static_cast<Eigen::Index>(failures_.size()), outcomes,
                            std::numeric_limits<double>::quiet_NaN());
    }
    SimulatedBatch batch{std::move(outcomes_), {}, calls};
    for (auto& failure : failures_) {
      if (failure) batch.failures.push_back(std::move(*failure));
    }
    return batch;
  }

 private:
  void deliver(Eigen::Index row, const MatrixView<double>& outcome) {
    if (outcomes_.size() == 0) {
      outcomes_.setConstant(static_cast<Eigen::Index>(failures_.size()), outcome.cols(),
                            std::numeric_limits<double>::quiet_NaN());
    }
    delivered_[at(row)] = true;
    for (Eigen::Index i = 0; i < outcome.cols(); ++i) {
      if (std::isfinite(outcome(0, i))) continue;
      fail(row, FailureKind::not_finite,
           std::isnan(outcome(0, i)) ? fmt::format("outcome {} is missing or not a number", i + 1)
                                     : fmt::format("outcome {} is infinite", i + 1));
      return;
    }
    outcomes_.row(row) = outcome;
  }

  static std::size_t at(Eigen::Index row) { return static_cast<std::size_t>(row); }

  std::vector<bool> delivered_;
  std::vector<std::optional<Failure>> failures_;
  Matrix<double> outcomes_;
};

class TaskSimulator final : public Simulator {
 public:
  explicit TaskSimulator(std::unique_ptr<Task> task) : task_(std::move(task)) {}
  Eigen::Index outcomes() const override { return task_->outcomes(); }

 private:
  Call call(const MatrixView<double>& parameters, std::uint64_t seed, std::uint64_t first_row,
            const std::stop_token&) const override {
    Call result{Matrix<double>(parameters.rows(), task_->outcomes()),
                std::vector<bool>(static_cast<std::size_t>(parameters.rows()), true)};
    for (Eigen::Index i = 0; i < parameters.rows(); ++i) {
      const std::uint64_t row = first_row + static_cast<std::uint64_t>(i);
      result.outcomes.row(i) = task_->simulate(parameters.middleRows(i, 1), seed, row);
    }
    return result;
  }

  std::unique_ptr<Task> task_;
};

class FunctionSimulator final : public Simulator {
 public:
  FunctionSimulator(SimulatorFunction function, Eigen::Index outcomes)
      : function_(std::move(function)), outcomes_(outcomes) {}
  Eigen::Index outcomes() const override { return outcomes_; }

 private:
  Call call(const MatrixView<double>& parameters, std::uint64_t seed, std::uint64_t first_row,
            const std::stop_token&) const override {
    Call result;
    result.delivered.resize(static_cast<std::size_t>(parameters.rows()));
    try {
      result.outcomes = function_(parameters, seed, first_row);
    } catch (const std::exception& error) {
      result.message = error.what();
      return result;
    }
    if (result.outcomes.rows() != parameters.rows() || result.outcomes.cols() != outcomes_) {
      throw std::invalid_argument(fmt::format("function: expected outcomes [{}, {}], got [{}, {}]",
                                              parameters.rows(), outcomes_, result.outcomes.rows(),
                                              result.outcomes.cols()));
    }
    result.delivered.assign(result.delivered.size(), true);
    return result;
  }

  SimulatorFunction function_;
  Eigen::Index outcomes_;
};

}  // namespace

std::string_view name_of(FailureKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](auto& k) { return k.first == kind; })
      ->second;
}

FailureKind parse_failure_kind(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& [kind, text] : kKinds) {
    if (text == name) return kind;
    known.push_back(text);
  }
  throw std::invalid_argument(
      fmt::format("kind of failure: expected one of {}, got '{}'", fmt::join(known, ", "), name));
}

SimulatedBatch Simulator::simulate(const MatrixView<double>& parameters, std::uint64_t seed,
                                   std::uint64_t first_row, const std::stop_token& stop) const {
  require_parameters(parameters);
  const Eigen::Index rows = parameters.rows();
  if (rows == 0) return {Matrix<double>(0, outcomes()), {}, 0};
  Assembly assembly(rows);
  Call last = call(parameters, seed, first_row, stop);
  assembly.keep(0, last);
  std::int64_t calls = 1;
  Eigen::Index tried = 0;
  bool hope = false;
  for (Eigen::Index row = 0; row < rows; ++row) {
    if (assembly.settled(row)) continue;
    if (stop.stop_requested()) last = {.reason = FailureKind::stopped, .message = "stopped"};
    const Eigen::Index most = last.reason == FailureKind::timed_out ? kHopelessTimeouts : kHopeless;
    if (rows > 1 && last.reason != FailureKind::stopped && (hope || tried < most)) {
      last = call(parameters.middleRows(row, 1), seed, first_row + static_cast<std::uint64_t>(row),
                  stop);
      assembly.keep(row, last);
      ++calls;
      ++tried;
    }
    hope = hope || assembly.delivered(row);
    if (!assembly.settled(row)) assembly.fail(row, last.reason, last.message);
  }
  return assembly.finish(outcomes(), calls);
}

std::unique_ptr<Simulator> make_task_simulator(const std::string& name, Eigen::Index dimension) {
  return std::make_unique<TaskSimulator>(make_task(name, dimension));
}

std::unique_ptr<Simulator> make_function_simulator(SimulatorFunction function,
                                                   Eigen::Index outcomes) {
  if (!function) throw std::invalid_argument("function: expected one to call, got none");
  if (outcomes < 1) {
    throw std::invalid_argument(fmt::format("outcomes: expected at least 1, got {}", outcomes));
  }
  return std::make_unique<FunctionSimulator>(std::move(function), outcomes);
}

}  // namespace jeffreys
