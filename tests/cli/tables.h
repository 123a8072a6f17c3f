// Tables as CSV text, and CSV text as cells.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace jeffreys::testing {

// Numbers that depend on the seed alone, on every machine.
class Draws {
 public:
  explicit Draws(unsigned seed) : generator_(seed) {}
  double uniform() { return (static_cast<double>(generator_()) + 0.5) / 4294967296.0; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937 generator_;
};

inline std::string text_of(double value) {
  std::ostringstream stream;
  stream.precision(17);
  stream << value;
  return stream.str();
}

// The header, then as many lines as the function makes.
inline std::string lines(const std::string& header, int rows,
                         const std::function<std::string(Draws&, int row)>& line,
                         unsigned seed = 1) {
  Draws draws(seed);
  std::string text = header + "\n";
  for (int row = 0; row < rows; ++row) text += line(draws, row) + "\n";
  return text;
}

// x is normal around 5, y uniform in (0, 1) and dependent on x.
inline std::string two_columns(int rows = 100, double x_unit = 1, unsigned seed = 1) {
  return lines(
      "x,y", rows,
      [&](Draws& draws, int) {
        const double z = draws.normal();
        const double y = 1 / (1 + std::exp(-z - 0.5 * draws.normal()));
        return text_of(x_unit * (5 + 2 * z)) + "," + text_of(y);
      },
      seed);
}

// height: normal; count: whole; price: two decimals with ties; colour: labels; group: labels, on
// which height depends; level: a number on which height depends.
inline std::string mixed_columns(int rows = 150) {
  return lines("height,count,price,colour,group,level", rows, [](Draws& draws, int) {
    const bool north = draws.uniform() < 0.5;
    const double level = draws.normal();
    const double height = (north ? 10 : -10) + level + 0.5 * draws.normal();
    const int count = static_cast<int>(6 * draws.uniform());
    const double price = std::round(20 * draws.uniform()) / 20;
    const double u = draws.uniform();
    return text_of(height) + "," + std::to_string(count) + "," + text_of(price) + "," +
           (u < 0.2   ? "red"
            : u < 0.6 ? "\"dark \"\"blue\"\"\""
                      : "green") +
           "," + (north ? "north" : "south") + "," + text_of(level);
  });
}

// Text with one of its lines, counted from 1, replaced.
inline std::string with_line(const std::string& text, int number, const std::string& line) {
  std::istringstream stream(text);
  std::string result;
  int n = 0;
  for (std::string old; std::getline(stream, old);) result += (++n == number ? line : old) + "\n";
  return result;
}

// Cells of CSV text whose cells hold no delimiters.
class Cells {
 public:
  explicit Cells(const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      std::vector<std::string> row;
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
      if (line.empty() || line.back() == ',') row.emplace_back();
      (names_.empty() ? names_ : rows_.emplace_back()) = row;
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  [[nodiscard]] std::vector<std::string> column(const std::string& name) const {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] != name) continue;
      std::vector<std::string> cells;
      for (const auto& row : rows_) cells.push_back(row.at(k));
      return cells;
    }
    throw std::out_of_range("no column " + name);
  }

  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    std::vector<double> result;
    for (const std::string& cell : column(name)) result.push_back(std::stod(cell));
    return result;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace jeffreys::testing
