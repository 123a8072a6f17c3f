#include "experiment/image_sheets.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys::experiment {
namespace {

constexpr std::size_t kColumns = 8;
constexpr std::size_t kRows = 8;

// Squared distances [rows, others].
Matrix<float> squared_distances(const Matrix<float>& rows, const Matrix<float>& others) {
  Matrix<float> squared = -2.0F * rows * others.transpose();
  squared.colwise() += rows.rowwise().squaredNorm();
  squared.rowwise() += others.rowwise().squaredNorm().transpose();
  return squared;
}

// Standard normal numbers of which row r is the same for every number of rows.
Matrix<float> noise_of(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Matrix<float> noise(rows, columns);
  kernels::fill_normals(kernels::RandomArguments<float>{{seed, kImageSamples, 0},
                                                        0,
                                                        static_cast<std::size_t>(rows),
                                                        static_cast<std::size_t>(columns),
                                                        noise.data()});
  return noise;
}

// Several sets one behind the other.
void append(Images& all, const Images& more) {
  if (all.count == 0) {
    all = more;
    return;
  }
  all.count += more.count;
  all.pixels.insert(all.pixels.end(), more.pixels.begin(), more.pixels.end());
}

}  // namespace

LatentScale::LatentScale(const Matrix<float>& latent) {
  mean = latent.colwise().mean().transpose();
  deviation = ((latent.rowwise() - mean.transpose()).colwise().squaredNorm().transpose() /
               static_cast<float>(latent.rows()))
                  .cwiseSqrt();
  // A number that never changes carries nothing.
  deviation = (deviation.array() > 0).select(deviation, 1.0F);
}

Matrix<float> LatentScale::standardised(const Matrix<float>& latent) const {
  return (latent.rowwise() - mean.transpose()).array().rowwise() / deviation.transpose().array();
}

Matrix<float> LatentScale::original(const MatrixView<float>& rows) const {
  const Matrix<float> wide = rows.array().rowwise() * deviation.transpose().array();
  return wide.rowwise() + mean.transpose();
}

Vector<double> nearest_distances(const Matrix<float>& rows, const Matrix<float>& others,
                                 std::vector<std::size_t>* which) {
  const Matrix<float> squared = squared_distances(rows, others);
  Vector<double> nearest(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    Eigen::Index place = 0;
    const double least = std::max(0.0F, squared.row(i).minCoeff(&place));
    nearest(i) = std::sqrt(least / static_cast<double>(rows.cols()));
    if (which != nullptr) which->push_back(static_cast<std::size_t>(place));
  }
  return nearest;
}

Images ImageSheets::decoded(const MatrixView<float>& rows) const {
  return autoencoder_.decode(scale_.original(rows));
}

Images ImageSheets::sheet(const Images& pictures) const {
  return contact_sheet(pictures, kColumns, pictures.height < 64 ? 2 : 1);
}

Images ImageSheets::samples(const jeffreys::Density<float>& density, std::uint64_t seed) const {
  return sheet(decoded(
      density.sample_from_noise(noise_of(kRows * kColumns, density.noise_features(), seed)).x));
}

Images ImageSheets::nearest(const jeffreys::Density<float>& density, std::uint64_t seed) const {
  const Matrix<float> rows =
      density.sample_from_noise(noise_of(kRows, density.noise_features(), seed)).x;
  const Matrix<float> squared = squared_distances(rows, training_rows_);
  const Images drawn = decoded(rows);
  Images all;
  std::vector<std::size_t> order(training_.count);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::size_t one[] = {r};
    append(all, take_images(drawn, one));
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto shown = static_cast<std::ptrdiff_t>(std::min(kColumns - 1, order.size()));
    std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const auto row = static_cast<Eigen::Index>(r);
                        return squared(row, static_cast<Eigen::Index>(a)) <
                               squared(row, static_cast<Eigen::Index>(b));
                      });
    append(all, take_images(training_, std::span(order).first(static_cast<std::size_t>(shown))));
  }
  return sheet(all);
}

Images ImageSheets::interpolations(const jeffreys::Density<float>& density,
                                   std::uint64_t seed) const {
  const Matrix<float> ends = noise_of(2 * kRows, density.noise_features(), seed);
  Matrix<float> way(kRows * kColumns, ends.cols());
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      // On a quarter of a circle the noise is as long all the way, and as likely.
      const double angle =
          std::numbers::pi / 2 * static_cast<double>(c) / static_cast<double>(kColumns - 1);
      way.row(static_cast<Eigen::Index>(r * kColumns + c)) =
          static_cast<float>(std::cos(angle)) * ends.row(static_cast<Eigen::Index>(2 * r)) +
          static_cast<float>(std::sin(angle)) * ends.row(static_cast<Eigen::Index>(2 * r + 1));
    }
  }
  return sheet(decoded(density.sample_from_noise(way).x));
}

Images ImageSheets::reconstructions(const Images& pictures) const {
  Images all;
  const std::size_t rows = std::min(pictures.count / kColumns, kRows / 2);
  for (std::size_t first = 0; first < rows * kColumns; first += kColumns) {
    std::vector<std::size_t> row(kColumns);
    std::iota(row.begin(), row.end(), first);
    const Images originals = take_images(pictures, row);
    append(all, originals);
    append(all, autoencoder_.decode(autoencoder_.encode(originals)));
  }
  return sheet(all);
}

}  // namespace jeffreys::experiment
