// What an objective needs of a model. Every gradient of the paper is a weighted sum of scores,
//   sum_i w_i grad log p(x_i),
// so a model offers values, weighted sums of scores, and (a density) samples; an objective computes
// weights. The proxy model q_psi need only be an UnnormalizedDensity, the main model p_theta is a
// Density.
//
// Shapes: x [rows, features], context [rows, context_features]. The context may have fewer rows,
// which then repeat: their number divides that of x, and row i of x has the context row i modulo
// that number, so that a single row serves all. A model without context takes a context without
// columns. A row with a NaN or an infinity has the value NaN; the other rows are not touched by it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "jeffreys/base/matrix.h"
#include "jeffreys/base/random_stream.h"
#include "jeffreys/base/thread_pool.h"
#include "jeffreys/model/parameter_layout.h"

namespace jeffreys {

// Marks a field of an architecture that the first version of model files did not have: a file that
// lacks it means its default.
struct NotInFirstVersion {};
inline constexpr NotInFirstVersion kNotInFirstVersion;

// Writes the weights of rows first_row, first_row + 1, ... from their values. Called once for every
// part of the rows, from several threads at a time.
template <typename T>
using WeightFunction =
    std::function<void(Eigen::Index first_row, std::span<const T> values, std::span<T> weights)>;

// Writes the weights of all rows from the values of all rows.
template <typename T>
using BatchWeightFunction = std::function<void(const Vector<T>& values, Vector<T>& weights)>;

template <typename T>
struct InputGradient {
  Vector<T> values;   // [rows]
  Matrix<T> x;        // [rows, features]: d value_i / d x_i
  Matrix<T> context;  // [rows, context_features]: d value_i / d context_i, or empty
};

// Whether an input gradient includes that of the context.
enum class ContextGradient { no, yes };

template <typename T>
class Density;

template <typename T>
class UnnormalizedDensity {
 public:
  UnnormalizedDensity();
  virtual ~UnnormalizedDensity();
  UnnormalizedDensity(const UnnormalizedDensity&) = default;
  UnnormalizedDensity& operator=(const UnnormalizedDensity&) = default;
  UnnormalizedDensity(UnnormalizedDensity&&) noexcept = default;
  UnnormalizedDensity& operator=(UnnormalizedDensity&&) noexcept = default;

  // What the model is besides its numbers: a JSON object whose field "model" names the kind, from
  // which model_kind.h makes a model that differs in parameters and state alone.
  [[nodiscard]] virtual std::string architecture() const = 0;
  [[nodiscard]] virtual std::unique_ptr<UnnormalizedDensity> clone() const = 0;

  [[nodiscard]] virtual Eigen::Index features() const = 0;
  [[nodiscard]] virtual Eigen::Index context_features() const = 0;
  // The first of the features that are numbers; the others are codes of classes, to which noise
  // must not be added.
  [[nodiscard]] virtual Eigen::Index continuous_features() const { return features(); }

  // Whether exp(log_unnormalized) integrates to one, so that zeta need not be estimated.
  [[nodiscard]] virtual bool normalized() const { return false; }
  // The model as one that draws exact samples, or nullptr if it cannot.
  [[nodiscard]] virtual const Density<T>* as_density() const { return nullptr; }

  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;
  [[nodiscard]] virtual std::span<const T> parameters() const = 0;

  // The only way to change parameters: the model takes over what `edit` leaves in the buffer.
  virtual void edit_parameters(const std::function<void(std::span<T>)>& edit) = 0;

  // Numbers that belong to the model and are no parameters (the vectors of spectral normalisation).
  // advance_state() is the step that they take before each evaluation in training.
  [[nodiscard]] virtual const ParameterLayout& state_layout() const;
  [[nodiscard]] virtual std::span<const T> state() const { return {}; }
  virtual void set_state(std::span<const T> values);
  virtual void advance_state() {}

  // f_psi(x | c) / temperature, or log p_theta(x | c): [rows]
  [[nodiscard]] virtual Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const = 0;

  // gradient += sum_i weights_i grad_parameters log_unnormalized(x_i | c_i), and returns the
  // values: evaluation and score are one trip. `gradient` has the layout of the parameters.
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const VectorView<T>& weights, std::span<T> gradient) const;

  // The same with weights that depend on the values.
  virtual Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                               const WeightFunction<T>& weights, std::span<T> gradient) const = 0;

  // The same with weights that depend on the values of all rows. A model that keeps its activations
  // until the weights are known saves a second evaluation.
  virtual Vector<T> add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                        const BatchWeightFunction<T>& weights,
                                        std::span<T> gradient) const;

  // The gradient with respect to x and the context, which Langevin sampling needs. A model that has
  // none throws std::logic_error.
  [[nodiscard]] virtual bool has_input_gradient() const { return false; }
  [[nodiscard]] virtual InputGradient<T> input_gradient(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>(),
      ContextGradient wanted = ContextGradient::yes) const;

  // Threads for all operations; without a pool they run on the calling thread. A model that is made
  // of others hands the pool on to them.
  virtual void use_threads(std::shared_ptr<ThreadPool> pool) { pool_ = std::move(pool); }

 protected:
  void run(std::size_t count, const std::function<void(std::size_t)>& job) const;

 private:
  std::shared_ptr<ThreadPool> pool_;
};

// What a model keeps of rows that it drew, in order to compute their scores later. Each kind of
// model has a tape of its own kind.
class SampleTape {
 public:
  virtual ~SampleTape() = default;
};

template <typename T>
struct Samples {
  Matrix<T> x;         // [rows, features]
  Vector<T> log_prob;  // [rows]
  std::shared_ptr<SampleTape> tape;
};

// Whether sampling keeps its activations, so that the samples' scores need no second forward pass.
enum class KeepTape { no, yes };

template <typename T>
class Density : public UnnormalizedDensity<T> {
 public:
  [[nodiscard]] bool normalized() const override { return true; }
  [[nodiscard]] const Density<T>* as_density() const final { return this; }

  [[nodiscard]] Vector<T> log_prob(const MatrixView<T>& x,
                                   const MatrixView<T>& context = Matrix<T>()) const {
    return this->log_unnormalized(x, context);
  }

  // Draws rows with their log density. Memory of earlier samples is used again.
  void sample(Eigen::Index rows, const MatrixView<T>& context, const RandomStream& stream,
              Samples<T>& samples, KeepTape keep = KeepTape::no) const;

  [[nodiscard]] Samples<T> sample(Eigen::Index rows, const RandomStream& stream) const;
  [[nodiscard]] Samples<T> sample(Eigen::Index rows, const MatrixView<T>& context,
                                  const RandomStream& stream) const;

  // The rows that belong to given standard normal noise [rows, noise_features].
  [[nodiscard]] virtual Eigen::Index noise_features() const { return this->features(); }
  virtual void sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                 Samples<T>& samples, KeepTape keep = KeepTape::no) const = 0;
  [[nodiscard]] Samples<T> sample_from_noise(const MatrixView<T>& noise,
                                             const MatrixView<T>& context = Matrix<T>()) const;

  // gradient += sum_i weights_i grad log p(x_i) for samples drawn with KeepTape::yes since the
  // parameters were last edited.
  virtual void add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                 std::span<T> gradient) const = 0;
};

}  // namespace jeffreys
