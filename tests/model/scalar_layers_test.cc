// Two ReLU layers on one number, as a table, against the layers themselves.
#include "model/scalar_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/tile.h"

namespace jeffreys {
namespace {

using kernels::AlignedVector;
using kernels::kTileRows;

constexpr std::size_t kInputs = 2;
constexpr std::size_t kColumn = 1;  // the visible one

struct Layers {
  std::size_t hidden;
  std::size_t outputs;
  std::vector<double> w1, b1, w2, b2;

  Layers(std::size_t hidden_, std::size_t outputs_, unsigned seed)
      : hidden(hidden_), outputs(outputs_) {
    std::mt19937 random(seed);
    const auto draw = [&](std::size_t size) {
      std::vector<double> values(size);
      for (double& v : values) v = static_cast<double>(random()) / 2147483648.0 - 1.0;
      return values;
    };
    w1 = draw(hidden * kInputs);
    b1 = draw(hidden);
    w2 = draw(outputs * hidden);
    b2 = draw(outputs);
  }

  [[nodiscard]] double pre1(std::size_t i, double u) const {
    return w1[i * kInputs + kColumn] * u + b1[i];
  }

  [[nodiscard]] double output(std::size_t o, double u) const {
    double z = b2[o];
    for (std::size_t i = 0; i < hidden; ++i) z += w2[o * hidden + i] * std::max(0.0, pre1(i, u));
    return z;
  }
};

template <typename T>
struct Table {
  ScalarLayers<T> layers;
  std::vector<T> w1, b1, w2, b2;

  explicit Table(const Layers& from)
      : layers(kInputs, kColumn, from.hidden, from.outputs),
        w1(from.w1.begin(), from.w1.end()),
        b1(from.b1.begin(), from.b1.end()),
        w2(from.w2.begin(), from.w2.end()),
        b2(from.b2.begin(), from.b2.end()) {
    layers.pack(w1.data(), b1.data(), w2.data(), b2.data());
  }
};

template <typename T>
AlignedVector<T> numbers() {
  AlignedVector<T> u(kTileRows);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    u[r] = static_cast<T>(-6.0 + 12.0 * static_cast<double>((r * 37) % kTileRows) / 63.0 + 1e-3);
  }
  return u;
}

template <typename T>
double forward_error(const Layers& reference) {
  const Table<T> table(reference);
  const AlignedVector<T> u = numbers<T>();
  AlignedVector<T> output(reference.outputs * kTileRows);
  AlignedVector<T> piece(kTileRows);
  table.layers.forward(u.data(), output.data(), piece.data());
  double worst = 0;
  for (std::size_t o = 0; o < reference.outputs; ++o) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const double expected = std::max(0.0, reference.output(o, static_cast<double>(u[r])));
      worst = std::max(worst, std::abs(static_cast<double>(output[o * kTileRows + r]) - expected));
    }
  }
  return worst;
}

TEST(ScalarLayers, EqualTheTwoLayers) {
  for (const std::size_t hidden : {1U, 2U, 7U, 64U, 100U}) {
    for (const std::size_t outputs : {1U, 3U, 16U, 23U, 64U}) {
      const Layers reference(hidden, outputs, static_cast<unsigned>(hidden * 100 + outputs));
      EXPECT_LE(forward_error<double>(reference), 1e-12) << hidden << " x " << outputs;
      EXPECT_LE(forward_error<float>(reference), 1e-4) << hidden << " x " << outputs;
    }
  }
}

// Weights of zero have no knot, equal units share one, and a knot may lie at infinity.
TEST(ScalarLayers, EqualTheTwoLayersWithDegenerateUnits) {
  Layers reference(9, 5, 3);
  const auto set = [&](std::size_t i, double w, double b) {
    reference.w1[i * kInputs + kColumn] = w;
    reference.b1[i] = b;
  };
  set(0, 0.0, 0.7);
  set(1, 0.0, -0.7);
  set(2, 0.0, 0.0);
  set(3, 0.5, 0.25);
  set(4, 0.5, 0.25);
  set(5, -0.5, 0.25);
  set(6, 1e-310, 1.0);
  set(7, -1e-310, -1.0);
  set(8, 1.0, 0.0);
  EXPECT_LE(forward_error<double>(reference), 1e-12);
}

TEST(ScalarLayers, NanInAWeightShows) {
  Layers reference(4, 2, 5);
  reference.w1[2 * kInputs + kColumn] = std::nan("");
  const Table<double> table(reference);
  const AlignedVector<double> u = numbers<double>();
  AlignedVector<double> ones(2 * kTileRows, 1.0);
  AlignedVector<double> output(2 * kTileRows);
  AlignedVector<double> piece(kTileRows);
  AlignedVector<double> gradient(kTileRows);
  table.layers.forward(u.data(), output.data(), piece.data());
  table.layers.backward(u.data(), piece.data(), ones.data(), gradient.data(), nullptr);
  for (const double g : gradient) EXPECT_TRUE(std::isnan(g));
}

// The gradients against their definition, summed over rows, where no row lies on a knot.
TEST(ScalarLayers, GradientsEqualTheDefinition) {
  const Layers reference(33, 21, 7);
  const Table<double> table(reference);
  const AlignedVector<double> u = numbers<double>();
  AlignedVector<double> output(reference.outputs * kTileRows);
  AlignedVector<double> piece(kTileRows);
  AlignedVector<double> du(kTileRows);
  AlignedVector<double> g(reference.outputs * kTileRows);
  for (std::size_t k = 0; k < g.size(); ++k) g[k] = std::sin(static_cast<double>(k));
  AlignedVector<double> sums(table.layers.accumulator_size(), 0.0);
  table.layers.forward(u.data(), output.data(), piece.data());
  table.layers.backward(u.data(), piece.data(), g.data(), du.data(), sums.data());

  std::vector<double> w1(reference.w1.size(), 1.0), b1(reference.b1.size(), 1.0);
  std::vector<double> w2(reference.w2.size(), 1.0), b2(reference.b2.size(), 1.0);
  table.layers.add_gradient(sums.data(), table.w1.data(), table.b1.data(), table.w2.data(),
                            w1.data(), b1.data(), w2.data(), b2.data());
  for (std::size_t i = 0; i < reference.hidden; ++i) {
    double expected_w1 = 1;
    double expected_b1 = 1;
    for (std::size_t o = 0; o < reference.outputs; ++o) {
      double expected_w2 = 1;
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const double pre = reference.pre1(i, u[r]);
        if (!(pre > 0)) continue;
        const double gradient = g[o * kTileRows + r];
        expected_w2 += gradient * pre;
        expected_w1 += gradient * reference.w2[o * reference.hidden + i] * u[r];
        expected_b1 += gradient * reference.w2[o * reference.hidden + i];
      }
      EXPECT_NEAR(w2[o * reference.hidden + i], expected_w2, 1e-11);
    }
    EXPECT_NEAR(w1[i * kInputs + kColumn], expected_w1, 1e-11);
    EXPECT_EQ(w1[i * kInputs], 1.0) << "a masked weight has no gradient";
    EXPECT_NEAR(b1[i], expected_b1, 1e-11);
  }
  for (std::size_t o = 0; o < reference.outputs; ++o) {
    double expected = 1;
    for (std::size_t r = 0; r < kTileRows; ++r) expected += g[o * kTileRows + r];
    EXPECT_NEAR(b2[o], expected, 1e-11);
  }
  for (std::size_t r = 0; r < kTileRows; ++r) {
    double expected = 0;
    for (std::size_t o = 0; o < reference.outputs; ++o) {
      for (std::size_t i = 0; i < reference.hidden; ++i) {
        if (!(reference.pre1(i, u[r]) > 0)) continue;
        expected += g[o * kTileRows + r] * reference.w2[o * reference.hidden + i] *
                    reference.w1[i * kInputs + kColumn];
      }
    }
    EXPECT_NEAR(du[r], expected, 1e-11);
  }
}

}  // namespace
}  // namespace jeffreys
