// WGANs live in a module that is loaded when one is to be trained.
#include "base/module.h"
#include "experiment/learner.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kModule = "jeffreys_wgan";
using MakeLearner = Learner* (*)(const Job&, const Workload&);

}  // namespace

bool can_train_wgan() { return has_module(kModule); }

std::unique_ptr<Learner> make_wgan_learner(const Job& job, const Workload& workload) {
  static const auto make =
      reinterpret_cast<MakeLearner>(module_function(kModule, "jeffreys_make_wgan_learner"));
  return std::unique_ptr<Learner>(make(job, workload));
}

}  // namespace jeffreys::experiment
