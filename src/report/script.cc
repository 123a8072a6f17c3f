#include <fmt/format.h>

#include <cmath>

#include "report/gnuplot.h"
#include "report/range.h"
#include "report/text.h"

namespace jeffreys::report {

std::string literal(std::string_view text, std::size_t most) {
  std::string result = "'";
  for (const char c : cut(clean(text.substr(0, 4 * most + 4)), most)) {
    // Gnuplot would leave "]]>" so, and XML forbids it.
    if (c == '\n' || (c == '>' && result.ends_with("]]"))) {
      result += ' ';
    } else {
      result += c;
      if (c == '\'') result += c;
    }
  }
  return result + "'";
}

std::string title_of(std::string_view name) {
  return name.empty() ? "notitle" : fmt::format("title {} noenhanced", literal(name));
}

std::string number(double value) {
  return can_be_drawn(value) ? fmt::format("{:.9g}", value) : "NaN";
}

std::string Script::next_block() {
  std::string name = fmt::format("$block{}", blocks_++);
  line(name + " << end_of_block");
  return name;
}

std::string Script::block(const std::vector<std::vector<double>>& columns) {
  std::string name = next_block();
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  for (std::size_t r = 0; r < rows; ++r) {
    std::string row;
    for (const std::vector<double>& column : columns) row += number(column[r]) + " ";
    line(row);
  }
  line("end_of_block");
  return name;
}

std::string Script::matrix_block(const Matrix<double>& values) {
  std::string name = next_block();
  for (Eigen::Index r = 0; r < values.rows(); ++r) {
    std::string row;
    for (Eigen::Index c = 0; c < values.cols(); ++c) row += number(values(r, c)) + " ";
    line(row);
  }
  line("end_of_block");
  return name;
}

}  // namespace jeffreys::report
