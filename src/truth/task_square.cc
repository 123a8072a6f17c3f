#include "truth/task_square.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace jeffreys {

SquareTask::SquareTask(std::string name, double lower, double upper, int copies)
    : Task(std::move(name), 2, 2), lower_(lower), upper_(upper), copies_(copies) {}

ParameterRange SquareTask::prior_range() const {
  return {Vector<double>::Constant(2, lower_), Vector<double>::Constant(2, upper_)};
}

void SquareTask::place_prior(const Noise& noise, std::span<double> parameter) const {
  for (std::size_t c = 0; c < parameter.size(); ++c) {
    parameter[c] = lower_ + noise.uniform[c] * (upper_ - lower_);
  }
}

double SquareTask::prior(Row parameter) const {
  return holds(parameter) ? -2 * std::log(upper_ - lower_)
                          : -std::numeric_limits<double>::infinity();
}

// The integral of the likelihood over the square. Each copy is the noise moved by an isometry, so
// its integral is the noise's probability of ending in the square.
double SquareTask::evidence(Row observation) const {
  const double side = upper_ - lower_;
  return std::log(copies_ * part_inside(observation) / (side * side));
}

// Where nearly everything is cut off, what the noise hardly reaches may be all that is left.
ParameterRange SquareTask::range_given(Row observation) const {
  constexpr double kRare = 0.01;
  if (part_inside(observation) < kRare) return prior_range();
  ParameterRange range = reach(observation);
  range.lower = range.lower.cwiseMax(lower_);
  range.upper = range.upper.cwiseMin(upper_);
  return range;
}

bool SquareTask::holds(Row parameter) const {
  return parameter[0] >= lower_ && parameter[0] <= upper_ && parameter[1] >= lower_ &&
         parameter[1] <= upper_;
}

double normal_probability(double from, double to) {
  if (!(from < to)) return 0;
  // Differences of small tails instead of numbers close to 1.
  if (from > 0) return normal_probability(-to, -from);
  return 0.5 * (std::erfc(-to / std::numbers::sqrt2) - std::erfc(-from / std::numbers::sqrt2));
}

}  // namespace jeffreys
