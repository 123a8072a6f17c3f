// The state of training, taken up by a trainer of the same form.
#include "fuzz/as_file.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/train/trainer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    jeffreys::SplineFlow<float> flow({.features = 1, .transforms = 1, .hidden = {8}});
    jeffreys::TrainingData<float> data;
    data.x = jeffreys::Matrix<float>::Random(20, 1);
    jeffreys::TrainOptions options;
    options.method = jeffreys::Method::mle;
    jeffreys::Trainer<float> trainer(flow, nullptr, data, options);
    trainer.resume(path);
  });
}
