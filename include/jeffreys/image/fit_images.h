// From pictures to a density over them, in one call: an autoencoder is trained, and a density of
// the numbers that it makes of the pictures is fitted. A share of the pictures is seen by neither:
// the error of the autoencoder, the likelihood and p-values are measured on them.
#pragma once

#include <optional>

#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/image/image_density.h"
#include "jeffreys/image/train_autoencoder.h"

namespace jeffreys {

struct ImageFitOptions {
  std::size_t latent = 0;                        // 0: default_latent()
  AutoencoderTraining training = {.epochs = 0};  // 0: default_epochs()
  std::uint64_t seed = 0;          // of everything but the density, which has the setting `seed`
  double held_out_fraction = 0.1;  // of the pictures
  ChosenSettings settings = {};    // of the density
};

// How it is run. No finished result depends on it. Checkpoints of both stages belong to one fit:
// `fit.resume` goes on from wherever it was.
struct ImageFitRun {
  FitRun fit = {};
  std::filesystem::path autoencoder_checkpoint = {};
  double checkpoint_seconds = 30;
  std::function<void(const AutoencoderProgress&)> on_step = {};
  std::function<void(const AutoencoderEpoch&)> on_epoch = {};

  // For when the result is safe.
  void remove_unfinished() const;
};

struct ImageFit {
  AutoencoderFit autoencoder;
  // The density of the latent numbers: not there if the autoencoder was interrupted or diverged.
  std::optional<TableFit> latent = {};
  std::size_t training_images = 0;
  Vector<double> held_out_errors = {};  // of the held-out pictures
  MeanNll held_out = {};                // of their latent numbers, by the chosen model

  [[nodiscard]] bool interrupted() const;
  // Takes the parts of a fit that was not interrupted.
  [[nodiscard]] ImageDensity take_density();
};

// Pictures are squares of a size that AutoencoderOptions allows. Throws std::invalid_argument for
// fewer than kFewestImages and for options that make no sense, and InputError as fit_table does,
// also for what an unfinished fit left if run.fit.resume does not say to go on.
inline constexpr std::size_t kFewestImages = 20;
[[nodiscard]] ImageFit fit_images(const Images& images, const ImageFitOptions& options,
                                  const ImageFitRun& run,
                                  std::shared_ptr<const AutoencoderNetwork> network = {});

// Which pictures are held out, and which not, both in increasing order.
[[nodiscard]] Split split_images(std::size_t count, double held_out_fraction, std::uint64_t seed);

}  // namespace jeffreys
