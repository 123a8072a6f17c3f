#include "jeffreys/sbi/prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_json(const std::string& file, const std::string& problem) {
  throw InputError(file, fmt::format("the prior is damaged: {}; fit the model again, or copy its "
                                     "file again",
                                     problem));
}

void require_columns(const char* name, std::size_t expected, std::size_t got) {
  if (got == expected) return;
  throw std::invalid_argument(fmt::format("{}: expected {} columns, got {}", name, expected, got));
}

}  // namespace

Prior::Prior(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  if (parameters_.empty()) {
    throw std::invalid_argument("parameters: expected one or more, got none");
  }
  std::set<std::string> names;
  for (const auto& [name, distribution] : parameters_) {
    if (name.empty()) throw std::invalid_argument("parameters: expected names, got an empty one");
    if (!is_utf8(name)) {
      throw std::invalid_argument(
          fmt::format("parameters: expected names in UTF-8, got {}", quote(name)));
    }
    if (!names.insert(name).second) {
      throw std::invalid_argument(
          fmt::format("parameters: expected different names, got {} twice", quote(name)));
    }
    try {
      distribution.validate();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("parameter {}: {}", quote(name), error.what()));
    }
  }
}

std::vector<std::string> Prior::names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_) names.push_back(parameter.name);
  return names;
}

std::map<std::string, Distribution> Prior::distributions() const {
  std::map<std::string, Distribution> distributions;
  for (const auto& [name, distribution] : parameters_) distributions.emplace(name, distribution);
  return distributions;
}

Matrix<double> Prior::sample(Eigen::Index rows, std::uint64_t seed, std::uint64_t iteration,
                             std::uint64_t first_row) const {
  if (rows < 0) throw std::invalid_argument(fmt::format("rows: expected 0 or more, got {}", rows));
  Matrix<double> sample(rows, dimension());
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      .key = {.seed = seed, .purpose = kPriorSamples, .iteration = iteration},
      .first_row = first_row,
      .rows = static_cast<std::size_t>(rows),
      .columns = parameters_.size(),
      .output = sample.data()});
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index i = 0; i < dimension(); ++i) {
      const Distribution& distribution = parameters_[static_cast<std::size_t>(i)].distribution;
      sample(row, i) = distribution.quantile(sample(row, i));
    }
  }
  return sample;
}

Vector<double> Prior::log_prob(const MatrixView<double>& parameters) const {
  require_columns("parameters", parameters_.size(), static_cast<std::size_t>(parameters.cols()));
  Vector<double> sums = Vector<double>::Zero(parameters.rows());
  for (Eigen::Index row = 0; row < sums.size(); ++row) {
    for (Eigen::Index i = 0; i < dimension(); ++i) {
      const Distribution& distribution = parameters_[static_cast<std::size_t>(i)].distribution;
      sums[row] += distribution.log_prob(parameters(row, i));
    }
  }
  return sums;
}

bool Prior::contains(std::span<const double> row) const {
  require_columns("row", parameters_.size(), row.size());
  return std::equal(row.begin(), row.end(), parameters_.begin(),
                    [](double value, const Parameter& parameter) {
                      return parameter.distribution.contains(value);
                    });
}

std::string Prior::to_json() const {
  Json json = Json::array();
  for (const auto& [name, distribution] : parameters_) {
    json.push_back({{"name", name}, {"distribution", Json::parse(distribution.to_json())}});
  }
  return json.dump();
}

Prior Prior::from_json(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) refuse_json(file, "it is not a list");
  std::vector<Parameter> parameters;
  for (const Json& item : json) {
    const bool complete = item.is_object() && item.size() == 2 && item.contains("name") &&
                          item.contains("distribution") && item["name"].is_string();
    if (!complete) refuse_json(file, "it has something else than a name and a distribution");
    try {
      parameters.push_back({item["name"].get<std::string>(),
                            Distribution::from_json(item["distribution"].dump(), file)});
    } catch (const InputError& error) {
      refuse_json(file, error.problem());
    }
  }
  try {
    return Prior(std::move(parameters));
  } catch (const std::invalid_argument& error) {
    refuse_json(file, error.what());
  }
}

std::vector<std::string> Prior::describe() const {
  std::vector<std::string> lines;
  for (const auto& [name, distribution] : parameters_) {
    lines.push_back(fmt::format("{}: {}", name, distribution.describe()));
  }
  return lines;
}

}  // namespace jeffreys
