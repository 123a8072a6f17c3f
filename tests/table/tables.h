// Tables made in memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/table/schema.h"
#include "jeffreys/table/table.h"
#include "kernels/random.h"

namespace jeffreys::testing {

inline std::vector<double> normal_numbers(std::size_t rows, std::uint64_t seed) {
  std::vector<double> numbers(rows);
  kernels::fill_normals(kernels::RandomArguments<double>{
      .key = {.seed = seed}, .first_row = 0, .rows = rows, .columns = 1, .output = numbers.data()});
  return numbers;
}

inline std::vector<double> transformed(std::vector<double> numbers,
                                       const std::function<double(double)>& function) {
  for (double& number : numbers) number = function(number);
  return numbers;
}

class TableMaker {
 public:
  TableMaker& numbers(std::string name, std::vector<double> values) {
    Column& column = add(std::move(name));
    column.numbers = std::move(values);
    return *this;
  }

  TableMaker& text(std::string name, const std::vector<std::string>& cells) {
    Column& column = add(std::move(name));
    for (const std::string& cell : cells) {
      std::size_t code = 0;
      while (code < column.labels.size() && column.labels[code] != cell) ++code;
      if (code == column.labels.size() && !cell.empty()) column.labels.push_back(cell);
      column.codes.push_back(cell.empty() ? -1 : static_cast<std::int32_t>(code));
    }
    return *this;
  }

  Table table() const { return table_; }

 private:
  Column& add(std::string name) {
    Column& column = table_.columns.emplace_back();
    column.name = std::move(name);
    column.place = table_.columns.size();
    return column;
  }

  // Row 0 on line 2, as in a file with a header.
  Table table_{"t.csv", {}, {{0, 2}}};
};

inline const ColumnInfo& info_of(const Schema& schema, const std::string& name) {
  for (const ColumnInfo& info : schema.columns()) {
    if (info.name == name) return info;
  }
  throw std::out_of_range(name);
}

inline std::vector<std::string> cells_of(const Table& table, const std::string& name) {
  std::vector<std::string> cells;
  const Column* column = table.find(name);
  for (std::size_t row = 0; column != nullptr && row < column->rows(); ++row) {
    cells.push_back(column->text(row));
  }
  return cells;
}

// 200 rows with every kind of column.
inline Table mixed_table() {
  constexpr std::size_t kRows = 200;
  std::vector<std::string> colours;
  std::vector<double> counts;
  std::vector<double> shares;
  const std::vector<double> normals = normal_numbers(kRows, 3);
  for (std::size_t i = 0; i < kRows; ++i) {
    colours.emplace_back(i % 5 == 0 ? "red" : i % 3 == 0 ? "blue" : "green");
    counts.push_back(static_cast<double>(i * i % 17));
    shares.push_back(1 / (1 + std::exp(-normals[i])));
  }
  return TableMaker()
      .numbers("plain", transformed(normal_numbers(kRows, 1), [](double v) { return 5 + 2 * v; }))
      .text("colour", colours)
      .numbers("count", counts)
      .numbers("share", shares)
      .numbers("rounded", transformed(normal_numbers(kRows, 2),
                                      [](double v) { return std::round(v * 10) / 10; }))
      .numbers("positive",
               transformed(normal_numbers(kRows, 4), [](double v) { return std::exp(v); }))
      .numbers("given", normal_numbers(kRows, 5))
      .table();
}

// The density in the user's units of encoded rows with one feature, under a model that is normal
// with this deviation.
inline Vector<double> normal_model_density(const Schema& schema, const Schema::Encoded& encoded,
                                           double deviation) {
  const auto model = [&](double x) {
    const double z = x / deviation;
    return std::exp(-0.5 * z * z) / (deviation * std::sqrt(2 * std::numbers::pi));
  };
  Vector<double> density = encoded.x.col(0).unaryExpr(model);
  const Schema::Sources sources = schema.other_sources(encoded.x, encoded.context);
  for (std::size_t i = 0; i < sources.rows.size(); ++i) {
    const auto place = static_cast<Eigen::Index>(i);
    density(sources.rows[i]) += model(sources.x(place, 0)) * std::exp(sources.log_slope(place));
  }
  return density.array() * encoded.log_jacobian.array().exp();
}

inline SchemaOptions mixed_options() {
  SchemaOptions options;
  options.condition = {"given"};
  options.bounds = {{"share", {0, 1}}, {"positive", {.lower = 0}}};
  return options;
}

}  // namespace jeffreys::testing
