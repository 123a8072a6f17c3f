#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "cli/images.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/image/image_density.h"
#include "jeffreys/image/image_file.h"

namespace jeffreys::cli {
namespace {

struct ImageSampleArguments {
  std::string model;
  std::size_t count = 64;
  std::string output;
  std::string from;
  std::uint64_t seed = 0;
  std::size_t columns = 0;
};

struct ImageScoreArguments {
  std::string model;
  ImageArguments images;
  std::string output;
  std::string sheet;
  std::size_t top = 64;
  std::string from;
};

// Small pictures are hard to see.
constexpr std::size_t kEasySize = 64;

Images sheet_of(const Images& images, std::size_t columns) {
  if (columns == 0) {
    columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(images.count))));
  }
  return contact_sheet(images, columns, std::max<std::size_t>(1, kEasySize / images.width));
}

void require_png(const std::string& path, const char* option) {
  if (std::filesystem::path(path).extension() != ".png") {
    throw UsageError(
        fmt::format("{}: expected a file name that ends in .png, got '{}'", option, path));
  }
  require_folder(path);
}

ImageDensity load_images(const std::string& model) {
  ImageDensity density = ImageDensity::load(model);
  density.use_threads(
      std::make_shared<ThreadPool>(std::max(1U, std::thread::hardware_concurrency())));
  return density;
}

void run_images_sample(const ImageSampleArguments& a, const Globals& globals) {
  require_png(a.output, "--output");
  require_other_file(a.output, {a.model});
  const ImageDensity density = load_images(a.model);
  const From from = chosen_from(a.from, density.density());
  write_png(a.output, sheet_of(density.sample(a.count, a.seed, from), a.columns));
  announce(a.output, globals);
}

Column names_column(const ImageSet& set, const std::vector<std::size_t>& order) {
  Column column{.name = "picture"};
  for (const std::size_t i : order) {
    column.codes.push_back(static_cast<std::int32_t>(column.labels.size()));
    column.labels.push_back(set.names[i]);
  }
  return column;
}

Table score_table(const ImageSet& set, const ImageScores& scores,
                  const std::vector<std::size_t>& order) {
  Table table{"", {}, {}};
  table.columns.push_back(names_column(set, order));
  const auto add = [&](const char* name, const Vector<double>& values) {
    Column column{.name = name};
    for (const std::size_t i : order) {
      column.numbers.push_back(values(static_cast<Eigen::Index>(i)));
    }
    table.columns.push_back(std::move(column));
  };
  add("p_value", scores.p_value);
  add("log_prob", scores.log_prob);
  add("p_log_prob", scores.p_log_prob);
  add("error", scores.error);
  add("p_error", scores.p_error);
  return table;
}

void run_images_score(const ImageScoreArguments& a, const Globals& globals) {
  if (!a.sheet.empty()) require_png(a.sheet, "--sheet");
  require_other_file(a.output, {a.model, a.images.pictures});
  require_table_name(a.output);
  const ImageDensity density = load_images(a.model);
  const From from = chosen_from(a.from, density.density());
  const AutoencoderOptions& shape = density.autoencoder().options();
  const StopOnSignal signals;
  const ImageSet set = a.images.read(globals, shape.size, shape.channels);
  const ImageScores scores = density.score(set.images, from);
  const std::vector<std::size_t> order = scores.unusual_first();
  if (!a.sheet.empty()) {
    const std::size_t shown = std::min(a.top, order.size());
    write_png(a.sheet, sheet_of(take_images(set.images, std::span(order).first(shown)), 0));
    say(globals, fmt::format("{}: the {} most unusual of {} pictures, the first one first", a.sheet,
                             shown, order.size()));
  }
  write_result(score_table(set, scores, order), a.output, globals);
  const auto unusual = std::count_if(scores.p_value.begin(), scores.p_value.end(),
                                     [](double p) { return p <= 0.05; });
  if (density.held_out_errors().size() > 0) {
    say(globals, fmt::format("{} of {} pictures have a p-value of at most 0.05, from {} pictures "
                             "that the fit held out",
                             unusual, order.size(), density.held_out_errors().size()));
  }
}

}  // namespace

void add_images_sample(CLI::App& images, Globals& globals) {
  auto a = std::make_shared<ImageSampleArguments>();
  CLI::App* command = images.add_subcommand("sample", "New pictures on one sheet");
  command->add_option("model", a->model, "Model file of `images fit`")->required();
  command->add_option("-n,--count", a->count, "How many (default 64)")
      ->check(CLI::Range(1, 10'000));
  command->add_option("-o,--output", a->output, "PNG file")->required();
  command->add_option("--columns", a->columns, "In a row (default: about a square)")
      ->check(CLI::Range(1, 1000));
  add_from(*command, a->from);
  add_seed(*command, a->seed, "The same seed gives the same pictures (default 0)");
  command->footer(
      "Examples:\n"
      "  jeffreys images sample photos.model -n 64 -o grid.png\n"
      "  jeffreys images sample photos.model -n 16 --columns 8 --seed 3 -o row.png");
  command->callback([a, &globals] { run_images_sample(*a, globals); });
}

void add_images_score(CLI::App& images, Globals& globals) {
  auto a = std::make_shared<ImageScoreArguments>();
  CLI::App* command = images.add_subcommand("score", "How usual pictures are: unusual ones first");
  command->add_option("model", a->model, "Model file of `images fit`")->required();
  add_image_options(*command, a->images);
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  command->add_option("--sheet", a->sheet, "PNG file with the most unusual ones");
  command->add_option("--top", a->top, "How many of them (default 64)")
      ->check(CLI::Range(1, 10'000));
  add_from(*command, a->from);
  command->footer(
      "log_prob is the log density of a picture's latent numbers, error what the autoencoder "
      "loses\n"
      "of it (mean squared, of pixels in [-1, 1]); their p-values are shares of the pictures that\n"
      "the fit held out, and p_value is small if either is. Examples:\n"
      "  jeffreys images score photos.model new/ -o scores.csv --sheet unusual.png\n"
      "  jeffreys images score photos.model new.jpg");
  command->callback([a, &globals] { run_images_score(*a, globals); });
}

}  // namespace jeffreys::cli
