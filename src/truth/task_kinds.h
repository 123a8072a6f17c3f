// How each kind of task is made; make_task() knows the names and numbers.
#pragma once

#include <memory>
#include <string>

#include "jeffreys/truth/task.h"

namespace jeffreys {

std::unique_ptr<Task> make_two_moons(std::string name);

// Prior uniform in [lower, upper]^2.
std::unique_ptr<Task> make_gaussian_mixture(std::string name, double lower, double upper);

std::unique_ptr<Task> make_linear_gaussian(std::string name, Eigen::Index dimension);

}  // namespace jeffreys
