#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "experiment/plan.h"

namespace jeffreys::experiment {
namespace {

constexpr std::int64_t kFewestIterations = 20;
constexpr int kFewestEvaluations = 12;
constexpr Eigen::Index kSmokeTestRows = 2000;
constexpr std::int64_t kSmokeIterations = 100;
// Models of pictures are the paper's largest, so a smoke run of them is the shortest.
constexpr Eigen::Index kSmokeImages = 60;
constexpr Eigen::Index kSmokeTestImages = 40;
constexpr std::size_t kSmokeOtherImages = 60;
constexpr std::int64_t kSmokeImageIterations = 6;
constexpr int kSmokeImageEvaluations = 3;
constexpr std::int64_t kSmokeWarmStart = 5;
constexpr Eigen::Index kSmokeZetaSamples = 200;

void apply(const Settings& settings, FitOptions& options) {
  for (const auto& [key, value] : settings) {
    if (key == "preset") {
      apply_preset(value, options);
    } else if (key == "balance") {
      double balance = 0;
      std::from_chars(value.data(), value.data() + value.size(), balance);
      options.train.multipliers.forward = balance;
      options.train.multipliers.reverse = 1 - balance;
    } else {
      change_setting(options, key, value);
    }
  }
}

// All combinations of a grid's values; in a smoke run of the first and the last of each.
std::vector<Settings> combinations(const MethodSpec& method, bool smoke) {
  std::vector<Settings> result(1);
  for (const auto& [key, all] : method.grid) {
    std::vector<std::string> values = all;
    if (smoke && values.size() > 2) values = {all.front(), all.back()};
    std::vector<Settings> longer;
    for (const Settings& begun : result) {
      for (const std::string& value : values) {
        longer.push_back(begun);
        longer.back().emplace_back(key, value);
      }
    }
    result = std::move(longer);
  }
  if (smoke && result.size() > 2) result = {result.front(), result.back()};
  return result;
}

// What all jobs of a method have in common at a scale.
struct Extent {
  double scale = 1;
  bool smoke = false;
  std::int64_t iterations = 0;
  int evaluations = 0;
};

Extent extent_of(const Plan& plan, const MethodSpec& method, double scale) {
  const bool smoke = scale < kSmoke;
  const std::int64_t all = method.iterations > 0 ? method.iterations : plan.iterations;
  const auto iterations = static_cast<std::int64_t>(std::ceil(static_cast<double>(all) * scale));
  return {scale, smoke, std::clamp(iterations, kFewestIterations, smoke ? kSmokeIterations : all),
          std::clamp(static_cast<int>(plan.evaluations * scale * 10),
                     std::min(kFewestEvaluations, plan.evaluations), plan.evaluations)};
}

void shorten_images(double scale, Job& job) {
  job.autoencoder.epochs =
      static_cast<int>(std::ceil(static_cast<double>(job.autoencoder.epochs) * scale));
  if (scale >= kSmoke) return;
  TrainOptions& train = job.options.train;
  job.rows = std::min(job.rows, kSmokeImages);
  job.test_rows = std::min(job.test_rows, kSmokeTestImages);
  job.autoencoder.others = kSmokeOtherImages;
  job.autoencoder.most = static_cast<std::size_t>(job.rows + job.test_rows) + kSmokeOtherImages;
  job.evaluations = std::min(job.evaluations, kSmokeImageEvaluations);
  train.iterations = std::min(train.iterations, kSmokeImageIterations);
  train.warm_start = std::min(train.warm_start, kSmokeWarmStart);
  train.zeta.samples = std::min(train.zeta.samples, kSmokeZetaSamples);
}

Job make_job(const Plan& plan, const Extent& extent, const DataSpec& data, Eigen::Index rows,
             const MethodSpec& method, const Settings& choice, std::uint64_t seed) {
  Job job{.experiment = plan.name,
          .data = data.rows.size() > 1 ? fmt::format("{}-{}", data.name, rows) : data.name,
          .method = method.name,
          .label = method.label,
          .baseline = method.baseline,
          .wgan = method.wgan,
          .lost = method.lost,
          .kind = data.kind,
          .source = data.name,
          .rows = rows,
          .test_rows = extent.smoke ? std::min(data.test_rows, kSmokeTestRows) : data.test_rows,
          .autoencoder = data.autoencoder,
          .seed = seed,
          .evaluations = extent.evaluations,
          .maps = seed == 0 ? plan.maps : 0};
  for (const Settings* settings : {&plan.settings, &data.settings, &method.settings, &choice}) {
    apply(*settings, job.options);
  }
  for (const auto& [key, value] : choice) {
    job.method += "-" + value;
    job.label += (method.grid.front().first == key ? " " : ", ") + value;
  }
  job.options.seed = seed;
  job.options.train.seed = seed;
  job.options.train.iterations = method.baseline.empty() ? extent.iterations : 0;
  if (job.kind == DataKind::images) shorten_images(extent.scale, job);
  return job;
}

}  // namespace

std::string Job::name() const { return fmt::format("{}/{}/seed-{}", data, method, seed); }

std::vector<Job> make_jobs(const Plan& plan, double scale, std::optional<int> seeds) {
  const bool smoke = scale < kSmoke;
  const int seed_count = seeds.value_or(smoke ? 1 : plan.seeds);
  std::vector<Job> jobs;
  // Seeds outermost: what is done first says something about every method.
  for (int seed = 0; seed < seed_count; ++seed) {
    for (const DataSpec& data : plan.data) {
      const std::size_t sizes = smoke ? 1 : data.rows.size();
      for (std::size_t size = 0; size < sizes; ++size) {
        for (const MethodSpec& method : plan.methods) {
          if (method.seeds > 0 && seed >= method.seeds) continue;
          if (!method.data.empty() &&
              std::find(method.data.begin(), method.data.end(), data.name) == method.data.end()) {
            continue;
          }
          const Extent extent = extent_of(plan, method, scale);
          for (const Settings& choice : combinations(method, smoke)) {
            jobs.push_back(make_job(plan, extent, data, data.rows[size], method, choice,
                                    static_cast<std::uint64_t>(seed)));
          }
        }
      }
    }
  }
  return jobs;
}

std::vector<std::int64_t> evaluation_points(std::int64_t iterations, int count) {
  std::set<std::int64_t> points = {1, iterations};
  const int logarithmic = count / 4;
  for (int i = 1; i < logarithmic; ++i) {
    points.insert(static_cast<std::int64_t>(std::llround(
        std::pow(static_cast<double>(iterations), static_cast<double>(i) / logarithmic))));
  }
  const int late = count / 4;
  const std::int64_t tenth = iterations / 10;
  for (int i = 1; i <= late; ++i) points.insert(iterations - tenth + tenth * i / late);
  const int even = count - logarithmic - late;
  for (int i = 1; i <= even; ++i) points.insert(iterations * i / even);
  points.erase(0);
  return {points.begin(), points.end()};
}

}  // namespace jeffreys::experiment
