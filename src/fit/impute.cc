#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fit/given_rows.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/fit/given.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kImputePoints = 1024;

void set_cell(Column& column, std::size_t row, const Column& source, std::size_t source_row) {
  if (!column.is_text()) {
    column.numbers[row] =
        source.is_text() ? std::stod(source.text(source_row)) : source.numbers[source_row];
    column.notation.make_room_for(column.numbers[row]);
    return;
  }
  const std::string text = source.text(source_row);
  const auto found = std::find(column.labels.begin(), column.labels.end(), text);
  column.codes[row] = static_cast<std::int32_t>(found - column.labels.begin());
  if (found == column.labels.end()) column.labels.push_back(text);
}

// The middle, or the mean, of one column's values by their weights.
double centre(std::span<const double> values, const Eigen::ArrayXd& weights, Fill fill) {
  const Eigen::Map<const Eigen::ArrayXd> all(values.data(), weights.size());
  if (fill == Fill::mean) return (all * weights).sum() / weights.sum();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  double rest = weights.sum() / 2;
  for (const std::size_t i : order) {
    rest -= weights(static_cast<Eigen::Index>(i));
    if (rest <= 0) return values[i];
  }
  return values[order.back()];
}

std::int32_t likeliest(const std::vector<std::int32_t>& codes, std::size_t labels,
                       const Eigen::ArrayXd& weights) {
  std::vector<double> mass(labels, 0);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    mass[static_cast<std::size_t>(codes[i])] += weights(static_cast<Eigen::Index>(i));
  }
  return static_cast<std::int32_t>(std::max_element(mass.begin(), mass.end()) - mass.begin());
}

// One row from many.
Table centre_row(Table points, const Eigen::ArrayXd& weights, Fill fill) {
  for (Column& column : points.columns) {
    if (column.is_text()) {
      column.codes = {likeliest(column.codes, column.labels.size(), weights)};
    } else {
      column.numbers = {centre(column.numbers, weights, fill)};
    }
  }
  return points;
}

template <typename T>
class Imputation {
 public:
  Imputation(const TabularDensity<T>& density, const Table& table, Fill fill, int draws,
             std::uint64_t seed, From from)
      : density_(density),
        table_(table),
        fill_(fill),
        draws_(static_cast<std::size_t>(draws)),
        seed_(seed),
        rows_(density.schema().encode_known(table)),
        completions_(density, rows_, from) {}

  Imputed run() {
    repeat_table();
    std::size_t next = 0;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (next < rows_.rows.size() && rows_.rows[next] == row) {
        fill_row(next++);
      } else {
        result_.left[row] = "a condition is missing";
      }
    }
    return std::move(result_);
  }

 private:
  void repeat_table() {
    result_.table = {table_.source, {}, {}, {}, table_.delimiter};
    const auto add = [&](const Column& column) {
      Column copies = column;
      for (std::size_t i = 1; i < draws_; ++i) {
        copies.numbers.insert(copies.numbers.end(), column.numbers.begin(), column.numbers.end());
        copies.codes.insert(copies.codes.end(), column.codes.begin(), column.codes.end());
      }
      result_.table.columns.push_back(std::move(copies));
    };
    for (const Column& column : table_.columns) add(column);
    for (const ColumnInfo& info : density_.schema().columns()) {
      if (info.role == ColumnRole::left_out || table_.find(info.name) != nullptr) continue;
      Column empty{.name = info.name, .notation = info.notation};
      if (info.kind == ColumnKind::categorical) {
        empty.codes.assign(table_.rows(), -1);
      } else {
        empty.numbers.assign(table_.rows(), std::nan(""));
      }
      add(empty);
    }
  }

  [[nodiscard]] bool has_missing(std::size_t row) const {
    return std::any_of(density_.schema().columns().begin(), density_.schema().columns().end(),
                       [&](const ColumnInfo& info) {
                         if (info.role == ColumnRole::left_out) return false;
                         const Column* column = table_.find(info.name);
                         return column == nullptr || column->missing(row);
                       });
  }

  // place: among the encoded rows.
  void fill_row(std::size_t place) {
    const std::size_t row = rows_.rows[place];
    if (!has_missing(row)) return;
    const auto found = completions_.complete(
        static_cast<Eigen::Index>(place),
        std::max(kLeastEffectiveSamples, static_cast<double>(draws_)),
        std::max(kImputePoints, static_cast<Eigen::Index>(16 * draws_)), {seed_, kGapDraws, row});
    if (!found) {
      result_.left[row] = "its other cells are so unusual that too few proposals count";
      return;
    }
    const Matrix<double> context = rows_.context.row(static_cast<Eigen::Index>(place));
    if (fill_ == Fill::draw) {
      const Matrix<double> x =
          GivenRows<T>::draw(*found, static_cast<Eigen::Index>(draws_), {seed_, kGapChoice, row});
      const Table drawn = density_.schema().decode(x, context);
      for (std::size_t i = 0; i < draws_; ++i) write(drawn, i, row + i * table_.rows());
    } else {
      const Eigen::ArrayXd weights =
          (found->log_weights.array() - found->log_weights.maxCoeff()).exp();
      write(centre_row(density_.schema().decode(found->x, context), weights, fill_), 0, row);
    }
  }

  void write(const Table& values, std::size_t from, std::size_t to) {
    for (const Column& source : values.columns) {
      for (Column& column : result_.table.columns) {
        if (column.name != source.name || !column.missing(to)) continue;
        set_cell(column, to, source, from);
        if (to < table_.rows()) ++result_.cells;
      }
    }
  }

  const TabularDensity<T>& density_;
  const Table& table_;
  Fill fill_;
  std::size_t draws_;
  std::uint64_t seed_;
  Schema::Encoded rows_;
  GivenRows<T> completions_;
  Imputed result_;
};

}  // namespace

template <typename T>
Imputed impute(const TabularDensity<T>& density, const Table& table, Fill fill, int draws,
               std::uint64_t seed, From from) {
  if (draws < 1) throw std::invalid_argument("draws: expected at least 1");
  if (fill != Fill::draw && draws > 1) {
    throw std::invalid_argument("draws: means and medians are the same in every copy; expected 1");
  }
  return Imputation<T>(density, table, fill, draws, seed, from).run();
}

template Imputed impute(const TabularDensity<float>&, const Table&, Fill, int, std::uint64_t, From);
template Imputed impute(const TabularDensity<double>&, const Table&, Fill, int, std::uint64_t,
                        From);

}  // namespace jeffreys
