#include "jeffreys/sbi/task_prior.h"

#include <cmath>

namespace jeffreys {

Prior task_prior(const Task& task) {
  const ParameterRange range = task.prior_range();
  const std::vector<std::string> names = task.parameter_names();
  std::vector<Prior::Parameter> parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto p = static_cast<Eigen::Index>(i);
    // All tasks but this one have a uniform prior in a box, which is its range.
    parameters.push_back({names[i], task.name() == "linear_gaussian"
                                        ? Distribution::normal(0, std::sqrt(0.1))
                                        : Distribution::uniform(range.lower(p), range.upper(p))});
  }
  return Prior(std::move(parameters));
}

}  // namespace jeffreys
