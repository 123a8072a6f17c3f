// What an experiment is made of: experiments/NAME.toml, read beside the paper, and the runs that it
// asks for.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/fit/fit_options.h"

namespace jeffreys::experiment {

// Keys and values of change_setting(), in the order in which they apply.
using Settings = std::vector<std::pair<std::string, std::string>>;

enum class DataKind {
  source,  // in the plane, with a known density: truth/source.h
  table,   // UCI
  task,    // a simulator with a known posterior: truth/task.h
  images,  // what an autoencoder makes of pictures: image_data.h
};

// How pictures become numbers.
struct AutoencoderSpec {
  std::size_t latent = 0;  // numbers for each picture
  int epochs = 20;
  std::size_t others = 4000;  // pictures for the network that judges, at most
  std::size_t most = 20'000;  // that are read: a folder with all of CelebA has 200,000
};

struct DataSpec {
  DataKind kind = DataKind::source;
  std::string name;
  std::vector<Eigen::Index> rows;  // training rows; several are several data sets. Tables: {0}, all
  Eigen::Index test_rows = 0;
  AutoencoderSpec autoencoder;  // of pictures
  Settings settings;
};

struct WganSpec {
  int critic_steps = 5;
  double penalty = 0.1;
};

// When a run ends before all its iterations, as a result: the main model's Jeffreys divergence to
// the source has been above this for so many iterations.
struct LostRule {
  double divergence = 100;
  std::int64_t iterations = 10000;
};

struct MethodSpec {
  std::string name;
  std::string label;              // for legends and tables
  std::string baseline;           // gaussian, mixture, kernel; empty: trained
  std::optional<WganSpec> wgan;   // trained by the torch component
  std::vector<std::string> data;  // on these alone; empty: on all
  std::int64_t iterations = 0;    // of its own; 0: the plan's
  int seeds = 0;                  // at most so many; 0: as many as the plan has
  std::optional<LostRule> lost;   // only on sources; none: always to the end
  Settings settings;
  // Every combination of these values is a method of its own. The key "balance" is the weight of
  // the forward KL, which leaves 1 - balance for the reverse KL.
  std::vector<std::pair<std::string, std::vector<std::string>>> grid;
};

struct Plan {
  std::string name;
  std::string title;
  std::string text;  // of the file
  std::int64_t iterations = 0;
  int seeds = 1;
  int evaluations = 200;
  Eigen::Index maps = 0;  // pixels along an axis of the density maps of seed 0; 0: none
  Settings settings = {};
  std::vector<DataSpec> data = {};
  std::vector<MethodSpec> methods = {};
};

// Throws InputError with `file`, line and column for what is not a plan.
[[nodiscard]] Plan read_plan(const std::string& name, const std::string& text,
                             const std::string& file);

// One training run, or one baseline.
struct Job {
  std::string experiment;
  std::string data;    // name, with the number of rows where there are several
  std::string method;  // name, with the grid's values where there is one
  std::string label;
  std::string baseline;
  std::optional<WganSpec> wgan;
  std::optional<LostRule> lost;
  DataKind kind = DataKind::source;
  std::string source;  // which of them
  Eigen::Index rows = 0;
  Eigen::Index test_rows = 0;
  AutoencoderSpec autoencoder;
  std::uint64_t seed = 0;
  int evaluations = 0;
  Eigen::Index maps = 0;
  FitOptions options = {};

  // "ring/ours/seed-0": also its files below the experiment's folder.
  [[nodiscard]] std::string name() const;
};

// A run at another scale: iterations are shortened, and below kSmoke to at most 100; then only two
// corners of grids, the smallest number of rows and one seed are run, on fewer test rows. Pictures
// are then few too.
inline constexpr double kSmoke = 0.05;
[[nodiscard]] std::vector<Job> make_jobs(const Plan& plan, double scale, std::optional<int> seeds);

// The iterations after which a run is measured: a quarter of them spread evenly over
// log(iteration), where most happens, half over the whole length, and a quarter over its last
// tenth, which is what claims about the end of a run speak of; always the first and the last.
[[nodiscard]] std::vector<std::int64_t> evaluation_points(std::int64_t iterations, int count);

}  // namespace jeffreys::experiment
