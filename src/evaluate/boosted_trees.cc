#include "evaluate/boosted_trees.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace jeffreys {
namespace {

// The defaults of scikit-learn's HistGradientBoostingClassifier.
constexpr int kRounds = 100;
constexpr double kLearningRate = 0.1;
constexpr int kLeaves = 31;
// 20 rows in a leaf at p = 1/2, where each row's p (1 - p) is 1/4.
constexpr double kLeastLeafWeight = 20 * 0.25;

void require(int status) {
  if (status == 0) return;
  const std::string message = XGBGetLastError();  // the lines after the first are a stack trace
  throw std::runtime_error("XGBoost: " + message.substr(0, message.find('\n')));
}

// Keeps XGBoost silent. Its verbosity belongs to the thread, so what the caller had comes back.
class Silence {
 public:
  Silence() {
    const char* before = nullptr;
    require(XGBGetGlobalConfig(&before));
    before_ = before;
    require(XGBSetGlobalConfig(R"({"verbosity": 0})"));
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { XGBSetGlobalConfig(before_.c_str()); }

 private:
  std::string before_;
};

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using TreeMatrix = std::unique_ptr<std::remove_pointer_t<DMatrixHandle>, FreeMatrix>;
using Booster = std::unique_ptr<std::remove_pointer_t<BoosterHandle>, FreeBooster>;

TreeMatrix make_matrix(const Matrix<float>& x) {
  DMatrixHandle handle = nullptr;
  require(XGDMatrixCreateFromMat_omp(x.data(), static_cast<bst_ulong>(x.rows()),
                                     static_cast<bst_ulong>(x.cols()),
                                     std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  return TreeMatrix(handle);
}

Booster make_booster(const TreeMatrix& training, double positive_share) {
  const std::array<DMatrixHandle, 1> cached = {training.get()};
  BoosterHandle handle = nullptr;
  require(XGBoosterCreate(cached.data(), cached.size(), &handle));
  Booster booster(handle);
  const auto set = [&](const char* name, const std::string& value) {
    require(XGBoosterSetParam(booster.get(), name, value.c_str()));
  };
  set("objective", "binary:logistic");
  set("base_score", fmt::format("{}", positive_share));
  set("tree_method", "hist");
  set("grow_policy", "lossguide");
  set("max_leaves", fmt::format("{}", kLeaves));
  set("max_depth", "0");
  set("max_bin", fmt::format("{}", kMostBins + 1));
  set("eta", fmt::format("{}", kLearningRate));
  set("lambda", "0");
  set("min_child_weight", fmt::format("{}", kLeastLeafWeight));
  set("nthread", "1");
  return booster;
}

}  // namespace

std::vector<float> boosted_tree_probabilities(const Matrix<float>& training,
                                              const std::vector<float>& labels,
                                              const Matrix<float>& test) {
  const Silence silence;
  const TreeMatrix train_rows = make_matrix(training);
  require(XGDMatrixSetFloatInfo(train_rows.get(), "label", labels.data(), labels.size()));
  const double positive = std::accumulate(labels.begin(), labels.end(), 0.0);
  const Booster booster = make_booster(train_rows, positive / static_cast<double>(labels.size()));
  for (int round = 0; round < kRounds; ++round) {
    require(XGBoosterUpdateOneIter(booster.get(), round, train_rows.get()));
  }

  const TreeMatrix test_rows = make_matrix(test);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* probabilities = nullptr;
  require(XGBoosterPredictFromDMatrix(booster.get(), test_rows.get(),
                                      R"({"type": 0, "training": false, "iteration_begin": 0,
                                          "iteration_end": 0, "strict_shape": false})",
                                      &shape, &dimensions, &probabilities));
  return {probabilities, probabilities + test.rows()};
}

std::string boosted_trees_definition() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return fmt::format(
      "XGBoost {}.{}.{} hist in place of scikit-learn's HistGradientBoostingClassifier "
      "({} rounds, learning rate {}, {} leaves, {} bins, no L2, leaf weight of at least {})",
      major, minor, patch, kRounds, kLearningRate, kLeaves, kMostBins, kLeastLeafWeight);
}

}  // namespace jeffreys
