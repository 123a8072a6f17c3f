// WGANs live in a module that is loaded when one is to be trained: libtorch takes 0.6 s and 170 MB
// at the start of every program that links it.
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "experiment/learner.h"

namespace jeffreys::experiment {
namespace {

using MakeLearner = Learner* (*)(const Job&, const Workload&);

// Beside the program, or where an installed program has its libraries.
std::filesystem::path find_module() {
  std::error_code ignored;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const std::filesystem::path& folder : {here, here / "../lib", here / ".."}) {
    const std::filesystem::path file = folder / "libjeffreys_wgan.so";
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return {};
}

MakeLearner load() {
  const std::filesystem::path file = find_module();
  // Jobs run side by side, one thread each; and sums depend on the number of threads.
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    ::setenv(variable, "1", 0);
  }
  void* module = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* why = file.empty() ? "it is not beside the program" : dlerror();
    throw std::runtime_error(std::string("libjeffreys_wgan.so cannot be loaded: ") + why);
  }
  // Stays loaded: libtorch does not like to leave.
  return reinterpret_cast<MakeLearner>(dlsym(module, "jeffreys_make_wgan_learner"));
}

}  // namespace

bool can_train_wgan() { return !find_module().empty(); }

std::unique_ptr<Learner> make_wgan_learner(const Job& job, const Workload& workload) {
  static const MakeLearner make = load();
  return std::unique_ptr<Learner>(make(job, workload));
}

}  // namespace jeffreys::experiment
