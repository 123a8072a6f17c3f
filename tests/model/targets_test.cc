// Every instruction set that the kernels were compiled for and that this machine has gives the
// numbers of the best one. Sums run in other orders and products may or may not be fused, so the
// tolerance is that of rounding: 1e-4 in float and 1e-10 in double, of the largest element of each
// result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "support/model_helpers.h"
#include "support/only_target.h"

namespace jeffreys {
namespace {

using testing::normals;
using testing::OnlyTarget;

using Results = std::vector<std::pair<std::string, Vector<double>>>;

template <typename T>
class Recorder {
 public:
  template <typename Part>
  void keep(const std::string& name, const Part& part) {
    results.emplace_back(name, Vector<double>(static_cast<Eigen::Index>(part.size())));
    std::copy_n(part.data(), part.size(), results.back().second.data());
  }

  void keep_operations(const UnnormalizedDensity<T>& model) {
    constexpr Eigen::Index kRows = 100;
    const Matrix<T> x = (1.5 * normals(kRows, model.features(), 2)).template cast<T>();
    const Matrix<T> context = normals(kRows, model.context_features(), 3).template cast<T>();
    const Vector<T> weights = normals(kRows, 1, 4).template cast<T>();
    std::vector<T> gradient(model.layout().size(), T(0));
    keep("parameters", model.parameters());
    keep("log_unnormalized", model.log_unnormalized(x, context));
    model.add_scores(x, context, weights, gradient);
    keep("add_scores", gradient);
    const InputGradient<T> inputs = model.input_gradient(x, context);
    keep("input_gradient.x", inputs.x);
    keep("input_gradient.context", inputs.context);
    if (const auto* flow = dynamic_cast<const SplineFlow<T>*>(&model)) {
      Samples<T> samples;
      flow->sample(kRows, context, {.seed = 5}, samples, KeepTape::yes);
      keep("sample.x", samples.x);
      keep("sample.log_prob", samples.log_prob);
      std::fill(gradient.begin(), gradient.end(), T(0));
      flow->add_sample_scores(samples, weights, gradient);
      keep("add_sample_scores", gradient);
      keep("to_noise", flow->to_noise(x, context));
    }
  }

  Results results;
};

template <typename T>
Results flow_results() {
  SplineFlow<T> flow({.features = 5, .context_features = 2, .hidden = {21, 19}});
  testing::add_parameter_noise(flow, 0.1, 1);
  Recorder<T> recorder;
  recorder.keep_operations(flow);
  return recorder.results;
}

// Without context the first feature of each transform has a spline for all rows, and a flow of two
// features a network of one input: other kernels.
template <typename T>
Results small_flow_results() {
  SplineFlow<T> flow({.features = 2, .hidden = {32, 32}});
  testing::add_parameter_noise(flow, 0.1, 1);
  Recorder<T> recorder;
  recorder.keep_operations(flow);
  return recorder.results;
}

template <typename T>
Results residual_results() {
  Recorder<T> recorder;
  recorder.keep_operations(ResidualEnergy<T>({.features = 3, .hidden = 37}));
  return recorder.results;
}

template <typename T>
Results film_results() {
  Recorder<T> recorder;
  recorder.keep_operations(FilmEnergy<T>({.features = 3, .context_features = 2, .hidden = 21}));
  return recorder.results;
}

struct Case {
  const char* name;
  Results (*run)();
  double tolerance;
};

void PrintTo(const Case& one, std::ostream* stream) { *stream << one.name; }

class Targets : public ::testing::TestWithParam<Case> {};

TEST_P(Targets, AgreeWithTheBest) {
  const Results expected = GetParam().run();
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    const OnlyTarget only(target);
    const Results actual = GetParam().run();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Vector<double>& best = expected[i].second;
      if (best.size() == 0) continue;
      EXPECT_LE((actual[i].second - best).cwiseAbs().maxCoeff(),
                GetParam().tolerance * best.cwiseAbs().maxCoeff())
          << expected[i].first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Targets,
                         ::testing::Values(Case{"Flow5Float", flow_results<float>, 1e-4},
                                           Case{"Flow5Double", flow_results<double>, 1e-10},
                                           Case{"Flow2Float", small_flow_results<float>, 1e-4},
                                           Case{"Flow2Double", small_flow_results<double>, 1e-10},
                                           Case{"ResidualFloat", residual_results<float>, 1e-4},
                                           Case{"ResidualDouble", residual_results<double>, 1e-10},
                                           Case{"FilmFloat", film_results<float>, 1e-4},
                                           Case{"FilmDouble", film_results<double>, 1e-10}),
                         [](const auto& test) { return test.param.name; });

// The portable fallback is among the targets: otherwise the test above might compare one with
// itself.
TEST(TargetList, IncludesThePortableOne) {
  std::int64_t all = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) all |= target;
  EXPECT_NE(all & (HWY_EMU128 | HWY_SCALAR), 0);
}

}  // namespace
}  // namespace jeffreys
