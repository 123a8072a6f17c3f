#include "jeffreys/image/image_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/density_arrays.h"

namespace jeffreys {
namespace {

using storage::Array;

constexpr const char* kImagesEntry = "images";
constexpr int kImagesVersion = 1;
constexpr const char* kErrorsArray = "held_out_errors";
constexpr std::string_view kAutoencoderPrefix = "autoencoder.";

std::vector<std::string> latent_names(std::size_t latent) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= latent; ++i) names.push_back(fmt::format("z{}", i));
  return names;
}

// The share of `known`, in increasing order, that is at least as large.
double share_above(const Vector<double>& known, double value) {
  if (known.size() == 0 || std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  const auto above = known.end() - std::lower_bound(known.begin(), known.end(), value);
  return (1.0 + static_cast<double>(above)) / (1.0 + static_cast<double>(known.size()));
}

AutoencoderOptions options_in(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  if (json.at("version").get<int>() != kImagesVersion) {
    throw std::invalid_argument("pictures of another version of jeffreys");
  }
  AutoencoderOptions options{.size = json.at("size").get<std::size_t>(),
                             .channels = json.at("channels").get<std::size_t>(),
                             .latent = json.at("latent").get<std::size_t>(),
                             .seed = json.at("seed").get<std::uint64_t>()};
  options.validate();
  return options;
}

}  // namespace

std::vector<std::size_t> ImageScores::unusual_first() const {
  std::vector<std::size_t> places(static_cast<std::size_t>(log_prob.size()));
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double p = p_value(row);
    return std::pair(std::isnan(p) ? 0.0 : p, log_prob(row));
  };
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return places;
}

ImageDensity::ImageDensity(Autoencoder autoencoder, TabularDensity<float> density)
    : autoencoder_(std::move(autoencoder)), density_(std::move(density)) {
  const std::vector<std::string> expected = latent_names(autoencoder_.options().latent);
  std::vector<std::string> found;
  for (const ColumnInfo& column : density_.schema().columns()) found.push_back(column.name);
  if (found != expected) {
    throw std::invalid_argument(
        fmt::format("density: expected the {} columns z1, z2, ... that the autoencoder makes, got "
                    "{} columns",
                    expected.size(), found.size()));
  }
}

void ImageDensity::use_threads(const std::shared_ptr<ThreadPool>& pool) {
  autoencoder_.use_threads(pool);
  density_.use_threads(pool);
}

void ImageDensity::set_held_out_errors(Vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  held_out_errors_ = std::move(errors);
}

Images ImageDensity::sample(std::size_t count, std::uint64_t seed, std::optional<From> from) const {
  const TableSamples samples =
      density_.sample(static_cast<Eigen::Index>(count), seed, Matrix<double>(), from);
  return autoencoder_.decode(latent_numbers(samples.table, autoencoder_.options().latent));
}

ImageScores ImageDensity::score(const Images& images, std::optional<From> from) const {
  const From speaks = from.value_or(density_.chosen());
  ImageScores scores;
  const TableLogProb found = density_.log_prob(latent_table(autoencoder_.encode(images)), speaks);
  scores.log_prob = found.log_prob;
  scores.error = autoencoder_.errors(images);
  const CalibrationScores& known = density_.calibration();
  const bool calibrated = (speaks == From::main ? known.main : known.proxy).size() > 0;
  scores.p_log_prob = calibrated
                          ? density_.p_values(found, speaks)
                          : Vector<double>::Constant(scores.log_prob.size(),
                                                     std::numeric_limits<double>::quiet_NaN());
  scores.p_error =
      scores.error.unaryExpr([&](double error) { return share_above(held_out_errors_, error); });
  scores.p_value.resize(scores.error.size());
  for (Eigen::Index i = 0; i < scores.error.size(); ++i) {
    scores.p_value(i) = std::min(1.0, 2 * std::min(scores.p_log_prob(i), scores.p_error(i)));
    if (std::isnan(scores.p_log_prob(i))) scores.p_value(i) = scores.p_log_prob(i);
  }
  return scores;
}

void ImageDensity::save(const std::filesystem::path& path) const {
  TabularDensity<float> density = density_;
  const AutoencoderOptions& o = autoencoder_.options();
  density.attachments[kImagesEntry] = nlohmann::json{
      {"version", kImagesVersion},
      {"size", o.size},
      {"channels", o.channels},
      {"latent", o.latent},
      {"seed", o.seed}}.dump();
  storage::Arrays arrays;
  const storage::Arrays weights = autoencoder_.arrays();
  for (const auto& [name, array] : weights) {
    arrays[std::string(kAutoencoderPrefix) + name] = array;
  }
  arrays[kErrorsArray] = Array::from<double>(
      {held_out_errors_.size()},
      {held_out_errors_.data(), static_cast<std::size_t>(held_out_errors_.size())});
  save_with_arrays(density, arrays, path);
}

ImageDensity ImageDensity::load(const std::filesystem::path& path) {
  TabularDensity<float> density = TabularDensity<float>::load(path);
  const auto entry = density.attachments.find(kImagesEntry);
  if (entry == density.attachments.end()) {
    throw InputError(path.string(),
                     "holds a density of a table, without an autoencoder: fit pictures with "
                     "`jeffreys images fit`");
  }
  try {
    const AutoencoderOptions options = options_in(entry->second);
    const storage::Arrays arrays = load_attached_arrays(path);
    storage::Arrays weights;
    for (const auto& [name, array] : arrays) {
      if (name.starts_with(kAutoencoderPrefix)) {
        weights[name.substr(kAutoencoderPrefix.size())] = array;
      }
    }
    Vector<double> errors;
    if (const auto found = arrays.find(kErrorsArray); found != arrays.end()) {
      const std::vector<double> values = found->second.values<double>();
      errors =
          Eigen::Map<const Vector<double>>(values.data(), static_cast<Eigen::Index>(values.size()));
    }
    density.attachments.erase(entry);
    ImageDensity result(Autoencoder(options, weights, load_autoencoder_network(options)),
                        std::move(density));
    result.set_held_out_errors(std::move(errors));
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string(), fmt::format("damaged ({})", error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string(), fmt::format("damaged ({})", error.what()));
  }
}

Table latent_table(const MatrixView<float>& latent) {
  return table_from_matrix(latent.cast<double>(),
                           latent_names(static_cast<std::size_t>(latent.cols())));
}

Matrix<float> latent_numbers(const Table& table, std::size_t latent) {
  return matrix_from_table(table, latent_names(latent)).cast<float>();
}

}  // namespace jeffreys
