#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "cli/images.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "cli/run_record.h"
#include "cli/summary.h"
#include "cli/training.h"
#include "jeffreys/image/fit_images.h"

namespace jeffreys::cli {
namespace {

struct ImageFitArguments {
  ImageArguments images;
  std::string model;
  std::size_t size = 0;
  bool grey = false;
  ImageFitOptions options;
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

// Lines about the autoencoder's training.
class AutoencoderLine {
 public:
  explicit AutoencoderLine(const Globals& globals) : line_(globals) {}

  void on_step(const AutoencoderProgress& p) {
    if (first_ == 0) first_ = p.step - 1;
    if (!line_.due() && p.step != p.steps) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double left =
        seconds / static_cast<double>(p.step - first_) * static_cast<double>(p.steps - p.step);
    line_.draw(
        fmt::format("autoencoder epoch {}/{}  step {}/{}  {} left  error {:.4f}{}", p.epoch,
                    p.epochs, p.step, p.steps, duration(left), p.error,
                    std::isnan(held_out_) ? "" : fmt::format("  held out {:.4f}", held_out_)));
  }
  void on_epoch(const AutoencoderEpoch& epoch) { held_out_ = epoch.held_out_error; }

 private:
  using Clock = std::chrono::steady_clock;
  ProgressLine line_;
  std::size_t first_ = 0;
  Clock::time_point begin_ = Clock::now();
  double held_out_ = std::nan("");
};

Json images_json(const ImageSet& set, const ImageFit& made) {
  const AutoencoderOptions& o = made.autoencoder.autoencoder.options();
  Json epochs = Json::array();
  for (const AutoencoderEpoch& e : made.autoencoder.epochs) {
    epochs.push_back({{"epoch", e.epoch},
                      {"training_error", number(e.training_error)},
                      {"held_out_error", number(e.held_out_error)},
                      {"seconds", number(e.seconds)}});
  }
  Json refused = Json::array();
  for (const RefusedImage& r : set.refused) refused.push_back({{"name", r.name}, {"why", r.why}});
  return {{"pictures", set.images.count},
          {"refused", refused},
          {"size", o.size},
          {"channels", o.channels},
          {"latent", o.latent},
          {"training_pictures", made.training_images},
          {"held_out_pictures", made.held_out_errors.size()},
          {"held_out_error",
           made.held_out_errors.size() > 0 ? number(made.held_out_errors.mean()) : Json(nullptr)},
          {"held_out_nll", nll_json(made.held_out)},
          {"autoencoder_processor_seconds", number(made.autoencoder.processor_seconds)},
          {"epochs", epochs}};
}

// True: there is nothing more to do.
bool ended_early(const ImageFit& made, const ImageFitRun& run, Globals& globals) {
  if (made.autoencoder.diverged) {
    tell("jeffreys: the autoencoder diverged; a lower rate may help: --rate 1e-4\n");
    run.remove_unfinished();
    globals.exit_code = ExitCode::diverged;
    return true;
  }
  if (made.autoencoder.interrupted) {
    say(globals,
        fmt::format("interrupted in epoch {}; {} is saved: go on with --resume",
                    made.autoencoder.epochs.size() + 1, run.autoencoder_checkpoint.string()));
    globals.exit_code = ExitCode::failed;
    return true;
  }
  return false;
}

void say_result(const ImageFit& made, const Globals& globals) {
  const Autoencoder& autoencoder = made.autoencoder.autoencoder;
  const AutoencoderOptions& o = autoencoder.options();
  say(globals, fmt::format("{} pictures of {} x {} in {} numbers each", made.training_images,
                           o.size, o.size, o.latent));
  if (made.held_out_errors.size() > 0) {
    const double error = made.held_out_errors.mean();
    say(globals,
        fmt::format("on {} pictures that neither has seen: the autoencoder is off by {:.1f} of 255 "
                    "(root mean square), NLL of the numbers {:.3f} +- {:.3f}",
                    made.held_out_errors.size(), 127.5 * std::sqrt(error), made.held_out.nll,
                    made.held_out.standard_error));
  }
}

void run_images_fit(ImageFitArguments& a, Globals& globals) {
  std::filesystem::path model = a.model;
  if (a.model.empty()) {
    const std::filesystem::path pictures = std::filesystem::path(a.images.pictures) / "";
    model = pictures.parent_path().stem().string() + ".model";
  }
  require_other_file(model.string(), {a.images.pictures});
  require_writable(model);
  const StopOnSignal signals;
  a.options.seed = a.training->seed;
  a.options.settings = chosen_settings(*a.training);
  FitOptions chosen;
  a.options.settings.apply_to(chosen);
  ImageFitRun run{.fit = fit_run(*a.training, model, globals),
                  .autoencoder_checkpoint = model.string() + ".autoencoder.checkpoint",
                  .checkpoint_seconds = chosen.train.checkpoint.seconds};
  // Before pictures are read, which may take long.
  if (!has_autoencoder_network()) static_cast<void>(load_autoencoder_network({}));
  const ImageSet set = a.images.read(globals, a.size, a.grey ? 1 : 0);
  auto line = std::make_unique<AutoencoderLine>(globals);
  run.on_step = [&](const AutoencoderProgress& p) { line->on_step(p); };
  run.on_epoch = [&](const AutoencoderEpoch& e) { line->on_epoch(e); };
  run.fit.tell = [&, tell_fit = run.fit.tell](const std::string& sentence) {
    line.reset();
    tell_fit(sentence);
  };
  ImageFit made = fit_images(set.images, a.options, run);
  line.reset();
  if (ended_early(made, run, globals)) return;
  const Json more{{"images", images_json(set, made)}};
  if (!made.interrupted()) say_result(made, globals);
  TableFit& latent = *made.latent;
  const FitReport report = latent.fit.report;
  finish_fit({.source = a.images.pictures,
              .model = model,
              .table = latent.table,
              .options = latent.options,
              .defaults = latent.defaults,
              .report = report,
              .save =
                  [&](const std::string& record) {
                    latent.fit.density.record = record;
                    made.take_density().save(model);
                  },
              .more = more},
             run.fit, globals);
  if (report.training.stop_reason != StopReason::interrupted) run.remove_unfinished();
}

}  // namespace

void add_images_fit(CLI::App& images, Globals& globals) {
  auto a = std::make_shared<ImageFitArguments>();
  CLI::App* command = images.add_subcommand("fit", "Fit an autoencoder and a density to pictures");
  add_image_options(*command, a->images);
  command->add_option("-o,--output", a->model,
                      "Model file (default: the folder's name with .model)");
  command
      ->add_option("--size", a->size,
                   "Side to which the middle square of each picture is resized: 8, 16, 32, 64, "
                   "128 or 256 (default: 64, or 32 if the first picture is smaller)")
      ->check(CLI::IsMember({8, 16, 32, 64, 128, 256}));
  command->add_flag("--grey", a->grey, "Without colours");
  command
      ->add_option("--latent", a->options.latent,
                   "Numbers for each picture (default: 100, or 20 below 64 x 64)")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option(
          "--epochs", a->options.training.epochs,
          "Of the autoencoder: how often it sees each picture (default 20, for few pictures "
          "as often as makes 600 steps)")
      ->check(CLI::Range(1, 100'000));
  command
      ->add_option("--rate", a->options.training.learning_rate,
                   "Learning rate of the autoencoder (default 0.001)")
      ->check(positive());
  add_training_options(*command, a->training,
                       "Of the density: dual (default of a single fit), fixed-epsilon, weighted, "
                       "mle (default of several), mle-noise, mle-entropy");
  command->footer(
      "One picture in ten is held out of both. Needs libtorch. Examples:\n"
      "  jeffreys images fit photos/ -o photos.model\n"
      "  jeffreys images fit faces/ --preset paper-100d -o faces.model     as in the paper\n"
      "  jeffreys images fit digits.npz --array train_images --latent 20 --epochs 30\n"
      "  jeffreys images fit photos/ -o photos.model --resume              after an interruption");
  command->callback([a, &globals] { run_images_fit(*a, globals); });
}

}  // namespace jeffreys::cli
