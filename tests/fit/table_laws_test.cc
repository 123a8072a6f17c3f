// What must hold for every table: probabilities sum and integrate to 1, samples follow them, scores
// do not depend on the order of rows, and no fit beats the source that rows were drawn from.
//
// A source draws one of two groups, and then each column by itself, so that columns depend on one
// another and the exact density is a sum of two products.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>

#include "jeffreys/fit/fit_table.h"

namespace jeffreys {
namespace {

constexpr std::size_t kTrainingRows = 300;

// Rows that judge the fit against its source; the environment can ask for more.
std::size_t fresh_rows() {
  const char* text = std::getenv("JEFFREYS_FRESH_ROWS");
  return text == nullptr ? 2000 : static_cast<std::size_t>(std::atoll(text));
}

using Random = std::mt19937_64;

double uniform(Random& random) { return std::uniform_real_distribution<double>(0, 1)(random); }
double normal(Random& random) { return std::normal_distribution<double>()(random); }
double upper_tail_of(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

// A point of a column and how much of its measure it stands for: the width of a step of a grid, or
// 1 for a class and for a value on a lattice, times its step.
struct Point {
  double value;
  double width;
};

class ColumnKindOfTest {
 public:
  virtual ~ColumnKindOfTest() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual double draw(int group, Random& random) const = 0;
  // Of a value on a lattice: its probability over the step.
  [[nodiscard]] virtual double density(int group, double value) const = 0;
  // That cover all of it.
  [[nodiscard]] virtual std::vector<Point> points() const = 0;
  [[nodiscard]] virtual Bounds bounds() const { return {}; }
  [[nodiscard]] virtual bool categorical() const { return false; }
};

class Normal final : public ColumnKindOfTest {
 public:
  [[nodiscard]] std::string name() const override { return "normal"; }
  [[nodiscard]] double draw(int group, Random& random) const override {
    return 3 * group + normal(random);
  }
  [[nodiscard]] double density(int group, double value) const override {
    const double z = value - 3 * group;
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }
  [[nodiscard]] std::vector<Point> points() const override {
    std::vector<Point> all;
    constexpr int kCount = 160;
    for (int i = 0; i < kCount; ++i) all.push_back({-12 + 27.0 * i / kCount, 27.0 / kCount});
    return all;
  }
};

// Even in the logarithm, so that both the bound and the tail are resolved.
std::vector<Point> positive_points() {
  std::vector<Point> all;
  constexpr int kCount = 200;
  constexpr double kStep = 24.0 / kCount;
  for (int i = 0; i < kCount; ++i) {
    const double value = std::exp(-16 + kStep * i);
    all.push_back({value, value * kStep});
  }
  return all;
}

class Positive final : public ColumnKindOfTest {
 public:
  [[nodiscard]] std::string name() const override { return "positive"; }
  [[nodiscard]] double draw(int group, Random& random) const override {
    return -(1 + 2 * group) * std::log(uniform(random));
  }
  [[nodiscard]] double density(int group, double value) const override {
    return std::exp(-value / (1 + 2 * group)) / (1 + 2 * group);
  }
  [[nodiscard]] std::vector<Point> points() const override { return positive_points(); }
  [[nodiscard]] Bounds bounds() const override { return {.lower = 0}; }
};

class Share final : public ColumnKindOfTest {
 public:
  [[nodiscard]] std::string name() const override { return "share"; }
  [[nodiscard]] double draw(int group, Random& random) const override {
    return group == 0 ? uniform(random) : std::sqrt(uniform(random));
  }
  [[nodiscard]] double density(int group, double value) const override {
    return group == 0 ? 1 : 2 * value;
  }
  [[nodiscard]] std::vector<Point> points() const override {
    std::vector<Point> all;
    constexpr int kCount = 200;
    constexpr double kStep = 24.0 / kCount;
    for (int i = 0; i <= kCount; ++i) {
      const double value = 1 / (1 + std::exp(12 - kStep * i));
      all.push_back({value, value * (1 - value) * kStep});
    }
    return all;
  }
  [[nodiscard]] Bounds bounds() const override { return {0, 1}; }
};

// Normal numbers that are rounded to a step, with or without bounds on the lattice.
class Rounded final : public ColumnKindOfTest {
 public:
  Rounded(std::string name, double step, double deviation, Bounds bounds = {})
      : name_(std::move(name)), step_(step), deviation_(deviation), bounds_(bounds) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] double draw(int group, Random& random) const override {
    const double value = (1 + 2 * group + deviation_ * normal(random)) / step_;
    return std::clamp(std::round(value) * step_, bounds_.lower, bounds_.upper);
  }
  [[nodiscard]] double density(int group, double value) const override {
    const auto above = [&](double edge) {
      return upper_tail_of((edge - 1 - 2 * group) / deviation_);
    };
    const double lower = value <= bounds_.lower ? 1 : above(value - step_ / 2);
    const double upper = value >= bounds_.upper ? 0 : above(value + step_ / 2);
    return (lower - upper) / step_;
  }
  [[nodiscard]] std::vector<Point> points() const override {
    std::vector<Point> all;
    const double first = std::max(bounds_.lower, std::round((1 - 12 * deviation_) / step_) * step_);
    const double last = std::min(bounds_.upper, 3 + 12 * deviation_);
    for (int i = 0; first + i * step_ <= last + step_ / 2; ++i) {
      all.push_back({std::round((first + i * step_) / step_) * step_, step_});
    }
    return all;
  }
  [[nodiscard]] Bounds bounds() const override { return bounds_; }

 private:
  std::string name_;
  double step_;
  double deviation_;
  Bounds bounds_;
};

class Label final : public ColumnKindOfTest {
 public:
  explicit Label(int classes) : classes_(classes) {}
  [[nodiscard]] std::string name() const override { return "label" + std::to_string(classes_); }
  [[nodiscard]] double draw(int group, Random& random) const override {
    double left = uniform(random);
    int code = 0;
    while (code + 1 < classes_ && (left -= density(group, code)) > 0) ++code;
    return code;
  }
  [[nodiscard]] double density(int group, double value) const override {
    const double place = group == 0 ? value : classes_ - 1 - value;
    return (place + 1) / (0.5 * classes_ * (classes_ + 1));
  }
  [[nodiscard]] std::vector<Point> points() const override {
    std::vector<Point> all;
    // One more: all labels that were never seen.
    for (int code = 0; code <= classes_; ++code) all.push_back({static_cast<double>(code), 1});
    return all;
  }
  [[nodiscard]] bool categorical() const override { return true; }

 private:
  int classes_;
};

// 0 in many rows, exponential in the others.
class Spike final : public ColumnKindOfTest {
 public:
  [[nodiscard]] std::string name() const override { return "spike"; }
  [[nodiscard]] double draw(int group, Random& random) const override {
    return uniform(random) < share(group) ? 0 : -2 * std::log(uniform(random));
  }
  [[nodiscard]] double density(int group, double value) const override {
    return value == 0 ? share(group) : (1 - share(group)) * std::exp(-value / 2) / 2;
  }
  [[nodiscard]] std::vector<Point> points() const override {
    std::vector<Point> all = positive_points();
    all.push_back({0, 1});
    return all;
  }
  [[nodiscard]] Bounds bounds() const override { return {.lower = 0}; }

 private:
  static double share(int group) { return group == 0 ? 0.6 : 0.2; }
};

using Columns = std::vector<std::shared_ptr<const ColumnKindOfTest>>;

// Columns of the same name get a number.
std::string column_name(const Columns& columns, std::size_t j) {
  return columns[j]->name() + "_" + std::to_string(j);
}

Table table_of(const Columns& columns, const std::vector<std::vector<double>>& rows) {
  Table table{"test", {}, {}};
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Column column{.name = column_name(columns, j)};
    for (const auto& row : rows) column.numbers.push_back(row[j]);
    table.columns.push_back(std::move(column));
  }
  return table;
}

std::vector<std::vector<double>> draw_rows(const Columns& columns, std::size_t count,
                                           std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> rows(count);
  for (auto& row : rows) {
    const int group = uniform(random) < 0.5 ? 0 : 1;
    for (const auto& column : columns) row.push_back(column->draw(group, random));
  }
  return rows;
}

double log_density(const Columns& columns, const std::vector<double>& row) {
  double sum = 0;
  for (const int group : {0, 1}) {
    double product = 0.5;
    for (std::size_t j = 0; j < columns.size(); ++j) product *= columns[j]->density(group, row[j]);
    sum += product;
  }
  return std::log(sum);
}

std::vector<Columns> all_tables() {
  const auto normal_column = std::make_shared<Normal>();
  const auto positive = std::make_shared<Positive>();
  const auto share = std::make_shared<Share>();
  const auto whole = std::make_shared<Rounded>("whole", 1, 2.0);
  const auto stars = std::make_shared<Rounded>("stars", 1, 1.2, Bounds{1, 5});
  const auto count = std::make_shared<Rounded>("count", 1, 2.0, Bounds{.lower = 0});
  const auto rounded = std::make_shared<Rounded>("rounded", 0.5, 0.8);
  const auto two = std::make_shared<Label>(2);
  const auto four = std::make_shared<Label>(4);
  const auto spike = std::make_shared<Spike>();
  return {{normal_column},
          {positive},
          {share},
          {whole},
          {stars},
          {count},
          {rounded},
          {two},
          {four},
          {spike},
          {normal_column, positive},
          {normal_column, share},
          {normal_column, whole},
          {normal_column, stars},
          {normal_column, two},
          {normal_column, four},
          {normal_column, spike},
          {positive, share},
          {positive, count},
          {positive, four},
          {share, stars},
          {share, rounded},
          {share, two},
          {whole, four},
          {whole, stars},
          {stars, two},
          {stars, stars},
          {count, rounded},
          {count, spike},
          {rounded, four},
          {two, four},
          {four, four},
          {two, spike},
          {normal_column, two, four},
          {positive, stars, two},
          {share, four, two},
          {stars, two, four},
          {stars, spike, two},
          {two, four, four},
          {normal_column, stars, four}};
}

class TableLaws : public ::testing::TestWithParam<std::size_t> {
 protected:
  TableLaws() : columns_(all_tables()[GetParam()]), rows_(draw_rows(columns_, kTrainingRows, 7)) {}

  [[nodiscard]] TableFit fitted(const std::vector<std::vector<double>>& rows) const {
    SchemaOptions options;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const std::string name = column_name(columns_, j);
      if (columns_[j]->bounds() != Bounds{}) options.bounds[name] = columns_[j]->bounds();
      if (columns_[j]->categorical()) options.categorical.push_back(name);
    }
    ChosenSettings settings;
    for (const char* text : {"iterations=150", "flow.transforms=2", "flow.hidden=16",
                             "learning_rate.main=0.01", "learning_rate.proxy=0.01"}) {
      settings.add_text(text, "test");
    }
    // Some of them by several fits and simple models.
    const bool several = columns_.size() < 3 && GetParam() % 4 == 0;
    settings.add("members", several ? "4" : "1", "test");
    return fit_table(table_of(columns_, rows), options, settings);
  }

  [[nodiscard]] Vector<double> scores(const TableFit& fit,
                                      const std::vector<std::vector<double>>& rows) const {
    return fit.fit.density.log_prob(table_of(columns_, rows), From::main, Unusual::keep).log_prob;
  }

  // All values of all columns, with their probabilities by the fit.
  struct Grid {
    std::vector<std::vector<double>> rows = std::vector<std::vector<double>>(1);
    Vector<double> probability = {};

    // That column j is at most this.
    [[nodiscard]] double up_to(std::size_t j, double edge) const {
      double sum = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i][j] <= edge) sum += probability(static_cast<Eigen::Index>(i));
      }
      return sum;
    }
  };
  [[nodiscard]] Grid grid_of(const TableFit& fit) const {
    Grid grid;
    std::vector<double> widths(1, 1);
    for (const auto& column : columns_) {
      std::vector<std::vector<double>> longer;
      std::vector<double> products;
      for (std::size_t i = 0; i < grid.rows.size(); ++i) {
        for (const auto& [value, width] : column->points()) {
          longer.push_back(grid.rows[i]);
          longer.back().push_back(value);
          products.push_back(widths[i] * width);
        }
      }
      grid.rows = std::move(longer);
      widths = std::move(products);
    }
    const Eigen::Map<const Eigen::ArrayXd> all(widths.data(),
                                               static_cast<Eigen::Index>(widths.size()));
    grid.probability = scores(fit, grid.rows).array().exp() * all;
    return grid;
  }

  // Of each column the share of samples up to each of its values.
  void expect_samples_to_follow(const Grid& grid, const TableFit& fit) const {
    constexpr Eigen::Index kDrawnRows = 100'000;
    const Table samples = fit.fit.density.sample(kDrawnRows, 3, Matrix<double>(), From::main).table;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Column* drawn = samples.find(column_name(columns_, j));
      ASSERT_NE(drawn, nullptr);
      std::vector<double> values(static_cast<std::size_t>(kDrawnRows));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = drawn->is_text() ? std::stod(drawn->text(i)) : drawn->numbers[i];
      }
      std::sort(values.begin(), values.end());
      const std::vector<Point> points = columns_[j]->points();
      for (std::size_t k = 0; k < points.size(); k += 1 + points.size() / 12) {
        // Half of the step on a grid, none of it beyond a class or a cell.
        const bool fine = points.size() > 100 && points[k].value != 0;
        const double edge = points[k].value + (fine ? points[k].width / 2 : 1e-9);
        const auto below = std::upper_bound(values.begin(), values.end(), edge) - values.begin();
        EXPECT_NEAR(static_cast<double>(below) / kDrawnRows, grid.up_to(j, edge), 0.01)
            << columns_[j]->name() << " up to " << edge;
      }
    }
  }

  // On average over fresh rows.
  void expect_the_source_to_be_better(const TableFit& fit) const {
    const auto fresh = draw_rows(columns_, fresh_rows(), 8);
    Vector<double> gain = scores(fit, fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      gain(static_cast<Eigen::Index>(i)) -= log_density(columns_, fresh[i]);
    }
    const double mean = gain.mean();
    const double error =
        std::sqrt((gain.array() - mean).square().mean() / static_cast<double>(gain.size()));
    EXPECT_LT(mean, 3 * error);
    EXPECT_GT(mean, -1);  // and the fit is one
  }

  Columns columns_;
  std::vector<std::vector<double>> rows_;
};

TEST_P(TableLaws, Hold) {
  const TableFit fit = fitted(rows_);
  const Grid grid = grid_of(fit);
  EXPECT_NEAR(grid.probability.sum(), 1, 0.005);
  expect_samples_to_follow(grid, fit);
  expect_the_source_to_be_better(fit);
  // Another order of the same rows, and rows in another order.
  const std::vector<std::vector<double>> backwards(rows_.rbegin(), rows_.rend());
  const Vector<double> own = scores(fit, rows_);
  EXPECT_EQ(own, scores(fit, backwards).reverse());
  EXPECT_EQ(own, scores(fitted(backwards), rows_));
}

INSTANTIATE_TEST_SUITE_P(All, TableLaws, ::testing::Range<std::size_t>(0, all_tables().size()),
                         [](const auto& of) {
                           const Columns columns = all_tables()[of.param];
                           std::string name;
                           for (std::size_t j = 0; j < columns.size(); ++j) {
                             name += column_name(columns, j);
                           }
                           return name;
                         });

}  // namespace
}  // namespace jeffreys
