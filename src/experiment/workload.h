// What a run is trained on and measured by.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "experiment/plan.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/train/trainer.h"

namespace jeffreys::experiment {

// Training rows of a source or task are its draws of iteration 0, test rows those of this one.
inline constexpr std::uint64_t kTestIteration = 1;

// What was measured at one moment, by names such as "main.test_nll".
using Numbers = std::map<std::string, double>;

// Two models at one moment of training. proxy: nullptr if there is none.
struct Models {
  const Density<float>& main;
  const UnnormalizedDensity<float>* proxy = nullptr;
  std::int64_t iteration = 0;  // names the random numbers that measuring draws
  bool averaged = false;       // the weights are averages: "main_averaged." instead of "main."

  [[nodiscard]] std::string name(const char* model) const {
    return std::string(model) + (averaged ? "_averaged." : ".");
  }
};

// Where a run finds and leaves things, and how it is run. No result depends on it.
struct JobContext {
  std::filesystem::path folder;  // of the experiment
  std::filesystem::path data;    // the folder with uci/ and images/
  std::function<bool()> should_stop;
  double checkpoint_seconds = 20;
  std::size_t threads = 1;  // for what the other jobs wait for
  // Told what is done before a run's iterations, such as "autoencoder 45 %", and "" when it is.
  std::function<void(const std::string&)> on_stage = {};

  void tell_stage(const std::string& stage) const {
    if (on_stage) on_stage(stage);
  }
};

class Workload {
 public:
  Workload(TrainingData<float> rows, Matrix<float> test, Matrix<float> test_context,
           std::uint64_t seed);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  [[nodiscard]] const TrainingData<float>& rows() const { return rows_; }
  [[nodiscard]] const Matrix<float>& test() const { return test_; }

  // At every point of a run's curve.
  [[nodiscard]] virtual Numbers measure(const Models& models) const = 0;
  // Once, at the end: what is too slow for every point. `last` is after all iterations.
  [[nodiscard]] virtual Numbers measure_last(const Models& models) const;

  // What one looks at, as files beside the results, whose names begin with `name`. It is no part of
  // them, and none of it is on the page: pictures of people may not be passed on.
  virtual void draw_pictures(const Models&, const std::string& /*name*/) const {}
  // What depends on the machine: seconds of processor time before the run.
  [[nodiscard]] virtual Numbers machine() const { return {}; }

  // [pixels^2] density at the pixels' centres, x fastest; only of a workload in the plane.
  struct DensityGrid {
    double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
    Eigen::Index pixels = 0;
    std::map<std::string, Vector<double>> density;
  };
  [[nodiscard]] virtual DensityGrid density_grid(const Models&, Eigen::Index) const { return {}; }

 protected:
  // Mean negative log density of training, test and validation rows; log_zeta: of this model. Of
  // the training rows, which are in a random order, at most so many.
  void measure_nll(const UnnormalizedDensity<float>& model, const std::string& name,
                   double log_zeta, Numbers& numbers,
                   Eigen::Index most_training = std::numeric_limits<Eigen::Index>::max()) const;

  TrainingData<float> rows_;
  Matrix<float> test_;
  Matrix<float> test_context_;
  std::uint64_t seed_;
};

// Samples of the main model and what an energy proxy's weights on them say.
struct ImportanceSamples {
  Samples<float> samples;
  Vector<double> log_weights;  // f - log p; empty without an energy proxy
  double log_zeta = 0;
};
[[nodiscard]] ImportanceSamples importance_samples(const Models& models, Eigen::Index rows,
                                                   std::uint64_t seed);

// A data set is not there: says which file, where it was looked for and where to get it.
class MissingData : public InputError {
 public:
  using InputError::InputError;
};

// Throws MissingData; of pictures also Interrupted, while their autoencoder is trained.
[[nodiscard]] std::unique_ptr<Workload> make_workload(const Job& job, const JobContext& context);

std::unique_ptr<Workload> make_source_workload(const Job& job);
std::unique_ptr<Workload> make_table_workload(const Job& job, const std::filesystem::path& data);
std::unique_ptr<Workload> make_task_workload(const Job& job);
std::unique_ptr<Workload> make_image_workload(const Job& job, const JobContext& context);

// Splits off validation rows if the job asks for them.
[[nodiscard]] TrainingData<float> split_validation(const Job& job, const Matrix<double>& x,
                                                   const Matrix<double>& context);

}  // namespace jeffreys::experiment
