// A density over pictures: an autoencoder, and a density of the numbers that it makes of them. One
// file holds both.
#pragma once

#include <filesystem>
#include <string>

#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/image/autoencoder.h"

namespace jeffreys {

// How usual pictures are, one entry for each. A p-value is the share of held-out pictures that
// would be as unusual; p_value, from both, is small if either is: twice the smaller one.
struct ImageScores {
  Vector<double> log_prob;    // of the latent numbers, in nats
  Vector<double> p_log_prob;  // NaN if no pictures were held out, as the others
  Vector<double> error;       // mean squared error of what the autoencoder makes of the picture
  Vector<double> p_error;
  Vector<double> p_value;

  // Places from the most unusual to the most usual: by p_value, then by log_prob.
  [[nodiscard]] std::vector<std::size_t> unusual_first() const;
};

class ImageDensity {
 public:
  // Throws std::invalid_argument unless the density is one of as many numbers as the autoencoder
  // makes, which latent_table() names.
  ImageDensity(Autoencoder autoencoder, TabularDensity<float> density);

  [[nodiscard]] const Autoencoder& autoencoder() const { return autoencoder_; }
  [[nodiscard]] const TabularDensity<float>& density() const { return density_; }
  [[nodiscard]] TabularDensity<float>& edit_density() { return density_; }
  void use_threads(const std::shared_ptr<ThreadPool>& pool);

  // Errors of pictures that neither the autoencoder nor the density has seen, in any order: what
  // new ones are compared with.
  void set_held_out_errors(Vector<double> errors);
  [[nodiscard]] const Vector<double>& held_out_errors() const { return held_out_errors_; }

  [[nodiscard]] Images sample(std::size_t count, std::uint64_t seed,
                              std::optional<From> from = {}) const;
  [[nodiscard]] ImageScores score(const Images& images, std::optional<From> from = {}) const;

  void save(const std::filesystem::path& path) const;
  // Throws InputError for a file without an autoencoder, and what load_autoencoder_network does.
  static ImageDensity load(const std::filesystem::path& path);

 private:
  Autoencoder autoencoder_;
  TabularDensity<float> density_;
  Vector<double> held_out_errors_;  // in increasing order
};

// Latent numbers as a table with the columns z1, z2, ..., and back.
[[nodiscard]] Table latent_table(const MatrixView<float>& latent);
[[nodiscard]] Matrix<float> latent_numbers(const Table& table, std::size_t latent);

}  // namespace jeffreys
