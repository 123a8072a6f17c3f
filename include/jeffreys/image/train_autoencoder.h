// Trains an autoencoder by the mean squared error of pixels in [-1, 1] (the paper's appendix
// "Autoencoder": Adam, rate 1e-3, batches of 128, 20 epochs).
#pragma once

#include <filesystem>
#include <functional>

#include "jeffreys/image/autoencoder.h"

namespace jeffreys {

struct AutoencoderTraining {
  int epochs = 20;
  std::size_t batch_size = 128;
  double learning_rate = 1e-3;
  std::uint64_t seed = 0;  // of the order of the pictures

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// As many as the paper has, or for few pictures as many as make 600 steps: 20 epochs of 600
// pictures would be a hundred.
[[nodiscard]] int default_epochs(std::size_t pictures, std::size_t batch_size);

// Mean squared errors of pixels in [-1, 1].
struct AutoencoderEpoch {
  int epoch = 0;              // from 1
  double training_error = 0;  // mean over the batches, each before its step
  double held_out_error = 0;  // after the epoch; NaN if nothing is held out
  double seconds = 0;         // of the epoch, without what was before a resume
};

struct AutoencoderProgress {
  int epoch = 0, epochs = 0;        // that is under way, from 1, of so many
  std::size_t step = 0, steps = 0;  // of all epochs
  double error = 0;                 // of the last batch
};

// How it is run. No result depends on it.
struct AutoencoderRun {
  std::size_t threads = 1;
  // What an interrupted run leaves, and a finished one too, until somebody removes it. Empty:
  // nothing.
  std::filesystem::path checkpoint = {};
  double checkpoint_seconds = 30;
  bool resume = false;  // from the checkpoint, if there is one: with the same bits
  std::function<void(const AutoencoderProgress&)> on_step = {};
  std::function<void(const AutoencoderEpoch&)> on_epoch = {};
  std::function<bool()> should_stop = {};  // asked before each step
};

struct AutoencoderFit {
  Autoencoder autoencoder;
  std::vector<AutoencoderEpoch> epochs;
  bool interrupted = false;  // then the autoencoder is as far as it came
  bool diverged = false;     // an error was not finite; the autoencoder is as before
  double processor_seconds = 0;
};

// images: at least one. held_out: may be empty. Throws InputError for a checkpoint of another run:
// other pictures, or other options.
[[nodiscard]] AutoencoderFit train_autoencoder(
    const Images& images, const Images& held_out, const AutoencoderOptions& options,
    const AutoencoderTraining& training, const AutoencoderRun& run,
    const std::shared_ptr<const AutoencoderNetwork>& network);

}  // namespace jeffreys
