// Checkpoints that a run must refuse: those of other runs, and damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/storage/safetensors.h"
#include "support/damaged_files.h"
#include "support/scratch_folder.h"
#include "train/small_run.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;
using testing::energy_scenario;
using ::testing::HasSubstr;
using testing::problem_of;
using testing::Scenario;
using testing::SmallRun;

class Checkpoint : public testing::ScratchTest {
 protected:
  Checkpoint() {
    SmallRun run(scenario);
    run.run_until(23);
    run.trainer->save(saved);
  }

  // The problem that a run of this scenario has with a file.
  [[nodiscard]] std::string problem(const Scenario& other, const std::filesystem::path& file) {
    SmallRun run(other, 50);
    return problem_of(file, [&](const std::filesystem::path& p) { run.trainer->resume(p); });
  }

  // The problem with the checkpoint after an edit of its content.
  [[nodiscard]] std::string problem_after(const std::function<void(TensorFile&)>& edit) {
    TensorFile content = storage::read_safetensors(saved);
    edit(content);
    storage::write_safetensors(path("edited"), content);
    return problem(scenario, path("edited"));
  }

  // The problem after an edit of the counters.
  [[nodiscard]] std::string problem_with(const std::string& counter, const nlohmann::json& value) {
    return problem_after([&](TensorFile& file) {
      nlohmann::json counters = nlohmann::json::parse(file.metadata.at("counters"));
      counters[counter] = value;
      file.metadata["counters"] = counters.dump();
    });
  }

  // The checkpoint as the last version without checksums wrote it.
  static std::string earlier(const std::string& bytes) {
    return testing::of_earlier_version(bytes, "jeffreys.checkpoint_version", "4");
  }

  Scenario scenario = energy_scenario();
  std::filesystem::path saved = path("saved");
};

TEST_F(Checkpoint, OfOtherOptionsIsRefusedByTheirName) {
  using Edit = std::function<void(TrainOptions&)>;
  const std::vector<std::pair<std::string, Edit>> edits{
      {"batch_size", [](auto& o) { o.batch_size = 31; }},
      {"seed", [](auto& o) { o.seed = 10; }},
      {"learning_rate.main", [](auto& o) { o.learning_rate.main *= 1 + 1e-15; }},
      {"learning_rate.zeta", [](auto& o) { o.learning_rate.zeta = 0; }},
      {"schedule.warm_up", [](auto& o) { o.schedule.warm_up = 6; }},
      {"iterations", [](auto& o) { o.iterations = 61; }},  // a cosine knows its length
      {"optimizer.clip_norm", [](auto& o) { o.optimizer.clip_norm = 5; }},
      {"averaging", [](auto& o) { o.averaging = 0.91; }},
      {"method", [](auto& o) { o.method = Method::weighted; }},
      {"multipliers.proxy", [](auto& o) { o.multipliers.proxy = 0.02; }},
      {"multipliers.optimizer",
       [](auto& o) { o.multiplier_optimizer = MultiplierOptimizer::exact; }},
      {"reverse.scale", [](auto& o) { o.dual.reverse_scale = 2; }},
      {"reverse.estimator",
       [](auto& o) { o.dual.reverse_estimator = ReverseEstimator::leave_one_out; }},
      {"zeta.refresh", [](auto& o) { o.zeta.refresh = 6; }},
      {"warm_start", [](auto& o) { o.warm_start = 6; }},
      {"validation.every", [](auto& o) { o.validation.every = 11; }},
      {"validation.zeta_samples", [](auto& o) { o.validation.zeta_samples = 61; }},
  };
  for (const auto& [name, edit] : edits) {
    Scenario other = scenario;
    edit(other.options);
    EXPECT_THAT(problem(other, saved), HasSubstr("its " + name + " differs"));
  }
}

TEST_F(Checkpoint, OfOtherDataIsRefused) {
  Scenario other = scenario;
  other.rows = 71;
  EXPECT_THAT(problem(other, saved), HasSubstr("its data differs"));

  Scenario same_size = scenario;
  SmallRun run(same_size);
  Matrix<float> x = testing::correlated_rows(70, 2, 3).cast<float>();
  x(69, 1) = std::nextafter(x(69, 1), 10.0F);
  Trainer<float> trainer(run.main, run.proxy.get(),
                         {x, {}, testing::correlated_rows(20, 2, 5).cast<float>(), {}},
                         same_size.options);
  EXPECT_THAT(problem_of(saved, [&](const auto& p) { trainer.resume(p); }),
              HasSubstr("its data differs"));
}

// A run with these models instead.
std::string problem_with_models(const Scenario& scenario, const std::filesystem::path& saved,
                                const SplineFlowOptions& flow,
                                const ResidualEnergyOptions& energy) {
  SplineFlow<float> main(flow);
  ResidualEnergy<float> proxy(energy);
  Trainer<float> trainer(main, &proxy,
                         {testing::correlated_rows(70, 2, 3).cast<float>(),
                          {},
                          testing::correlated_rows(20, 2, 5).cast<float>(),
                          {}},
                         scenario.options);
  try {
    trainer.resume(saved);
  } catch (const InputError& error) {
    return error.problem();
  }
  return "accepted";
}

const SplineFlowOptions kFlow{.features = 2, .transforms = 2, .bins = 4, .hidden = {8}};
const ResidualEnergyOptions kEnergy{.features = 2, .hidden = 8, .blocks = 1};

TEST_F(Checkpoint, OfOtherModelsIsRefused) {
  EXPECT_EQ(problem_with_models(scenario, saved, kFlow, kEnergy), "accepted");
  SplineFlowOptions flow = kFlow;
  flow.bins = 5;
  EXPECT_THAT(problem_with_models(scenario, saved, flow, kEnergy),
              HasSubstr("its main model differs"));
  ResidualEnergyOptions energy = kEnergy;
  energy.blocks = 2;
  EXPECT_THAT(problem_with_models(scenario, saved, kFlow, energy),
              HasSubstr("its proxy model differs"));
  Scenario alone = testing::likelihood_scenario(Method::mle);
  EXPECT_THAT(problem(alone, saved), HasSubstr("differs"));
}

// Models with as many parameters that mean something else.
TEST_F(Checkpoint, OfModelsThatDifferInMoreThanSizesIsRefused) {
  ResidualEnergyOptions warmer = kEnergy;
  warmer.temperature = 2;
  EXPECT_THAT(problem_with_models(scenario, saved, kFlow, warmer),
              HasSubstr("its proxy model differs"));
  SplineFlowOptions swapped = kFlow;
  swapped.orders = {{1, 0}, {0, 1}};
  EXPECT_THAT(problem_with_models(scenario, saved, swapped, kEnergy),
              HasSubstr("its main model differs"));
}

TEST_F(Checkpoint, AllowsLimitsToDiffer) {
  Scenario other = scenario;
  other.options.time_limit = 1000;
  other.options.max_skipped = 3;
  other.options.record_every = 7;
  other.options.validation.patience = 50;
  other.options.checkpoint = {.path = path("elsewhere"), .seconds = 1};
  SmallRun run(other, 50);
  run.trainer->resume(saved);
  EXPECT_EQ(run.trainer->iteration(), 23);
}

TEST_F(Checkpoint, OfAnotherVersionIsRefused) {
  EXPECT_THAT(
      problem_after([](TensorFile& f) { f.metadata["jeffreys.checkpoint_version"] = "99"; }),
      HasSubstr("version"));
  EXPECT_THAT(problem_after([](TensorFile& f) { f.metadata.clear(); }), HasSubstr("version"));
}

TEST_F(Checkpoint, ThatIsAbsentOrAnotherFileIsRefused) {
  EXPECT_FALSE(problem(scenario, path("absent")).empty());
  EXPECT_FALSE(problem(scenario, file("text", "not a checkpoint at all")).empty());
  EXPECT_FALSE(problem(scenario, file("empty", "")).empty());
}

TEST_F(Checkpoint, WithoutOneOfItsTensorsIsRefusedByName) {
  const TensorFile whole = storage::read_safetensors(saved);
  ASSERT_GT(whole.tensors.size(), 15U);
  for (const auto& [name, array] : whole.tensors) {
    EXPECT_THAT(problem_after([&](TensorFile& f) { f.tensors.erase(name); }), HasSubstr("damaged"))
        << name;
    EXPECT_THAT(problem_after([&](TensorFile& f) {
                  f.tensors[name] = Array::from<double>({3}, std::vector<double>(3, 0.5));
                }),
                HasSubstr("damaged"))
        << name << " of another size";
  }
}

TEST_F(Checkpoint, WithImpossibleCountersIsRefused) {
  for (const char* name :
       {"iteration", "main_steps", "proxy_steps", "multiplier_steps", "skipped"}) {
    EXPECT_THAT(problem_with(name, -5), HasSubstr("damaged")) << name;
    EXPECT_THAT(problem_with(name, "many"), HasSubstr("damaged")) << name;
    EXPECT_THAT(problem_with(name, nullptr), HasSubstr("damaged")) << name;
  }
  EXPECT_THAT(problem_with("best_main", 3), HasSubstr("damaged"));
  EXPECT_THAT(problem_with("seconds", "soon"), HasSubstr("damaged"));
}

TEST_F(Checkpoint, OfAnotherRunLeavesTheModelsAsTheyWere) {
  Scenario other = scenario;
  other.options.seed = 10;
  SmallRun run(other);
  const std::vector<float> before(run.main.parameters().begin(), run.main.parameters().end());
  EXPECT_THROW(run.trainer->resume(saved), InputError);
  EXPECT_EQ(run.trainer->iteration(), 0);
  EXPECT_TRUE(testing::same_bits(run.main.parameters(), before));
}

// After the first step, for no time has to pass, and at the end.
TEST_F(Checkpoint, IsWrittenOnTheWayAndAtTheEnd) {
  Scenario writing = scenario;
  writing.options.checkpoint = {.path = path("own"), .seconds = 0};
  SmallRun first(writing);
  const TrainResult half = first.run_until(2);
  EXPECT_EQ(half.checkpoints, 2);
  EXPECT_EQ(files_in_folder(), 2U);  // this one and `saved`: no traces of writing
  SmallRun second(writing, 50);
  second.trainer->resume(path("own"));
  EXPECT_EQ(second.trainer->iteration(), 2);

  writing.options.checkpoint.seconds = 1000;
  SmallRun rarely(writing);
  EXPECT_EQ(rarely.run_until(30).checkpoints, 1);
}

TEST_F(Checkpoint, ThatIsCutOffIsRefused) {
  const std::string bytes = testing::bytes_of(saved);
  SmallRun run(scenario);
  for (std::size_t length = 0; length < bytes.size();
       length += length < 200 ? 7 : bytes.size() / 150) {
    const std::filesystem::path cut = file("cut", bytes.substr(0, length));
    EXPECT_THROW(run.trainer->resume(cut), InputError) << length << " bytes";
  }
  const std::filesystem::path all_but_one = file("cut", bytes.substr(0, bytes.size() - 1));
  EXPECT_THROW(run.trainer->resume(all_but_one), InputError);
}

// How many of so many flipped bits, evenly spread, are refused.
template <typename Try>
std::size_t refused_flips(const std::string& bytes, std::size_t flips, const Try& attempt) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < flips; ++i) {
    try {
      attempt(testing::with_flipped_bit(bytes, 8 * (i * bytes.size() / flips) + i % 8));
    } catch (const InputError&) {
      ++refused;
    }
  }
  return refused;
}

TEST_F(Checkpoint, WithAFlippedBitIsRefused) {
  SmallRun run(scenario, 50);
  constexpr std::size_t kFlips = 3000;
  EXPECT_EQ(refused_flips(testing::bytes_of(saved), kFlips,
                          [&](const std::string& flipped) {
                            run.trainer->resume(file("flipped", flipped));
                            ADD_FAILURE() << "accepted";
                          }),
            kFlips);
  EXPECT_THAT(problem(scenario, file("bare", testing::without_checksum(testing::bytes_of(saved)))),
              HasSubstr("its checksum is missing"));
}

// Without a checksum a flipped bit in a number cannot be told from a number: then training goes on,
// or skips.
TEST_F(Checkpoint, OfTheEarlierVersionWithAFlippedBitIsRefusedOrUsable) {
  constexpr std::size_t kFlips = 1500;
  const std::size_t refused =
      refused_flips(earlier(testing::bytes_of(saved)), kFlips, [&](const std::string& flipped) {
        SmallRun run(scenario, 50);
        run.trainer->resume(file("flipped", flipped));
        run.trainer->step();
      });
  EXPECT_GT(refused, 50U);
  EXPECT_LT(refused, kFlips);
}

TEST_F(Checkpoint, OfTheEarlierVersionGoesOnBitForBit) {
  const auto end_after = [&](const std::filesystem::path& file) {
    SmallRun run(scenario, 50);
    run.trainer->resume(file);
    EXPECT_EQ(run.trainer->iteration(), 23);
    run.run_until(30);
    return std::vector<float>(run.main.parameters().begin(), run.main.parameters().end());
  };
  const auto old = file("old", earlier(testing::bytes_of(saved)));
  EXPECT_TRUE(testing::same_bits(end_after(old), end_after(saved)));
}

}  // namespace
}  // namespace jeffreys
