// Sheets of pictures that one looks at: what a density draws, and whether it copies.
#pragma once

#include "jeffreys/image/autoencoder.h"
#include "jeffreys/model/density.h"

namespace jeffreys::experiment {

// Numbers of an autoencoder as a density sees them, each with mean 0 and deviation 1 over the
// training pictures, and back.
struct LatentScale {
  Vector<float> mean;
  Vector<float> deviation;

  explicit LatentScale(const Matrix<float>& latent);
  [[nodiscard]] Matrix<float> standardised(const Matrix<float>& latent) const;
  [[nodiscard]] Matrix<float> original(const MatrixView<float>& rows) const;
};

// Of each row the distance to the nearest of `others`, divided by the root of the number of
// columns, so that 1 is a deviation of each number; which: place of the nearest, may be nullptr.
[[nodiscard]] Vector<double> nearest_distances(const Matrix<float>& rows,
                                               const Matrix<float>& others,
                                               std::vector<std::size_t>* which = nullptr);

class ImageSheets {
 public:
  // training: standardised numbers of the training pictures. All outlive the sheets.
  ImageSheets(const Autoencoder& autoencoder, const LatentScale& scale,
              const Matrix<float>& training_rows, const Images& training)
      : autoencoder_(autoencoder),
        scale_(scale),
        training_rows_(training_rows),
        training_(training) {}

  // From the same noise for every density with this seed: pictures at the same place belong
  // together.
  [[nodiscard]] Images samples(const jeffreys::Density<float>& density, std::uint64_t seed) const;
  // In each row a sample and the training pictures nearest to it, in the autoencoder's numbers.
  [[nodiscard]] Images nearest(const jeffreys::Density<float>& density, std::uint64_t seed) const;
  // In each row a way from one sample to another through the density's noise.
  [[nodiscard]] Images interpolations(const jeffreys::Density<float>& density,
                                      std::uint64_t seed) const;
  // A row of pictures above a row of what the autoencoder makes of them, and so on.
  [[nodiscard]] Images reconstructions(const Images& pictures) const;

 private:
  [[nodiscard]] Images decoded(const MatrixView<float>& rows) const;
  [[nodiscard]] Images sheet(const Images& pictures) const;

  const Autoencoder& autoencoder_;
  const LatentScale& scale_;
  const Matrix<float>& training_rows_;
  const Images& training_;
};

}  // namespace jeffreys::experiment
