// The UCI tables of the paper (appendix ap:mle_noise): label columns go, categories become integers
// with uniform noise of +-0.2 that is the same in all runs, every feature gets mean 0 and variance
// 1 over all rows, a fifth of the rows is for testing. "-dequantised": instead, every column whose
// values repeat gets noise as wide as its rounding, because a flow gains without bound from a spike
// on a value that repeats.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "experiment/workload.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/table/schema.h"
#include "jeffreys/table/split.h"
#include "jeffreys/table/table_file.h"
#include "kernels/random.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kDequantised = "-dequantised";
constexpr double kCategoryNoiseWidth = 0.4;

struct UciTable {
  std::string name;
  std::vector<std::string> files;  // one below the other
  std::vector<std::string> ignore;
  std::vector<std::string> categorical;
};

const UciTable& uci_table(const std::string& name) {
  static const std::vector<UciTable> kTables = {
      {"wine", {"winequality-red.csv", "winequality-white.csv"}, {"quality"}, {}},
      // age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num
      {"heart",
       {"processed.cleveland.data"},
       {"x12", "x13", "x14"},
       {"x2", "x3", "x6", "x7", "x9", "x11"}},
      {"cancer", {"wdbc.data"}, {"x1", "x2"}, {}},
  };
  for (const UciTable& table : kTables) {
    if (table.name == name) return table;
  }
  throw std::invalid_argument(
      fmt::format("table: expected wine, heart or cancer, or one of them with {}, got '{}'",
                  kDequantised, name));
}

Table read_uci(const UciTable& spec, const std::filesystem::path& data) {
  Table all;
  for (const std::string& name : spec.files) {
    const std::filesystem::path file = data / "uci" / name;
    if (data.empty() || !std::filesystem::exists(file)) {
      throw MissingData(
          file.string(),
          fmt::format("this data set is missing. Get {} from the UCI Machine Learning "
                      "Repository (archive.ics.uci.edu), put it into a folder uci/ "
                      "and name the folder that holds uci/ with --data or in "
                      "JEFFREYS_DATA",
                      name));
    }
    Table part = read_table(file);
    if (all.columns.empty()) {
      all = std::move(part);
      all.anchors.clear();
      continue;
    }
    for (std::size_t k = 0; k < all.columns.size(); ++k) {
      std::vector<double>& numbers = all.columns[k].numbers;
      numbers.insert(numbers.end(), part.columns[k].numbers.begin(), part.columns[k].numbers.end());
    }
  }
  return all;
}

// The paper's steps 1 to 3.
Matrix<double> encode_as_paper(const Table& table, const UciTable& spec) {
  SchemaOptions options;
  options.missing = Missing::drop;
  options.ignore = spec.ignore;
  const std::vector<std::size_t> rows = usable_rows(table, options);
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  Matrix<double> x(static_cast<Eigen::Index>(rows.size()), 0);
  for (const Column& column : table.columns) {
    if (has(spec.ignore, column.name)) continue;
    Vector<double> values(x.rows());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      values(i) = column.numbers[rows[static_cast<std::size_t>(i)]];
    }
    if (has(spec.categorical, column.name)) {
      Vector<double> noise(x.rows());
      kernels::fill_uniforms(kernels::RandomArguments<double>{
          {0, kCategoryNoise, column.place}, 0, rows.size(), 1, noise.data()});
      values.array() += kCategoryNoiseWidth * (noise.array() - 0.5);
    }
    values.array() -= values.mean();
    values /= std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
    x.conservativeResize(Eigen::NoChange, x.cols() + 1);
    x.rightCols(1) = values;
  }
  return x;
}

Matrix<double> encode_dequantised(const Table& table, const UciTable& spec) {
  SchemaOptions options;
  options.missing = Missing::drop;
  options.ignore = spec.ignore;
  options.integer = spec.categorical;
  options.ties = Ties::dequantize;
  options.standardize = Standardize::all;
  // Every row at one place of its cells.
  const Schema schema = Schema::fit(table, options);
  Schema::Encoded rows = schema.encode(table);
  std::vector<std::size_t> all(static_cast<std::size_t>(rows.size()));
  std::iota(all.begin(), all.end(), std::size_t{0});
  Matrix<double> places(rows.size(), rows.cells.open());
  kernels::fill_uniforms(kernels::RandomArguments<double>{{0, kCategoryNoise, 0},
                                                          0,
                                                          all.size(),
                                                          static_cast<std::size_t>(places.cols()),
                                                          places.data()});
  rows.cells.place(all, places, rows.x);
  return rows.x.leftCols(static_cast<Eigen::Index>(schema.continuous()));
}

class TableWorkload final : public Workload {
 public:
  using Workload::Workload;

  [[nodiscard]] Numbers measure(const Models& models) const override {
    Numbers numbers;
    measure_nll(models.main, models.name("main"), 0, numbers);
    if (models.proxy == nullptr) return numbers;
    const double log_zeta = importance_samples(models, kZetaSamples, seed_).log_zeta;
    measure_nll(*models.proxy, models.name("proxy"), log_zeta, numbers);
    return numbers;
  }

 private:
  static constexpr Eigen::Index kZetaSamples = 10000;
};

}  // namespace

std::unique_ptr<Workload> make_table_workload(const Job& job, const std::filesystem::path& data) {
  std::string name = job.source;
  const bool dequantised = name.ends_with(kDequantised);
  if (dequantised) name.resize(name.size() - std::string(kDequantised).size());
  const UciTable& spec = uci_table(name);
  const Table table = read_uci(spec, data);
  const Matrix<double> x =
      dequantised ? encode_dequantised(table, spec) : encode_as_paper(table, spec);
  const auto rows = static_cast<double>(x.rows());
  const Split split =
      split_rows(static_cast<std::size_t>(x.rows()), std::ceil(0.2 * rows) / rows, job.seed);
  Matrix<double> training(static_cast<Eigen::Index>(split.training.size()), x.cols());
  Matrix<float> test(static_cast<Eigen::Index>(split.validation.size()), x.cols());
  for (Eigen::Index i = 0; i < training.rows(); ++i) {
    training.row(i) = x.row(static_cast<Eigen::Index>(split.training[static_cast<std::size_t>(i)]));
  }
  for (Eigen::Index i = 0; i < test.rows(); ++i) {
    test.row(i) = x.row(static_cast<Eigen::Index>(split.validation[static_cast<std::size_t>(i)]))
                      .cast<float>();
  }
  const Matrix<double> none(training.rows(), 0);
  Matrix<float> no_context(test.rows(), 0);
  return std::make_unique<TableWorkload>(split_validation(job, training, none), std::move(test),
                                         std::move(no_context), job.seed);
}

}  // namespace jeffreys::experiment
