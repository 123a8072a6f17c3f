// A posterior on disk: a model file with the prior and the spread of the outcomes attached.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/posterior.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAttachment = "posterior";
constexpr int kVersion = 1;
// How samples stay inside the prior, of which there was once another way.
constexpr const char* kSupport = "transform";

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw InputError(file, fmt::format("the posterior is damaged: {}; fit it again, or copy its file "
                                     "again",
                                     problem));
}

Json numbers_of(const MatrixView<double>& matrix) {
  Json all = Json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) all.push_back(matrix(r, c));
  }
  return all;
}

Matrix<double> read_numbers(const Json& json, const char* key, Eigen::Index rows, Eigen::Index cols,
                            const std::string& file) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() ||
      found->size() != static_cast<std::size_t>(rows * cols)) {
    refuse(file, fmt::format("{} has not {} x {} numbers", key, rows, cols));
  }
  Matrix<double> matrix(rows, cols);
  for (Eigen::Index i = 0; i < rows * cols; ++i) {
    const Json& value = (*found)[static_cast<std::size_t>(i)];
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      refuse(file, fmt::format("{} has something else than finite numbers", key));
    }
    matrix(i / cols, i % cols) = value.get<double>();
  }
  return matrix;
}

std::string text_of(const Json& json, const char* key, const std::string& file) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) refuse(file, fmt::format("it lacks {}", key));
  return found->get<std::string>();
}

}  // namespace

void Posterior::save(const std::filesystem::path& path) const {
  Json json = {{"version", kVersion}, {"support", kSupport}};
  if (prior_) json["prior"] = prior_->to_json();
  if (training_.center.size() > 0) {
    json["outcomes"] = {{"center", numbers_of(training_.center)},
                        {"whitening", numbers_of(training_.whitening)},
                        {"largest", training_.largest}};
  }
  TabularDensity<float> density = density_;
  density.attachments[kAttachment] = json.dump();
  density.save(path);
}

Posterior Posterior::load(const std::filesystem::path& path) {
  TabularDensity<float> density = TabularDensity<float>::load(path);
  const std::string file = path.string();
  const auto found = density.attachments.find(kAttachment);
  if (found == density.attachments.end()) {
    throw InputError(file,
                     "is a model but no posterior: fit one with `jeffreys sbi fit`, or sample this "
                     "one with `jeffreys sample`");
  }
  const Json json = Json::parse(found->second, nullptr, false);
  if (!json.is_object()) refuse(file, "its attachment is no JSON object");
  if (json.value("version", Json()) != kVersion) {
    throw InputError(file, fmt::format("the posterior has another version than {}, which this "
                                       "program reads; use the program that wrote it",
                                       kVersion));
  }
  const std::string support = text_of(json, "support", file);
  if (support == "rejection") {
    throw InputError(file,
                     "the posterior was fitted with --support rejection, which is gone: fit again");
  }
  if (support != kSupport) refuse(file, "it has an unknown support");
  std::optional<Prior> prior;
  if (json.contains("prior")) prior = Prior::from_json(text_of(json, "prior", file), file);
  TrainingOutcomes training;
  if (const auto outcomes = json.find("outcomes"); outcomes != json.end()) {
    const auto size = static_cast<Eigen::Index>(density.schema().context_features());
    training.center = read_numbers(*outcomes, "center", size, 1, file);
    training.whitening = read_numbers(*outcomes, "whitening", size, size, file);
    training.largest = read_numbers({{"largest", {outcomes->value("largest", Json())}}}, "largest",
                                    1, 1, file)(0, 0);
  }
  try {
    Posterior posterior(std::move(density), std::move(prior));
    posterior.training_ = std::move(training);
    return posterior;
  } catch (const std::invalid_argument& error) {
    refuse(file, error.what());
  }
}

}  // namespace jeffreys
