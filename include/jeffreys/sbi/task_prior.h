#pragma once

#include "jeffreys/sbi/prior.h"
#include "jeffreys/truth/task.h"

namespace jeffreys {

// The prior of a built-in task, with the task's names of parameters.
[[nodiscard]] Prior task_prior(const Task& task);

}  // namespace jeffreys
