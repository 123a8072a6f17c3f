// Gnuplot as an external program, and the scripts it is given.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// Text as a gnuplot string that means the text and nothing else: single-quoted (where gnuplot
// substitutes nothing), control characters and invalid UTF-8 replaced, cut to `most` characters.
// Where it is used it must be followed by `noenhanced`.
std::string literal(std::string_view text, std::size_t most = 60);

// How a plot is called in the legend; nothing without a name is there.
std::string title_of(std::string_view name);

// A number as gnuplot reads it; what cannot be drawn becomes NaN.
std::string number(double value);

// A script that draws one picture of the given size, in pixels at a resolution of 96 per inch.
class Script {
 public:
  Script(double width, double height) : width_(width), height_(height) {}

  void line(std::string_view command) { (text_ += command) += '\n'; }

  // Adds columns of equal length as a named block of rows and gives its name.
  std::string block(const std::vector<std::vector<double>>& columns);
  // The same for a matrix, to be plotted with `matrix`.
  std::string matrix_block(const Matrix<double>& values);

  double width() const { return width_; }
  double height() const { return height_; }
  const std::string& text() const { return text_; }

 private:
  std::string next_block();

  double width_;
  double height_;
  std::string text_;
  int blocks_ = 0;
};

// Throws InputError unless the extension is .svg or .png.
void check_extension(const std::filesystem::path& path);

// Runs the script and puts the picture in place, whole or not at all. Throws as draw() does.
void render(const std::filesystem::path& path, const Script& script);

}  // namespace jeffreys::report
