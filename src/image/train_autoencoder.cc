#include "jeffreys/image/train_autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/shuffle.h"
#include "base/stopwatch.h"
#include "image/autoencoder_state.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/adamw.h"

namespace jeffreys {
namespace {

// Adam as PyTorch has it.
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;

constexpr int kPaperEpochs = 20;
// Chosen on 540 and 1,000 faces, where the held-out error is lowest after 430 and 600 steps and
// rises slowly from there (docs/images.md).
constexpr std::size_t kFewestSteps = 600;

// Pictures whose gradients are summed by one thread: the same for any number of threads.
constexpr std::size_t kPart = 16;

class AutoencoderLoop {
 public:
  AutoencoderLoop(const Images& images, const Images& held_out, const AutoencoderOptions& options,
                  const AutoencoderTraining& training, const AutoencoderRun& run,
                  const std::shared_ptr<const AutoencoderNetwork>& network)
      : images_(images),
        held_out_(held_out),
        training_(training),
        run_(run),
        model_(options, network),
        pool_(std::make_shared<ThreadPool>(std::max<std::size_t>(run.threads, 1))),
        batch_(std::min(training.batch_size, images.count)),
        steps_of_epoch_((images.count + batch_ - 1) / batch_),
        identity_(autoencoder_identity(images, held_out, options, training)) {
    model_.use_threads(pool_);
    state_.first_moment.resize(model_.parameters().size());
    state_.second_moment.resize(model_.parameters().size());
    gradients_.resize((batch_ + kPart - 1) / kPart);
  }

  AutoencoderFit train() {
    const double begin = processor_seconds(Worker::process);
    if (run_.resume && !run_.checkpoint.empty() && std::filesystem::exists(run_.checkpoint)) {
      read_autoencoder_state(run_.checkpoint, identity_, model_.edit_parameters(), state_);
    }
    const double before = state_.processor_seconds;
    const auto spent = [&] { return before + processor_seconds(Worker::process) - begin; };
    bool stopped = false, diverged = false;
    while (state_.step < all_steps() && !stopped && !diverged) {
      stopped = run_.should_stop && run_.should_stop();
      if (stopped || saved_.read() > run_.checkpoint_seconds) save(spent());
      if (!stopped) diverged = !step();
    }
    if (!stopped) save(spent());
    return {std::move(model_), std::move(state_.epochs), stopped, diverged, spent()};
  }

 private:
  [[nodiscard]] std::size_t all_steps() const {
    return static_cast<std::size_t>(training_.epochs) * steps_of_epoch_;
  }

  // False: the error was not finite, and nothing changed.
  bool step() {
    const std::size_t epoch = state_.step / steps_of_epoch_;
    const std::size_t place = state_.step % steps_of_epoch_;
    const std::span<const std::size_t> rows = batch(epoch, place);
    const double error = gradient(rows);
    if (!std::isfinite(error)) return false;
    ++state_.step;
    kernels::adamw(kernels::AdamWArguments<float>{
        .size = model_.parameters().size(),
        .parameters = model_.edit_parameters().data(),
        .gradient = gradients_[0].data(),
        .first_moment = state_.first_moment.data(),
        .second_moment = state_.second_moment.data(),
        .learning_rate = training_.learning_rate,
        .beta1 = kBeta1,
        .beta2 = kBeta2,
        .step = state_.step,
        .gradient_factor = 1.0 / static_cast<double>(rows.size() * images_.bytes_of_one())});
    state_.error_sum += error * static_cast<double>(rows.size());
    if (run_.on_step) {
      run_.on_step({.epoch = static_cast<int>(epoch) + 1,
                    .epochs = training_.epochs,
                    .step = state_.step,
                    .steps = all_steps(),
                    .error = error});
    }
    if (place + 1 == steps_of_epoch_) end_epoch(static_cast<int>(epoch) + 1);
    return true;
  }

  std::span<const std::size_t> batch(std::size_t epoch, std::size_t place) {
    if (order_.empty() || order_epoch_ != epoch) {
      order_.resize(images_.count);
      std::iota(order_.begin(), order_.end(), std::size_t{0});
      shuffle(order_, {training_.seed, kImageOrder, epoch});
      order_epoch_ = epoch;
    }
    const std::size_t first = place * batch_;
    return std::span(order_).subspan(first, std::min(batch_, order_.size() - first));
  }

  // The mean squared error; the gradient of the sum is then in gradients_[0].
  double gradient(std::span<const std::size_t> rows) {
    const std::size_t parts = (rows.size() + kPart - 1) / kPart;
    std::vector<double> errors(parts);
    pool_->run(parts, [&](std::size_t i) {
      const std::size_t first = i * kPart;
      gradients_[i].assign(model_.parameters().size(), 0.0F);
      errors[i] = model_.network().add_gradient(
          model_.parameters(),
          to_pixels(images_, rows.subspan(first, std::min(kPart, rows.size() - first))),
          gradients_[i]);
    });
    for (std::size_t i = 1; i < parts; ++i) {
      for (std::size_t k = 0; k < gradients_[0].size(); ++k) gradients_[0][k] += gradients_[i][k];
    }
    return std::accumulate(errors.begin(), errors.end(), 0.0) /
           static_cast<double>(rows.size() * images_.bytes_of_one());
  }

  void end_epoch(int epoch) {
    const double held_out = held_out_.count == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                 : model_.errors(held_out_).mean();
    state_.epochs.push_back({epoch, state_.error_sum / static_cast<double>(images_.count), held_out,
                             epoch_clock_.lap()});
    state_.error_sum = 0;
    if (run_.on_epoch) run_.on_epoch(state_.epochs.back());
  }

  void save(double spent) {
    state_.processor_seconds = spent;
    if (!run_.checkpoint.empty()) {
      write_autoencoder_state(run_.checkpoint, identity_, model_.parameters(), state_);
    }
    saved_.lap();
  }

  const Images& images_;
  const Images& held_out_;
  AutoencoderTraining training_;
  const AutoencoderRun& run_;
  Autoencoder model_;
  std::shared_ptr<ThreadPool> pool_;
  std::size_t batch_;
  std::size_t steps_of_epoch_;
  std::map<std::string, std::string> identity_;
  AutoencoderState state_;
  std::vector<std::vector<float>> gradients_;
  std::vector<std::size_t> order_;
  std::size_t order_epoch_ = 0;
  Stopwatch saved_;
  Stopwatch epoch_clock_;
};

}  // namespace

void AutoencoderTraining::validate() const {
  const auto fail = [](const char* field, const char* expected, auto actual) {
    throw std::invalid_argument(
        fmt::format("AutoencoderTraining.{}: expected {}, got {}", field, expected, actual));
  };
  if (epochs < 1) fail("epochs", "at least 1", epochs);
  if (batch_size < 1) fail("batch_size", "at least 1", batch_size);
  if (!(learning_rate > 0) || !std::isfinite(learning_rate)) {
    fail("learning_rate", "a finite number above 0", learning_rate);
  }
}

int default_epochs(std::size_t pictures, std::size_t batch_size) {
  const std::size_t batch = std::max<std::size_t>(std::min(batch_size, pictures), 1);
  const std::size_t steps = std::max<std::size_t>((pictures + batch - 1) / batch, 1);
  return std::max(kPaperEpochs, static_cast<int>((kFewestSteps + steps - 1) / steps));
}

AutoencoderFit train_autoencoder(const Images& images, const Images& held_out,
                                 const AutoencoderOptions& options,
                                 const AutoencoderTraining& training, const AutoencoderRun& run,
                                 const std::shared_ptr<const AutoencoderNetwork>& network) {
  options.validate();
  training.validate();
  for (const Images* set : {&images, &held_out}) {
    if (set == &held_out && set->count == 0) continue;
    if (set->count == 0 || set->height != options.size || set->width != options.size ||
        set->channels != options.channels) {
      throw std::invalid_argument(fmt::format(
          "images: expected pictures of {0} x {0} x {1}, got {2} of {3} x {4} x {5}", options.size,
          options.channels, set->count, set->width, set->height, set->channels));
    }
  }
  return AutoencoderLoop(images, held_out, options, training, run, network).train();
}

}  // namespace jeffreys
