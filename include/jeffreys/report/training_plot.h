#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace jeffreys::report {

// What one training run recorded. An empty series is not drawn, nor is a panel without any.
struct TrainingCurves {
  struct Series {
    std::vector<double> step = {};
    std::vector<double> value = {};  // as long as step
  };
  std::string title = {};
  // Of the negative log likelihoods.
  std::string unit = "nats / row";
  Series main_train = {};
  Series main_validation = {};
  Series proxy_train = {};
  Series proxy_validation = {};
  // The steps that were kept; marked on the validation curve, or else on the train curve.
  std::optional<double> best_main_step = {};
  std::optional<double> best_proxy_step = {};
  // Of the constraints, by their names, in the order in which they are drawn.
  std::vector<std::pair<std::string, Series>> multipliers = {};
  Series log_zeta = {};
  Series effective_sample_size = {};  // as a fraction, 0 to 1
  Series balance = {};                // forward / (forward + reverse), 0 to 1
};

// The first steps, where everything is far from its place, may leave the picture. Throws as draw()
// does, and std::invalid_argument when every series is empty.
void draw_training(const std::filesystem::path& path, const TrainingCurves& run);

}  // namespace jeffreys::report
