#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/gnuplot.h"

namespace jeffreys::report {
namespace {

// Beyond, differences of coordinates overflow inside gnuplot.
constexpr double kLargest = 1e100;

// JSON's writer is a strict judge of UTF-8.
std::string valid_utf8(std::string_view text) {
  using Json = nlohmann::json;
  const std::string encoded =
      Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(encoded).get<std::string>();
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string literal(std::string_view text, std::size_t most) {
  std::string result = "'";
  std::size_t characters = 0;
  const std::string valid = valid_utf8(text.substr(0, 4 * most + 4));
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (begins_character(c) && ++characters > most) {
      result += "…";
      break;
    }
    const std::string_view rest = std::string_view(valid).substr(i, 3);
    if (rest == "\xef\xbf\xbe" || rest == "\xef\xbf\xbf") {  // valid, but not allowed in XML
      result += "?";
      i += 2;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += ' ';
    } else if (rest == "]]>") {  // gnuplot would leave it so, and XML forbids it
      result += "] ";
    } else {
      result += c;
      if (c == '\'') result += c;
    }
  }
  return result + "'";
}

std::string number(double value) {
  return std::isfinite(value) && std::abs(value) <= kLargest ? fmt::format("{:.9g}", value) : "NaN";
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
