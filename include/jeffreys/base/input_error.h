#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace jeffreys {

// A user's input (file, cell, key) is wrong: names the file, the line and column where known, what
// is wrong and what to do about it. Lines and columns count from 1; 0 means unknown.
class InputError : public std::runtime_error {
 public:
  InputError(std::string file, std::string problem, std::size_t line = 0, std::size_t column = 0)
      : std::runtime_error(message(file, problem, line, column)),
        file_(std::move(file)),
        problem_(std::move(problem)),
        line_(line),
        column_(column) {}

  const std::string& file() const { return file_; }
  const std::string& problem() const { return problem_; }
  std::size_t line() const { return line_; }
  std::size_t column() const { return column_; }

 private:
  // "FILE:LINE:COLUMN: problem" with absent parts left out.
  static std::string message(const std::string& file, const std::string& problem, std::size_t line,
                             std::size_t column) {
    std::string place = file;
    for (const std::size_t number : {line, column}) {
      if (number == 0) continue;
      if (!place.empty()) place += ':';
      place += std::to_string(number);
    }
    return place.empty() ? problem : place + ": " + problem;
  }

  std::string file_;
  std::string problem_;
  std::size_t line_;
  std::size_t column_;
};

}  // namespace jeffreys
