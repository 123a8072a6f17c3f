#include "jeffreys/image/fit_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/shuffle.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {
namespace {

namespace fs = std::filesystem;

bool left(const fs::path& path) { return !path.empty() && fs::exists(path); }

void check_fresh(const ImageFitRun& run) {
  if (run.fit.resume || !left(run.autoencoder_checkpoint)) return;
  throw InputError(run.autoencoder_checkpoint.string(),
                   "the autoencoder of an unfinished fit: go on with --resume, or delete it");
}

// A fit that was interrupted in the first stage has nothing to go on from in the second.
FitRun second_stage(const ImageFitRun& run) {
  FitRun fit = run.fit;
  fit.resume = fit.resume && (left(fit.checkpoint) || left(fit.folder));
  return fit;
}

// Pictures of their own say how usual others are, so that the density can have all the rest.
ChosenSettings settings_of(const ImageFitOptions& options) {
  ChosenSettings settings = options.settings;
  if (!settings.has("calibration.fraction")) settings.add("calibration.fraction", "0", "images");
  return settings;
}

// What the held-out pictures say.
void judge(const Images& held_out, ImageFit& made) {
  if (held_out.count == 0) return;
  const Autoencoder& autoencoder = made.autoencoder.autoencoder;
  TabularDensity<float>& density = made.latent->fit.density;
  const Table table = latent_table(autoencoder.encode(held_out));
  density.calibrate(density.schema().encode(table), /*kept=*/true);
  made.held_out = mean_nll(density.log_prob(table).log_prob);
}

}  // namespace

void ImageFitRun::remove_unfinished() const {
  fit.remove_unfinished();
  if (!autoencoder_checkpoint.empty()) fs::remove(autoencoder_checkpoint);
}

bool ImageFit::interrupted() const {
  return autoencoder.interrupted ||
         (latent && latent->fit.report.training.stop_reason == StopReason::interrupted);
}

ImageDensity ImageFit::take_density() {
  if (!latent) throw std::invalid_argument("take_density: the fit did not come so far");
  ImageDensity density(std::move(autoencoder.autoencoder), std::move(latent->fit.density));
  density.set_held_out_errors(held_out_errors);
  return density;
}

Split split_images(std::size_t count, double held_out_fraction, std::uint64_t seed) {
  if (!(held_out_fraction >= 0 && held_out_fraction < 1)) {
    throw std::invalid_argument(
        fmt::format("held_out_fraction: expected 0 to below 1, got {}", held_out_fraction));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, {seed, kHeldOutImages, 0});
  const auto kept_back =
      static_cast<std::ptrdiff_t>(std::ceil(held_out_fraction * static_cast<double>(count) - 1e-9));
  Split split{.training = {order.begin() + kept_back, order.end()},
              .validation = {order.begin(), order.begin() + kept_back}};
  std::ranges::sort(split.training);
  std::ranges::sort(split.validation);
  return split;
}

ImageFit fit_images(const Images& images, const ImageFitOptions& options, const ImageFitRun& run,
                    std::shared_ptr<const AutoencoderNetwork> network) {
  if (images.count < kFewestImages) {
    throw std::invalid_argument(
        fmt::format("images: expected at least {} pictures, got {}", kFewestImages, images.count));
  }
  const AutoencoderOptions shape{
      .size = images.height,
      .channels = images.channels,
      .latent = options.latent > 0 ? options.latent : default_latent(images.height),
      .seed = options.seed};
  shape.validate();
  check_fresh(run);
  if (!network) network = load_autoencoder_network(shape);
  const Split split = split_images(images.count, options.held_out_fraction, options.seed);
  const Images training = take_images(images, split.training);
  const Images held_out = take_images(images, split.validation);
  AutoencoderTraining how = options.training;
  how.seed = options.seed;
  if (how.epochs == 0) how.epochs = default_epochs(training.count, how.batch_size);
  ImageFit made{train_autoencoder(training, held_out, shape, how,
                                  {.threads = run.fit.threads,
                                   .checkpoint = run.autoencoder_checkpoint,
                                   .checkpoint_seconds = run.checkpoint_seconds,
                                   .resume = run.fit.resume,
                                   .on_step = run.on_step,
                                   .on_epoch = run.on_epoch,
                                   .should_stop = run.fit.should_stop},
                                  network)};
  made.training_images = training.count;
  if (made.autoencoder.interrupted || made.autoencoder.diverged) return made;
  const Autoencoder& autoencoder = made.autoencoder.autoencoder;
  made.held_out_errors = autoencoder.errors(held_out);
  if (run.fit.tell) run.fit.tell("fitting a density to what the autoencoder makes of the pictures");
  made.latent = fit_table(latent_table(autoencoder.encode(training)), {}, settings_of(options),
                          second_stage(run));
  if (!made.interrupted()) judge(held_out, made);
  return made;
}

}  // namespace jeffreys
