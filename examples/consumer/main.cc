// A program outside the project: it sees the installed headers and library, nothing else. It embeds
// a flow: draws rows with their log density, saves the model, loads it again and gets the same
// numbers.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "jeffreys/model/model_file.h"
#include "jeffreys/model/spline_flow.h"

int main() try {
  const jeffreys::SplineFlow<float> flow({.features = 3, .transforms = 4, .seed = 1});
  const jeffreys::Samples<float> samples = flow.sample(1000, {.seed = 2});

  const auto file = std::filesystem::temp_directory_path() / "jeffreys_consumer.model";
  jeffreys::save_model(flow, file, {{"made_by", "examples/consumer"}});
  const auto loaded = jeffreys::load_flow<float>(file);
  std::filesystem::remove(file);

  const float difference = (loaded.log_prob(samples.x) - samples.log_prob).cwiseAbs().maxCoeff();
  std::printf(
      "1000 rows of 3 features, mean log density %.3f, after saving and loading it differs by %g\n",
      static_cast<double>(samples.log_prob.mean()), static_cast<double>(difference));
  return std::isfinite(difference) && difference < 1e-4F ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "consumer: %s\n", error.what());
  return 1;
}
