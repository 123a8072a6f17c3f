// The state of training, taken up by a trainer of the same form.
#include "fuzz/as_file.h"
#include "fuzz/tensor_mutator.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/train/trainer.h"

namespace {

struct Training {
  jeffreys::SplineFlow<float> flow{{.features = 1, .transforms = 1, .bins = 3, .hidden = {4}}};
  jeffreys::TrainingData<float> data{.x = jeffreys::Vector<float>::LinSpaced(20, -1, 1),
                                     .validation_x = jeffreys::Vector<float>::LinSpaced(5, -1, 1)};
  jeffreys::TrainOptions options{.method = jeffreys::Method::mle, .iterations = 3};
  jeffreys::Trainer<float> trainer{flow, nullptr, data, options};
};

}  // namespace

// With JEFFREYS_FUZZ_SEED=FILE only writes a checkpoint that is whole.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* seed = std::getenv("JEFFREYS_FUZZ_SEED");
  if (seed == nullptr) return 0;
  Training training;
  training.trainer.run();
  training.trainer.save(seed);
  std::_Exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    Training training;
    training.trainer.resume(jeffreys::fuzz::with_checksum(path));
    training.trainer.step();
  });
}
