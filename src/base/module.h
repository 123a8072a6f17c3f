// Parts of the program that are loaded when they are needed: what links libtorch takes 0.6 s and
// 170 MB to start.
#pragma once

#include <string>

namespace jeffreys {

// Whether there is lib<name>.so beside the program, or where an installed program has its
// libraries; or in the folder that the variable JEFFREYS_MODULES names instead.
[[nodiscard]] bool has_module(const std::string& name);

// The function of a module, which stays loaded. Libraries that it brings work with one thread, on
// which their sums depend. Throws std::runtime_error with the loader's reason.
[[nodiscard]] void* module_function(const std::string& name, const char* function);

}  // namespace jeffreys
