#include "base/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace jeffreys {
namespace {

std::filesystem::path find_module(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::filesystem::path> folders = {here, here / "../lib", here / ".."};
  if (const char* chosen = std::getenv("JEFFREYS_MODULES")) folders = {chosen};
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path file = folder / fmt::format("lib{}.so", name);
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return {};
}

}  // namespace

bool has_module(const std::string& name) { return !find_module(name).empty(); }

void* module_function(const std::string& name, const char* function) {
  const std::filesystem::path file = find_module(name);
  // Threads are ours; and sums depend on the number of threads.
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    ::setenv(variable, "1", 0);
  }
  void* module = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* found = module == nullptr ? nullptr : dlsym(module, function);
  if (found == nullptr) {
    const char* why = file.empty() ? "it is not beside the program" : dlerror();
    throw std::runtime_error(fmt::format("lib{}.so cannot be loaded: {}", name, why));
  }
  // Stays loaded: libtorch does not like to leave.
  return found;
}

}  // namespace jeffreys
