// What else decodes to the same values: the sources of a fold.
#include <cmath>
#include <utility>
#include <vector>

#include "jeffreys/table/schema.h"
#include "table/column_map.h"

namespace jeffreys {
namespace {

// Of the folded features together, standardised: flows have next to nothing farther out, where
// their tails are those of a normal distribution.
constexpr double kFarthest = 6;
// Of n features with an end in reach there are 2^n sets; more than six beyond at once are too rare.
constexpr int kMostFolded = 6;

struct Image {
  Eigen::Index feature;
  double x;
  double log_slope;
};

// The images of one row's features, and all rows that some of them make.
class RowSources {
 public:
  explicit RowSources(Eigen::RowVectorXd x) : x_(std::move(x)) {}

  void add_images(const ColumnInfo& info, const Fold& fold, const Origin& origin,
                  Eigen::Index feature) {
    const double shift = info.mean + origin.zero;
    const double value = x_[feature] * info.scale + shift;
    for (const auto& source : {fold.below(value), fold.above(value)}) {
      if (!source) continue;
      const double image = (source->value - shift) / info.scale;
      if (std::abs(image) <= kFarthest) images_.push_back({feature, image, source->log_slope});
    }
  }

  // Calls visit(x, log_slope) for each.
  template <typename Visit>
  void visit(const Visit& visitor) {
    combine({}, visitor);
  }

 private:
  struct Folded {
    std::size_t next_image = 0;
    int features = 0;
    double squared_distance = 0;
    double log_slope = 0;
  };

  // All sources that fold more features than x_ does now.
  template <typename Visit>
  void combine(const Folded& now, const Visit& visitor) {
    if (now.features == kMostFolded) return;
    for (std::size_t i = now.next_image; i < images_.size(); ++i) {
      const auto& [feature, image, slope] = images_[i];
      const double squared_distance = now.squared_distance + image * image;
      if (squared_distance > kFarthest * kFarthest) continue;
      const double own = x_[feature];
      x_[feature] = image;
      visitor(x_, now.log_slope + slope);
      // The images of a feature are next to each other.
      std::size_t next = i + 1;
      while (next < images_.size() && images_[next].feature == feature) ++next;
      combine({next, now.features + 1, squared_distance, now.log_slope + slope}, visitor);
      x_[feature] = own;
    }
  }

  Eigen::RowVectorXd x_;
  std::vector<Image> images_;
};

}  // namespace

bool Schema::folds() const {
  for (const std::size_t i : continuous_) {
    const auto& distribution = columns_[i].distribution;
    if (fold_of(columns_[i]) && distribution->support() != Bounds{}) return true;
  }
  return false;
}

Schema::Sources Schema::other_sources(const MatrixView<double>& x,
                                      const MatrixView<double>& context) const {
  Sources sources;
  std::vector<double> numbers;
  std::vector<double> log_slopes;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    RowSources row(x.row(r));
    for (std::size_t f = 0; f < continuous_.size(); ++f) {
      const ColumnInfo& info = columns_[continuous_[f]];
      const std::optional<Fold> fold = fold_of(info);
      if (!fold) continue;
      const Origin origin = info.regression.empty()
                                ? Origin{}
                                : origin_of(info, context.row(context.rows() == 1 ? 0 : r));
      row.add_images(info, *fold, origin, static_cast<Eigen::Index>(f));
    }
    row.visit([&](const Eigen::RowVectorXd& source, double log_slope) {
      sources.rows.push_back(r);
      numbers.insert(numbers.end(), source.begin(), source.end());
      log_slopes.push_back(log_slope);
    });
  }
  const auto count = static_cast<Eigen::Index>(sources.rows.size());
  sources.x = Eigen::Map<const Matrix<double>>(numbers.data(), count, x.cols());
  sources.log_slope = Eigen::Map<const Vector<double>>(log_slopes.data(), count);
  return sources;
}

}  // namespace jeffreys
