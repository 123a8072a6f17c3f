// Densities on disk: what was saved is what is loaded, and nothing else is.
#include <gmock/gmock.h>

#include "fit/small_fits.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"
#include "support/damaged_files.h"
#include "support/golden.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

struct Kind {
  std::string name;
  Method method = Method::dual;
  ModelChoice proxy = ModelChoice{"flow"};
  bool conditional = false;
  ModelChoice main = {"flow"};
};
void PrintTo(const Kind& kind, std::ostream* stream) { *stream << kind.name; }

class DensityFile : public ScratchTest, public ::testing::WithParamInterface<Kind> {
 protected:
  static Fit fitted(const Kind& kind) {
    FitOptions options = small_fit_options(20);
    options.train.method = kind.method;
    options.proxy = kind.proxy;
    options.main = kind.main;
    if (kind.conditional) options.schema = mixed_options();
    return small_fit(kind.conditional ? mixed_table() : plane_table(), options);
  }
  static Table rows(const Kind& kind) { return kind.conditional ? mixed_table() : plane_table(); }
};

TEST_P(DensityFile, KeepsEverything) {
  Fit made = fitted(GetParam());
  TabularDensity<float>& before = made.density;
  before.record = R"({"a": "ä"})";
  before.save(path("m"));
  const auto after = TabularDensity<float>::load(path("m"));
  EXPECT_EQ(after.schema(), before.schema());
  EXPECT_EQ(after.record, before.record);
  EXPECT_EQ(after.chosen(), before.chosen());
  EXPECT_EQ(after.log_zeta(), before.log_zeta());
  EXPECT_EQ(after.history.size(), before.history.size());
  EXPECT_EQ(after.evaluations.size(), before.evaluations.size());
  EXPECT_EQ(after.proxy() != nullptr, before.proxy() != nullptr);
  after.save(path("n"));
  EXPECT_TRUE(bytes_of(path("m")) == bytes_of(path("n")));
}

TEST_P(DensityFile, SpeaksAsBefore) {
  Fit made = fitted(GetParam());
  made.density.save(path("m"));
  const auto loaded = TabularDensity<float>::load(path("m"));
  const auto twice = TabularDensity<double>::load(path("m"));
  const Table table = rows(GetParam());
  Matrix<double> conditions;
  if (GetParam().conditional) conditions = loaded.schema().encode_conditions(table).row(0);
  for (const From from : {From::main, From::proxy}) {
    if (from == From::proxy && !loaded.proxy()) continue;
    const Vector<double> expected = made.density.log_prob(table, from).log_prob;
    EXPECT_TRUE(same_bits(loaded.log_prob(table, from).log_prob, expected));
    if (!GetParam().conditional || from == From::main) {
      const Vector<double> exact = twice.log_prob(table, from).log_prob;
      EXPECT_LT((exact - expected).cwiseAbs().maxCoeff(), 2e-3);
    }
    const Table a = made.density.sample(10, 3, conditions, from).table;
    const Table b = loaded.sample(10, 3, conditions, from).table;
    for (const Column& column : a.columns) {
      EXPECT_EQ(cells_of(a, column.name), cells_of(b, column.name));
    }
  }
}

TEST_P(DensityFile, RefusesWhatDoesNotFit) {
  Fit made = fitted(GetParam());
  if (made.density.proxy()) return;
  EXPECT_THROW(made.density.choose(From::proxy), std::invalid_argument);
  EXPECT_THROW((void)made.density.log_prob(rows(GetParam()), From::proxy), std::invalid_argument);
  EXPECT_THROW((void)made.density.sample(3, 0, Matrix<double>(), From::proxy),
               std::invalid_argument);
  EXPECT_THROW((void)made.density.sample(3, 0, Matrix<double>::Zero(1, 2)), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DensityFile,
    ::testing::Values(Kind{"Flow"}, Kind{"Energy", Method::dual, ModelChoice{"energy"}},
                      Kind{"Likelihood", Method::mle},
                      Kind{"Conditional", Method::dual, ModelChoice{"flow"}, true},
                      Kind{"ConditionalEnergy", Method::weighted, ModelChoice{"energy"}, true},
                      Kind{"MixtureProxy", Method::dual, ModelChoice{"mixture"}},
                      Kind{"Mixture", Method::mle, ModelChoice{"flow"}, true,
                           ModelChoice{"mixture"}},
                      Kind{"MixtureWithEnergy", Method::dual, ModelChoice{"energy"}, false,
                           ModelChoice{"mixture"}}),
    [](const auto& test_info) { return test_info.param.name; });

class HostileDensity : public ScratchTest {
 protected:
  HostileDensity() { small_fit(plane_table(), small_fit_options(3)).density.save(path("m")); }

  ModelArchive<float> archive() const { return load_archive<float>(path("m")); }

  std::string problem(const ModelArchive<float>& damaged) const {
    save_archive(damaged, path("d"));
    return problem_of(path("d"), [](const std::filesystem::path& file) {
      (void)TabularDensity<float>::load(file);
    });
  }
  std::string problem_with(const std::string& key, const std::string& value) const {
    ModelArchive<float> damaged = archive();
    damaged.metadata[key] = value;
    return problem(damaged);
  }
};

// A file that the program wrote when model files had version 2, and what it said of five rows. The
// numbers come from another instruction set, so that they differ in their last digits.
TEST_F(HostileDensity, AFileOfTheEarlierVersionScoresAsBefore) {
  const auto density = TabularDensity<float>::load(golden_path("density_version_2.model"));
  Matrix<double> rows(5, 2);
  rows << 1.2882, 2.0943, 0.0663, -0.2250, -1.0922, 1.2022, -1.0221, 0.6136, 0.1993, 0.0797;
  const Table table = table_from_matrix(rows, std::vector<std::string>{"a", "b"});
  Vector<double> main(5);
  main << -3.1173830794, -4.7750421332, -5.2721577452, -5.7143336104, -4.1429775522;
  Vector<double> proxy(5);
  proxy << -3.6912666128, -2.3224066065, -2.9843755530, -2.7027891443, -2.2907839583;
  EXPECT_TRUE(density.log_prob(table, From::main).log_prob.isApprox(main, 1e-6));
  EXPECT_TRUE(density.log_prob(table, From::proxy).log_prob.isApprox(proxy, 1e-6));
  EXPECT_EQ(density.chosen(), From::proxy);
  EXPECT_EQ(density.history.size(), 30U);
  // Saved again, it is of this version and says the same.
  density.save(path("again"));
  EXPECT_TRUE(storage::read_safetensors(path("again")).has_checksum);
  const auto again = TabularDensity<float>::load(path("again"));
  EXPECT_TRUE(same_bits(again.log_prob(table).log_prob, density.log_prob(table).log_prob));
}

TEST_F(HostileDensity, NoFlippedBitGoesUnseen) {
  const std::string whole = bytes_of(path("m"));
  constexpr std::size_t kFlips = 3000;
  for (std::size_t i = 0; i < kFlips; ++i) {
    const std::size_t bit = 8 * (i * whole.size() / kFlips) + i % 8;
    const auto flipped = file("d", with_flipped_bit(whole, bit));
    EXPECT_THROW((void)TabularDensity<float>::load(flipped), InputError) << bit;
  }
}

TEST_F(HostileDensity, SchemasAreRefused) {
  for (const char* schema : {"{", "[]", "7", "{}", "null", R"({"version": 1})",
                             R"({"version": 99, "seed": 0})", "\"text\""}) {
    EXPECT_NE(problem_with("schema", schema), "") << schema;
  }
  EXPECT_THAT(problem_with("schema", Schema::identity(3).to_json()), HasSubstr("features"));
  EXPECT_NE(problem_with("schema", Schema::identity(2, 1).to_json()), "");
  EXPECT_NE(problem_with("schema", std::string(100000, '[')), "");
}

TEST_F(HostileDensity, NumbersOfZetaAreRefused) {
  for (const char* value : {"abc", "nan", "inf", "-inf", "1e999", "1 2", "0x1p5x"}) {
    EXPECT_NE(problem_with("log_zeta", value), "") << value;
  }
}

TEST_F(HostileDensity, ChoicesAreRefused) {
  EXPECT_NE(problem_with("chosen", "neither"), "");
  ModelArchive<float> damaged = archive();
  damaged.models.erase("proxy");
  damaged.metadata["chosen"] = "proxy";
  EXPECT_NE(problem(damaged), "");
}

TEST_F(HostileDensity, ModelsThatDoNotFitAreRefused) {
  ModelArchive<float> damaged = archive();
  damaged.models.at("main") = ResidualEnergy<float>({.features = 2});
  EXPECT_THAT(problem(damaged), HasSubstr("no density as its main model"));
  damaged = archive();
  damaged.models.at("proxy") = ResidualEnergy<float>({.features = 3});
  EXPECT_THAT(problem(damaged), HasSubstr("features"));
  damaged = archive();
  damaged.models.erase("main");
  EXPECT_NE(problem(damaged), "");
}

TEST_F(HostileDensity, RecordsOfAnotherShapeAreRefused) {
  for (const char* name : {"history", "evaluations"}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{6}, {2, 3}, {1, 1, 6}}) {
      ModelArchive<float> damaged = archive();
      damaged.arrays[name] = storage::Array::from<double>(shape, std::vector<double>(6));
      EXPECT_THAT(problem(damaged), HasSubstr(name));
    }
  }
}

TEST_F(HostileDensity, ModelWithoutSchemaIsTakenAsItIs) {
  const SplineFlow<float> flow({.features = 3, .context_features = 1, .hidden = {8}});
  save_model(flow, path("flow"));
  const auto density = TabularDensity<float>::load(path("flow"));
  EXPECT_EQ(density.schema(), Schema::identity(3, 1));
  EXPECT_EQ(density.chosen(), From::main);
}

}  // namespace
}  // namespace jeffreys::testing
