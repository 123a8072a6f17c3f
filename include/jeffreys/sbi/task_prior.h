#pragma once

#include "jeffreys/data/task.h"
#include "jeffreys/sbi/prior.h"

namespace jeffreys {

// The prior of a built-in task, with the task's names of parameters.
[[nodiscard]] Prior task_prior(const Task& task);

}  // namespace jeffreys
