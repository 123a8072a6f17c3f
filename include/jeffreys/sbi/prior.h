// What is known about a simulator's parameters before its outcomes: independent distributions.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/base/distribution.h"
#include "jeffreys/base/matrix.h"

namespace jeffreys {

class Prior {
 public:
  struct Parameter {
    std::string name;
    Distribution distribution;

    bool operator==(const Parameter&) const = default;
  };

  // Throws std::invalid_argument for no parameter, a name that is empty, repeated or not UTF-8, and
  // a distribution that is not valid.
  explicit Prior(std::vector<Parameter> parameters);

  // A TOML file with one table for each parameter, in the order of the file:
  //   [a]
  //   distribution = "uniform"     # lower, upper
  //   lower = -1
  //   upper = 1
  // The others are "normal" (mean, deviation) and "log_normal" (mean and deviation of the
  // logarithm), with lower and upper where they are truncated. Throws InputError with the line.
  static Prior read(const std::filesystem::path& path);
  // The same for a text in memory; `file` is the name in errors.
  static Prior from_toml(const std::string& text, const std::string& file);
  // A file that read turns into the same prior.
  std::string to_toml() const;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  Eigen::Index dimension() const { return static_cast<Eigen::Index>(parameters_.size()); }
  std::vector<std::string> names() const;
  // By name, for SchemaOptions::distributions.
  std::map<std::string, Distribution> distributions() const;

  // [rows, parameters]: independent draws, strictly inside the support. Row i of the result is a
  // function of seed, iteration and first_row + i alone: the first rows of a larger sample are a
  // smaller one, and a sample may be drawn in pieces.
  Matrix<double> sample(Eigen::Index rows, std::uint64_t seed, std::uint64_t iteration = 0,
                        std::uint64_t first_row = 0) const;

  // [rows]: natural logarithm of the density of each row of parameters [rows, parameters]; minus
  // infinity outside the support, NaN for a row with NaN.
  Vector<double> log_prob(const MatrixView<double>& parameters) const;

  // Whether a row [parameters] is in the support.
  bool contains(std::span<const double> row) const;

  std::string to_json() const;
  // Throws InputError naming `file` unless the text is a prior that to_json could have written.
  static Prior from_json(const std::string& text, const std::string& file);

  // One line for each parameter: "a: uniform, -1 to 1".
  std::vector<std::string> describe() const;

  bool operator==(const Prior&) const = default;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace jeffreys
