// Densities of what an autoencoder makes of pictures (appendix ap:img_sampling): the held-out NLL
// of these numbers, which are standardised over the training pictures, and how far decoded samples
// are from real pictures.
#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "experiment/image_networks.h"
#include "experiment/image_sheets.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/evaluate/divergence.h"
#include "jeffreys/evaluate/frechet_distance.h"
#include "jeffreys/image/image_file.h"
#include "jeffreys/objective/importance.h"
#include "kernels/random.h"

namespace jeffreys::experiment {
namespace {

// Training rows whose NLL is on the curve: with the paper's energy model all of them take seconds.
constexpr Eigen::Index kMeasuredRows = 1000;

// Of real pictures. The mean over them is known to a seventh of the deviation of one.
constexpr int kCuts = 50;

double median(Vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Rows of the one Gaussian with the moments of these.
Matrix<float> gaussian_rows(const Matrix<float>& like, Eigen::Index count, std::uint64_t seed) {
  const FeatureMoments moments(like.cast<double>());
  const Eigen::LLT<Eigen::MatrixXd> root(moments.covariance());
  Matrix<double> noise(count, like.cols());
  kernels::fill_normals(kernels::RandomArguments<double>{{seed, kImageSamples, 1},
                                                         0,
                                                         static_cast<std::size_t>(count),
                                                         static_cast<std::size_t>(like.cols()),
                                                         noise.data()});
  const Matrix<double> rows = noise * root.matrixL().transpose();
  return (rows.rowwise() + moments.mean().transpose()).cast<float>();
}

class ImageWorkload final : public Workload {
 public:
  ImageWorkload(TrainingData<float> rows, Matrix<float> test, Matrix<float> all_rows,
                const LatentScale& scale, Pictures pictures, ImageNetworks networks, const Job& job,
                std::filesystem::path folder)
      : Workload(std::move(rows), std::move(test), Matrix<float>(job.test_rows, 0), job.seed),
        all_rows_(std::move(all_rows)),
        scale_(scale),
        pictures_(std::move(pictures)),
        networks_(std::move(networks)),
        zeta_samples_(job.options.train.zeta.samples),
        folder_(std::move(folder)),
        data_(job.data) {
    for (const Judge& judge : networks_.judges) {
      held_out_features_.push_back(judge.features(pictures_.held_out));
    }
  }

  [[nodiscard]] Numbers measure(const Models& models) const override {
    Numbers numbers;
    const bool energy = has_energy(models);
    const ImportanceSamples drawn = drawn_from(models);
    measure_nll(models.main, models.name("main"), 0, numbers, kMeasuredRows);
    note_distances(models.name("main"), drawn.samples.x.topRows(test_.rows()), numbers);
    if (models.proxy == nullptr) return numbers;
    const std::string name = models.name("proxy");
    measure_nll(*models.proxy, name, drawn.log_zeta, numbers, kMeasuredRows);
    if (energy) note_zeta(name, drawn.log_weights, numbers);
    return numbers;
  }

  [[nodiscard]] Numbers measure_last(const Models& models) const override {
    Numbers numbers = real_distances();
    const Samples<float> drawn = models.main.sample(all_rows_.rows(), {seed_, kImageSamples, 2});
    note_intervals(models.name("main"), drawn_from(models).samples.x.topRows(test_.rows()),
                   numbers);
    const Matrix<float> gaussian = gaussian_rows(all_rows_, test_.rows(), seed_);
    note_distances("gaussian.", gaussian, numbers);
    note_intervals("gaussian.", gaussian, numbers);
    if (drawn.x.allFinite()) note_training_distances(drawn.x, numbers);
    const AutoencoderEpoch& epoch = networks_.autoencoder->epochs.back();
    numbers["autoencoder.training_error"] = epoch.training_error;
    numbers["autoencoder.held_out_error"] = epoch.held_out_error;
    numbers["pictures.training"] = static_cast<double>(pictures_.training.count);
    numbers["pictures.held_out"] = static_cast<double>(pictures_.held_out.count);
    return numbers;
  }

  void draw_pictures(const Models& models, const std::string& name) const override {
    std::filesystem::create_directories(folder_);
    const ImageSheets sheets(autoencoder(), scale_, all_rows_, pictures_.training);
    const auto write = [&](const std::string& file, const Images& sheet) {
      write_png(folder_ / (file + ".png"), sheet);
    };
    write(data_ + "-reconstructions", sheets.reconstructions(pictures_.held_out));
    write(name + "-samples", sheets.samples(models.main, seed_));
    write(name + "-nearest", sheets.nearest(models.main, seed_));
    write(name + "-interpolations", sheets.interpolations(models.main, seed_));
  }

  [[nodiscard]] Numbers machine() const override {
    return {{"autoencoder_seconds", networks_.autoencoder->processor_seconds},
            {"judge_seconds", networks_.judge_seconds}};
  }

 private:
  [[nodiscard]] const Autoencoder& autoencoder() const {
    return networks_.autoencoder->autoencoder;
  }

  [[nodiscard]] static bool has_energy(const Models& models) {
    return models.proxy != nullptr && !models.proxy->normalized();
  }

  // The same noise at every measurement: as many as zeta and the distances need.
  [[nodiscard]] ImportanceSamples drawn_from(const Models& models) const {
    const Eigen::Index rows =
        has_energy(models) ? std::max(zeta_samples_, test_.rows()) : test_.rows();
    return importance_samples(models, rows, seed_);
  }

  // Of pictures decoded from these rows to the held-out ones, as many of both. Nothing where a
  // model has come apart.
  void note_distances(const std::string& name, const Matrix<float>& rows, Numbers& numbers) const {
    if (!rows.allFinite()) return;
    const Images made = autoencoder().decode(scale_.original(rows));
    for (std::size_t j = 0; j < networks_.judges.size(); ++j) {
      const Judge& judge = networks_.judges[j];
      numbers[name + "distance_" + judge.name] =
          frechet_distance(judge.features(made), held_out_features_[j]);
    }
  }

  // What chance among so few pictures, real and made, does to these distances.
  void note_intervals(const std::string& name, const Matrix<float>& rows, Numbers& numbers) const {
    if (!rows.allFinite()) return;
    const Images made = autoencoder().decode(scale_.original(rows));
    for (std::size_t j = 0; j < networks_.judges.size(); ++j) {
      const Judge& judge = networks_.judges[j];
      const FrechetInterval interval =
          frechet_interval(judge.features(made), held_out_features_[j]);
      const std::string column = name + "distance_" + judge.name;
      numbers[column + "_lower"] = interval.lower;
      numbers[column + "_upper"] = interval.upper;
      numbers[column + "_bias"] = interval.bias;
    }
  }

  static void note_zeta(const std::string& name, const Vector<double>& log_weights,
                        Numbers& numbers) {
    const ZetaEstimate zeta = estimate_zeta(log_weights);
    numbers[name + "log_zeta"] = zeta.log_zeta;
    numbers[name + "log_zeta_lower"] = std::log(zeta.lower);
    numbers[name + "log_zeta_upper"] = std::log(zeta.upper);
    numbers[name + "effective_sample_size"] = zeta.effective_sample_size;
    numbers[name + "pareto_k"] =
        pareto_k({log_weights.data(), static_cast<std::size_t>(log_weights.size())});
  }

  // What belongs beside every distance: between halves of the held-out pictures, between training
  // and held-out ones, and what the autoencoder alone does to the latter.
  [[nodiscard]] Numbers real_distances() const {
    Numbers numbers;
    note_distances("reconstructed.", test_, numbers);
    for (std::size_t j = 0; j < networks_.judges.size(); ++j) {
      const Judge& judge = networks_.judges[j];
      const HalvesDistance halves =
          frechet_between_halves(held_out_features_[j], {.resamples = kCuts});
      numbers["halves.distance_" + judge.name] = halves.mean;
      numbers["halves.deviation_" + judge.name] = halves.standard_deviation;
      const Matrix<double> features = judge.features(pictures_.training);
      numbers["training.distance_" + judge.name] =
          frechet_distance(features, held_out_features_[j]);
    }
    return numbers;
  }

  // Of as many samples as there are training pictures to these, as the usual FID is taken; and
  // whether samples are nearer to training pictures than held-out pictures are.
  void note_training_distances(const Matrix<float>& samples, Numbers& numbers) const {
    const Images made = autoencoder().decode(scale_.original(samples));
    for (const Judge& judge : networks_.judges) {
      numbers["to_training.distance_" + judge.name] =
          frechet_distance(judge.features(made), judge.features(pictures_.training));
    }
    const Matrix<float> some = samples.topRows(std::min(samples.rows(), test_.rows()));
    numbers["nearest.samples"] = median(nearest_distances(some, all_rows_));
    numbers["nearest.held_out"] = median(nearest_distances(test_, all_rows_));
  }

  Matrix<float> all_rows_;  // of all training pictures, those for validation too
  LatentScale scale_;
  Pictures pictures_;
  ImageNetworks networks_;
  Eigen::Index zeta_samples_;
  std::filesystem::path folder_;
  std::string data_;
  std::vector<Matrix<double>> held_out_features_;  // one for each judge
};

}  // namespace

std::unique_ptr<Workload> make_image_workload(const Job& job, const JobContext& context) {
  context.tell_stage("reads pictures");
  Pictures pictures = read_pictures(job, context);
  ImageNetworks networks = make_image_networks(pictures, job, context);
  context.tell_stage("");
  const Autoencoder& autoencoder = networks.autoencoder->autoencoder;
  const Matrix<float> latent = autoencoder.encode(pictures.training);
  const LatentScale scale(latent);
  Matrix<float> rows = scale.standardised(latent);
  Matrix<float> test = scale.standardised(autoencoder.encode(pictures.held_out));
  TrainingData<float> training =
      split_validation(job, rows.cast<double>(), Matrix<double>(rows.rows(), 0));
  return std::make_unique<ImageWorkload>(std::move(training), std::move(test), std::move(rows),
                                         scale, std::move(pictures), std::move(networks), job,
                                         context.folder / "pictures");
}

}  // namespace jeffreys::experiment
