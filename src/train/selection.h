// Held-out NLL of the models as they are and with averaged weights, and the best state so far.
#pragma once

#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/train/model_update.h"
#include "jeffreys/train/options.h"
#include "jeffreys/train/record.h"
#include "jeffreys/train/trainer.h"

namespace jeffreys {

// Everything that an evaluation of a model depends on.
template <typename T>
struct Snapshot {
  std::vector<T> parameters;
  std::vector<T> state;

  [[nodiscard]] bool empty() const { return parameters.empty(); }
};

template <typename T>
[[nodiscard]] Snapshot<T> take_snapshot(const UnnormalizedDensity<T>& model);
template <typename T>
void restore(const Snapshot<T>& snapshot, UnnormalizedDensity<T>& model);
// Throws std::invalid_argument if a snapshot is neither empty nor of the model's sizes.
template <typename T>
void check_snapshot(const Snapshot<T>& snapshot, const UnnormalizedDensity<T>& model);

// Lets a model hold its averaged weights, with the spectral vectors that belong to them, for as
// long as this lives.
template <typename T>
class AveragedWeights {
 public:
  AveragedWeights(UnnormalizedDensity<T>& model, std::span<const T> average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  UnnormalizedDensity<T>& model_;
  Snapshot<T> own_;
};

extern template class AveragedWeights<float>;
extern template class AveragedWeights<double>;

template <typename T>
class Selection {
 public:
  Selection(Density<T>& main, UnnormalizedDensity<T>* proxy, const TrainingData<T>& data,
            const TrainOptions& options);

  // Evaluates, keeps what is best so far, and leaves the models as they were.
  Evaluation evaluate(std::int64_t iteration, const ModelUpdate<T>& main_update,
                      const ModelUpdate<T>* proxy_update);

  // The models take the chosen states.
  void restore_best();

  [[nodiscard]] const Selected& main() const { return main_best_; }
  [[nodiscard]] const Selected& proxy() const { return proxy_best_; }
  // The last iteration that improved any model.
  [[nodiscard]] std::int64_t last_improvement() const;

  // For checkpoints.
  template <typename Self, typename Visit>
  static void visit_buffers(Self& self, Visit&& visit) {
    visit("best_main.parameters", self.main_snapshot_.parameters);
    visit("best_main.state", self.main_snapshot_.state);
    visit("best_proxy.parameters", self.proxy_snapshot_.parameters);
    visit("best_proxy.state", self.proxy_snapshot_.state);
  }
  // Throws std::invalid_argument if a kept state does not fit its model.
  void check_sizes() const;
  void set_best(const Selected& main, const Selected& proxy) {
    main_best_ = main;
    proxy_best_ = proxy;
  }

 private:
  double nll(const UnnormalizedDensity<T>& model, std::int64_t iteration) const;
  // The NLL of rows from log densities of their points.
  [[nodiscard]] double weighted_nll(Vector<double> points) const;
  double averaged_nll(UnnormalizedDensity<T>& model, std::span<const T> average,
                      std::int64_t iteration, Snapshot<T>& averaged) const;
  // Keeps the better of a model's two states if it is the best so far.
  void choose(Selected& best, Snapshot<T>& snapshot, std::int64_t iteration,
              const UnnormalizedDensity<T>& model, double raw, double averaged,
              const Snapshot<T>& averaged_state) const;

  Density<T>& main_model_;
  UnnormalizedDensity<T>* proxy_model_;
  const Matrix<T>& x_;
  const Matrix<T>& context_;
  const TrainingData<T>& data_;
  ValidationOptions options_;
  std::uint64_t seed_;
  Selected main_best_;
  Selected proxy_best_;
  Snapshot<T> main_snapshot_;
  Snapshot<T> proxy_snapshot_;
};

extern template class Selection<float>;
extern template class Selection<double>;

}  // namespace jeffreys
