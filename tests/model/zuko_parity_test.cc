// The flow against numbers made with PyTorch and Zuko.
#include <gtest/gtest.h>

#include "jeffreys/model/spline_flow.h"
#include "jeffreys/model/zuko_archive.h"
#include "support/golden.h"

namespace jeffreys {
namespace {

using testing::Golden;
using testing::golden_path;

class ZukoParity : public ::testing::TestWithParam<const char*> {
 protected:
  ZukoParity() : golden(GetParam()), flow(import_zuko<double>(golden_path(GetParam()))) {
    x = golden.matrix<double>("x");
    c = golden.matrix<double>("c");
  }

  Golden golden;
  SplineFlow<double> flow;
  Matrix<double> x;
  Matrix<double> c;
};

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

TEST_P(ZukoParity, LogDensities) {
  const Vector<double> expected = golden.vector<double>("log_prob");
  EXPECT_LE(largest_difference(flow.log_prob(x, c), expected), 1e-10);
}

TEST_P(ZukoParity, LogDensitiesInFloat) {
  const auto small = import_zuko<float>(golden_path(GetParam()));
  const Vector<double> expected = golden.vector<double>("log_prob");
  const Vector<float> actual = small.log_prob(x.cast<float>(), c.cast<float>());
  EXPECT_LE(largest_difference(actual.cast<double>(), expected), 3e-4);
}

TEST_P(ZukoParity, NoiseOfData) {
  const std::string last = "forward_value_" + std::to_string(flow.options().transforms - 1);
  EXPECT_LE(largest_difference(flow.to_noise(x, c), golden.matrix<double>(last)), 1e-10);
}

TEST_P(ZukoParity, SamplesFromNoise) {
  const Samples<double> samples = flow.sample_from_noise(golden.matrix<double>("z"), c);
  EXPECT_LE(largest_difference(samples.x, golden.matrix<double>("sample_from_z")), 1e-10);
  EXPECT_LE(largest_difference(samples.log_prob, golden.vector<double>("log_prob_of_sample")),
            1e-10);
}

// Where x lies on a knot to the last bit, the gradient depends on that bit; Zuko's own value moves
// by 0.9 when x moves by 1e-16.
TEST_P(ZukoParity, InputGradient) {
  Matrix<double> expected = golden.matrix<double>("grad_x_of_mean_log_prob");
  const InputGradient<double> gradient = flow.input_gradient(x, c);
  const auto rows = static_cast<double>(x.rows());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    if ((x.row(r).array().abs() == 5.0).any()) continue;
    for (Eigen::Index f = 0; f < x.cols(); ++f) {
      EXPECT_NEAR(gradient.x(r, f) / rows, expected(r, f), 1e-9 * (1 + std::abs(expected(r, f))))
          << "row " << r << ", feature " << f;
    }
  }
  if (golden.has("grad_c_of_mean_log_prob")) {
    expected = golden.matrix<double>("grad_c_of_mean_log_prob");
    EXPECT_LE(largest_difference(gradient.context / rows, expected), 1e-9);
  }
}

TEST_P(ZukoParity, ParameterGradients) {
  std::vector<double> gradient(flow.parameters().size(), 0.0);
  const Vector<double> weights =
      Vector<double>::Constant(x.rows(), 1.0 / static_cast<double>(x.rows()));
  const Vector<double> values = flow.add_scores(x, c, weights, gradient);
  EXPECT_LE(largest_difference(values, golden.vector<double>("log_prob")), 1e-10);
  for (const ParameterBlock& block : flow.layout().blocks()) {
    const std::vector<double> expected = golden.values<double>("grad." + block.name);
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    ASSERT_EQ(expected.size(), block.size);
    for (std::size_t i = 0; i < block.size; ++i) {
      ASSERT_NEAR(gradient[block.offset + i], expected[i], 1e-9 * (largest + 1e-3))
          << block.name << " [" << i << "]";
    }
  }
}

TEST_P(ZukoParity, MasksBitForBit) {
  for (const ParameterBlock& block : flow.layout().blocks()) {
    const std::vector<std::uint8_t> mask = flow.mask(block);
    const std::string name = "param." + block.name.substr(0, block.name.rfind('.')) + ".mask";
    if (mask.empty()) {
      EXPECT_TRUE(!golden.has(name) || block.name.ends_with("bias")) << block.name;
      continue;
    }
    EXPECT_EQ(mask, golden.values<std::uint8_t>(name)) << block.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Flows, ZukoParity,
                         ::testing::Values("nsf_2d.npz", "nsf_2d_gmm40.npz", "nsf_30d.npz",
                                           "nsf_cond.npz", "nsf_1d.npz", "nsf_1d_cond.npz",
                                           "nsf_5d_random.npz", "nsf_5d_cond_random.npz",
                                           "nsf_3d_wide_tails.npz", "nsf_2d_one_bin.npz",
                                           "nsf_6d_narrow.npz"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace jeffreys
