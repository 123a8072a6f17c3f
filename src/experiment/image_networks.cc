#include "experiment/image_networks.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "jeffreys/image/image_set.h"
#include "jeffreys/storage/file_lock.h"

namespace jeffreys::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kModelSeed = 0;
constexpr std::uint64_t kJudgeSeed = 1;

// Waits until nobody else holds it.
std::unique_ptr<storage::FileLock> lock_file(const fs::path& file, const JobContext& context) {
  fs::create_directories(file.parent_path());
  for (;;) {
    auto lock = std::make_unique<storage::FileLock>(file.string() + ".lock");
    if (lock->held()) return lock;
    context.tell_stage(fmt::format("waits for {}", file.stem().string()));
    if (context.should_stop && context.should_stop()) {
      throw Interrupted("interrupted while another run made a network");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// A finished one is its own last checkpoint.
std::shared_ptr<const AutoencoderFit> shared_autoencoder(const fs::path& file,
                                                         const Images& training,
                                                         const Images& held_out, const Job& job,
                                                         std::uint64_t seed,
                                                         const JobContext& context) {
  const auto lock = lock_file(file, context);
  const AutoencoderOptions options{.size = training.height,
                                   .channels = training.channels,
                                   .latent = job.autoencoder.latent,
                                   .seed = seed};
  auto fit = std::make_shared<AutoencoderFit>(train_autoencoder(
      training, held_out, options, {.epochs = job.autoencoder.epochs, .seed = seed},
      {.threads = context.threads,
       .checkpoint = file,
       .checkpoint_seconds = context.checkpoint_seconds,
       .resume = true,
       .on_step =
           [&](const AutoencoderProgress& p) {
             context.tell_stage(
                 fmt::format("autoencoder {} {} %", file.stem().string(), 100 * p.step / p.steps));
           },
       .should_stop = context.should_stop},
      load_autoencoder_network(options)));
  if (fit->interrupted) throw Interrupted("interrupted while an autoencoder was trained");
  if (fit->diverged) {
    throw std::runtime_error(fmt::format("{}: the autoencoder diverged", file.string()));
  }
  fit->autoencoder.use_threads(nullptr);
  return fit;
}

Judge encoder_judge(const char* name, const std::shared_ptr<const AutoencoderFit>& fit) {
  return {name, [fit](const Images& images) -> Matrix<double> {
            return fit->autoencoder.encode(images).cast<double>();
          }};
}

Judge classifier_judge(const fs::path& file, const LabelledImages& labelled,
                       const JobContext& context) {
  const auto lock = lock_file(file, context);
  context.tell_stage(fmt::format("classifier {}", file.stem().string()));
  const std::shared_ptr<ClassifierFeatures> classifier = load_classifier_features(file, labelled);
  return {"classifier",
          [classifier](const Images& images) { return classifier->features(images); }};
}

}  // namespace

ImageNetworks make_image_networks(const Pictures& pictures, const Job& job,
                                  const JobContext& context) {
  const fs::path folder = context.folder / "networks";
  ImageNetworks networks;
  networks.autoencoder = shared_autoencoder(folder / (job.data + ".safetensors"), pictures.training,
                                            pictures.held_out, job, kModelSeed, context);
  networks.judges.push_back(encoder_judge("encoder", networks.autoencoder));
  // The same for any number of training pictures, where there are enough others.
  const LabelledImages& others = pictures.others;
  const bool common = others.images.count == job.autoencoder.others;
  const fs::path judge = folder / ((common ? job.source : job.data) + "-judge.safetensors");
  if (!others.labels.empty()) {
    networks.judges.push_back(classifier_judge(judge, others, context));
    return networks;
  }
  const auto second = shared_autoencoder(judge, common ? others.images : pictures.training,
                                         pictures.held_out, job, kJudgeSeed, context);
  networks.judges.push_back(encoder_judge("second_encoder", second));
  networks.judge_seconds = second->processor_seconds;
  return networks;
}

}  // namespace jeffreys::experiment
