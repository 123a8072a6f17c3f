// Trains a main model, and for the dual method a proxy model beside it (alg:dual_optimization). The
// same options and seed give the same bits for any number of threads, and after a resume.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/train/options.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

// Rows as the models see them: encoded and standardised. Contexts have no columns where the models
// have no context; validation may be empty.
template <typename T>
struct TrainingData {
  Matrix<T> x = {};
  Matrix<T> context = {};
  Matrix<T> validation_x = {};
  Matrix<T> validation_context = {};
  // If given, called once in every iteration with the numbers and a copy of the rows that it sees,
  // which it may change: values on a lattice move in their cells, gaps are filled. The same
  // arguments and the same state give the same rows.
  std::function<void(std::int64_t iteration, std::span<const std::size_t> rows, Matrix<T>& x)>
      redraw = {};
  // What redraw changes, if it changes anything. Checkpoints hold it.
  std::shared_ptr<std::vector<T>> redraw_state = {};

  // How much each row counts, in any unit; empty: all the same.
  Vector<T> weights = {};                  // [rows]
  Vector<double> validation_weights = {};  // [rows that validation_x has points of]
  // Row r of validation has this many points, r, r + rows, ... If there are log weights, one for
  // each point, the density of a row is the mean over its points of density times weight; else its
  // log density is the mean of theirs.
  Eigen::Index validation_points = 1;
  Vector<double> validation_log_weights = {};
};

enum class StopReason {
  finished,  // all iterations are done
  patience,  // the validation NLL stopped improving
  time_limit,
  interrupted,  // the observer asked for it; go on by resume()
  diverged,     // too many steps in a row were not finite
};

// The state that validation chose for one of the models.
struct Selected {
  std::int64_t iteration = 0;  // 0: none was chosen
  double nll = std::numeric_limits<double>::infinity();
  bool averaged = false;
};

struct TrainResult {
  StopReason stop_reason = StopReason::finished;
  std::int64_t iterations = 0;
  std::int64_t skipped = 0;  // steps that were not finite
  std::int64_t checkpoints = 0;
  double seconds = 0;
  std::map<std::string, double> multipliers;  // by constraint, after the last step
  Selected main;
  Selected proxy;
  std::vector<StepRecord> history;  // thinned: see TrainOptions::record_every
  std::vector<Evaluation> evaluations;
};

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_step(const StepRecord&) {}
  virtual void on_evaluation(const Evaluation&) {}
  // Asked after every step; true ends training with StopReason::interrupted.
  virtual bool should_stop() { return false; }
};

template <typename T>
class TrainingRun;

template <typename T>
class Trainer {
 public:
  // The models are trained in place and outlive the trainer; `proxy` is null for the likelihood
  // methods. Throws std::invalid_argument where models, data and options do not fit together, or a
  // row is not finite.
  Trainer(Density<T>& main, UnnormalizedDensity<T>* proxy, TrainingData<T> data,
          const TrainOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // One iteration, without evaluation or checkpoint.
  StepRecord step();

  [[nodiscard]] std::int64_t iteration() const;
  // Steps up to now that were not finite, without a good one between them.
  [[nodiscard]] std::int64_t skipped_in_a_row() const;
  // By the names of the constraints.
  [[nodiscard]] std::map<std::string, double> multipliers() const;

  // Calls f while the models hold their averaged weights; not at all without averaging.
  void with_averaged(const std::function<void()>& f);

  // Iterates until there is a reason to stop. Then, unless interrupted, the models take the state
  // that validation chose: the main model and a flow proxy each its own best one, an energy proxy
  // that of the main model's best iteration. After divergence without validation they take the last
  // state that is known to be good.
  TrainResult run(TrainObserver* observer = nullptr);

  // The whole state in a file, replaced atomically. resume() continues bit for bit; it throws
  // InputError for a file of another run: other data, models, or options (iterations, limits and
  // validation's patience may differ).
  void save(const std::filesystem::path& path) const;
  void resume(const std::filesystem::path& path);

 private:
  std::unique_ptr<TrainingRun<T>> run_;
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace jeffreys
