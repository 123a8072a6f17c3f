// Several fits as one density.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "fit/simple_models.h"
#include "fit/small_fits.h"
#include "fit/table_baseline.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/fit/member_fits.h"
#include "jeffreys/model/density_mixture.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

ChosenSettings settings_of(const std::vector<std::string>& more) {
  ChosenSettings settings;
  for (const char* text : {"iterations=40", "flow.transforms=1", "flow.hidden=8", "seed=5"}) {
    settings.add_text(text, "test");
  }
  for (const std::string& text : more) settings.add_text(text, "test");
  return settings;
}

// A column that depends on another, an independent one, and one of labels where it is asked for.
Table made_table(std::size_t rows, bool labels = false) {
  std::vector<double> a = normal_numbers(rows, 1);
  std::vector<double> b = normal_numbers(rows, 2);
  const std::vector<double> c = normal_numbers(rows, 3);
  std::vector<std::string> k(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    b[i] = a[i] * a[i] + 0.5 * b[i];
    k[i] = a[i] > 0.5 ? "high" : "low";
  }
  TableMaker maker;
  maker.numbers("a", a).numbers("b", b).numbers("c", c);
  if (labels) maker.text("k", k);
  return maker.table();
}

const DensityMixture<float>& mixture_of(const Fit& fit) {
  return dynamic_cast<const DensityMixture<float>&>(fit.density.main());
}

TEST(MemberParts, LeaveEveryRowOutEquallyOften) {
  const MemberParts parts(53, 6, 2, 1);
  std::vector<int> left_out(53);
  for (int m = 0; m < 6; ++m) {
    const Split split = parts.split(m);
    EXPECT_EQ(split.training.size() + split.validation.size(), 53U);
    for (const std::size_t row : split.validation) ++left_out[row];
    for (const std::size_t row : parts.rows_of(m)) {
      EXPECT_EQ(parts.leaving_out(static_cast<int>(parts.part()[row])).front(), m);
    }
  }
  EXPECT_EQ(left_out, std::vector<int>(53, 2));
  EXPECT_THAT(parts.leaving_out(0), ElementsAre(0, 5));
  EXPECT_THROW(MemberParts(53, 1, 1, 1), std::invalid_argument);
  EXPECT_THROW(MemberParts(53, 4, 4, 1), std::invalid_argument);
  EXPECT_THROW(MemberParts(3, 4, 1, 1), std::invalid_argument);
}

TEST(SeveralFits, AreAMixtureWithTheWeightsOfTheReport) {
  const TableFit made = fit_table(made_table(200), {}, settings_of({"members=6"}));
  const FitReport& report = made.fit.report;
  EXPECT_EQ(report.members, 6);
  EXPECT_EQ(report.held_out_by, 2);
  std::vector<std::string> names;
  double sum = 0;
  std::size_t used = 0;
  for (const BlendShare& share : report.blend) {
    names.push_back(share.name);
    sum += share.weight;
    if (share.weight > 0) used += static_cast<std::size_t>(share.densities);
    EXPECT_EQ(share.held_out.rows, 200U);
  }
  EXPECT_THAT(names, ElementsAre("flow", "whitened flow", "Gaussian", "mixture"));
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(mixture_of(made.fit).size(), used);
  EXPECT_EQ(report.main.held_out.rows, 200U);
  EXPECT_EQ(made.fit.density.proxy(), nullptr);
  EXPECT_EQ(made.fit.density.calibration().main.size(), 200);
  EXPECT_FALSE(made.fit.density.calibration().kept);
}

// Mean NLL of rows first to last of a made table by their own source.
double exact_nll(const Table& table, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double a = table.columns[0].numbers[i];
    const double b = (table.columns[1].numbers[i] - a * a) / 0.5;
    const double c = table.columns[2].numbers[i];
    sum += 0.5 * (a * a + b * b + c * c) + std::log(0.5) + 1.5 * std::log(2 * std::numbers::pi);
  }
  return sum / static_cast<double>(last - first);
}

// Rows are judged by fits that have not seen them: what a fit loses against the source is no more
// on fresh rows than it says. The first rows of a longer table are those of the shorter one. The
// standard error of the difference is about 0.04.
TEST(SeveralFits, DoNotFlatterThemselves) {
  const TableFit made =
      fit_table(made_table(300), {}, settings_of({"members=6", "iterations=300"}));
  const Table longer = made_table(3300);
  const Vector<double> log_prob = made.fit.density.log_prob(longer).log_prob;
  const double claimed = made.fit.report.main.held_out.nll - exact_nll(longer, 0, 300);
  const double lost = -log_prob.tail(3000).mean() - exact_nll(longer, 300, 3300);
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, claimed + 0.1);
}

// Data that are normal are a Gaussian's: the blend is not worse than it by more than a little.
TEST(SeveralFits, AreNotWorseThanAGaussianWhereItIsTheTruth) {
  const Table table = TableMaker()
                          .numbers("a", normal_numbers(60, 7))
                          .numbers("b", normal_numbers(60, 8))
                          .numbers("c", normal_numbers(60, 9))
                          .table();
  const TableFit made = fit_table(table, {}, settings_of({"members=6", "iterations=300"}));
  EXPECT_GT(made.fit.report.main.over_gauss.mean, -0.1);
  const TableFit without =
      fit_table(table, {}, settings_of({"members=6", "iterations=300", "simple=false"}));
  EXPECT_LT(without.fit.report.main.over_gauss.mean, made.fit.report.main.over_gauss.mean);
  EXPECT_EQ(without.fit.report.blend.size(), 2U);
}

TEST(SeveralFits, TakeProxiesLabelsAndConditionsToo) {
  const TableFit dual =
      fit_table(made_table(120), {}, settings_of({"members=4", "method=dual", "simple=false"}));
  EXPECT_EQ(dual.fit.report.blend.back().name, "flow proxy");
  const TableFit energy =
      fit_table(made_table(120), {}, settings_of({"members=2", "proxy=energy", "energy.hidden=8"}));
  EXPECT_EQ(energy.fit.report.blend.front().name, "flow");
  const TableFit given =
      fit_table(made_table(120, true), {.condition = {"a"}}, settings_of({"members=4"}));
  EXPECT_TRUE(std::isfinite(given.fit.report.main.held_out.nll));
  EXPECT_EQ(given.fit.report.blend.back().name, "Gaussian");
}

TEST(SeveralFits, DependNeitherOnThreadsNorOnTheOrderOfRows) {
  const Table table = made_table(100, true);
  const auto scores = [&](const Table& rows, std::size_t threads) {
    return fit_table(rows, {}, settings_of({"members=4"}), {.threads = threads})
        .fit.density.log_prob(table)
        .log_prob;
  };
  const Vector<double> one = scores(table, 1);
  EXPECT_EQ(one, scores(table, 3));
  Table backwards = table;
  for (Column& column : backwards.columns) {
    std::reverse(column.numbers.begin(), column.numbers.end());
    std::reverse(column.codes.begin(), column.codes.end());
  }
  EXPECT_EQ(one, scores(backwards, 1));
}

class SeveralFitsFolder : public ScratchTest {
 protected:
  [[nodiscard]] TableFit fitted(int steps, bool resume,
                                const std::string& iterations = "40") const {
    const FitRun run{.checkpoint = path("m.checkpoint"),
                     .folder = path("m.members"),
                     .resume = resume,
                     .should_stop = [steps]() mutable { return --steps < 0; }};
    TableFit made =
        fit_table(made_table(100), {}, settings_of({"members=4", "iterations=" + iterations}), run);
    if (made.fit.report.training.stop_reason != StopReason::interrupted) run.remove_unfinished();
    return made;
  }
};

TEST_F(SeveralFitsFolder, GoOnAfterAnInterruptionAsIfNothingHadHappened) {
  const Vector<double> whole =
      fitted(1'000'000, false).fit.density.log_prob(made_table(50)).log_prob;
  EXPECT_EQ(fitted(60, false).fit.report.training.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(std::filesystem::exists(path("m.members/1.model")));
  EXPECT_TRUE(std::filesystem::exists(path("m.members/2.checkpoint")));
  EXPECT_THAT([&] { (void)fitted(1'000'000, false); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("m.members"), HasSubstr("--resume"))));
  EXPECT_THAT([&] { (void)fitted(1'000'000, true, "50"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("1.model"), HasSubstr("other settings"))));
  EXPECT_EQ(fitted(10, true).fit.report.training.stop_reason, StopReason::interrupted);
  const TableFit resumed = fitted(1'000'000, true);
  EXPECT_EQ(resumed.fit.density.log_prob(made_table(50)).log_prob, whole);
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(SeveralFitsFolder, CanBeSharedOutOneByOneAsIfNothingHadHappened) {
  const Table table = made_table(100);
  const ChosenSettings settings = settings_of({"members=4", "iterations=40"});
  EXPECT_EQ(table_members(table, {}, settings), 4);
  const Vector<double> whole = fit_table(table, {}, settings).fit.density.log_prob(table).log_prob;
  std::filesystem::create_directory(path("all"));
  for (int m = 3; m >= 0; --m) {
    const std::filesystem::path folder = path("worker" + std::to_string(m));
    const TableFit one = fit_table(table, {}, settings, {.folder = folder, .only_member = m});
    EXPECT_EQ(one.fit.report.training.stop_reason, StopReason::interrupted);
    const std::string name = std::to_string(m + 1) + ".model";
    std::filesystem::rename(folder / name, path("all") / name);
  }
  // Nothing is left to train. The mixtures of Gaussians beside the members can be interrupted too.
  int fits = 0;
  int asked = 0;
  FitRun run{.folder = path("all"), .resume = true, .observe = [&](auto&&...) {
               ++fits;
               return nullptr;
             }};
  run.should_stop = [&] { return ++asked > 50; };
  EXPECT_EQ(fit_table(table, {}, settings, run).fit.report.training.stop_reason,
            StopReason::interrupted);
  EXPECT_EQ(asked, 51);
  run.should_stop = {};
  const TableFit made = fit_table(table, {}, settings, run);
  EXPECT_EQ(fits, 0);
  EXPECT_EQ(made.fit.density.log_prob(table).log_prob, whole);
  EXPECT_THAT([&] { (void)fit_table(table, {}, settings, {.only_member = 4}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("member: expected at most 3, got 4")));
  EXPECT_THAT([&] { (void)fit_table(table, {}, settings_of({"members=1"}), {.only_member = 0}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("without members")));
}

TEST_F(SeveralFitsFolder, CanBeSavedAndLoaded) {
  const TableFit made = fitted(1'000'000, false);
  made.fit.density.save(path("m"));
  const TabularDensity<float> loaded = TabularDensity<float>::load(path("m"));
  const Table rows = made_table(50);
  EXPECT_EQ(loaded.log_prob(rows).log_prob, made.fit.density.log_prob(rows).log_prob);
  const Table drawn = loaded.sample(20, 1).table;
  EXPECT_EQ(drawn.columns[1].numbers, made.fit.density.sample(20, 1).table.columns[1].numbers);
}

TEST(SeveralFits, AreAsManyAsTheSettingsSay) {
  const auto members = [](std::size_t rows, const std::vector<std::string>& more) {
    return fit_table(made_table(rows), {}, settings_of(more)).fit.report.members;
  };
  EXPECT_EQ(members(60, {"iterations=2"}), 10);
  EXPECT_EQ(members(39, {"iterations=2"}), 1);
  EXPECT_EQ(members(60, {"iterations=2", "method=mle"}), 1);
  EXPECT_EQ(members(60, {"iterations=2", "validation.fraction=0"}), 1);
  EXPECT_EQ(members(60, {"iterations=2", "members=3", "method=mle"}), 3);
  EXPECT_EQ(default_table_members(20000), 1);
}

TEST(SeveralFits, RefuseWhatMakesNoSense) {
  EXPECT_THAT(
      mistake_of([] {
        (void)fit_table(made_table(60), {}, settings_of({"members=3", "validation.fraction=0"}));
      }),
      AllOf(HasSubstr("members=3"), HasSubstr("leave one out")));
  EXPECT_THAT([] { (void)fit_table(made_table(60), {}, settings_of({"members=20"})); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("60 complete rows are too few for 20 fits"),
                                              HasSubstr("--members"))));
}

TEST(SeveralFits, GiveWayToOneWhereRowsHaveGapsOrWeights) {
  Table table = made_table(60);
  Column weights{.name = "w", .numbers = std::vector<double>(60, 2)};
  weights.numbers[5] = 1;
  table.columns.push_back(weights);
  const auto made = [&](const SchemaOptions& columns, const std::vector<std::string>& more) {
    return fit_table(table, columns, settings_of(more)).fit.report;
  };
  const FitReport weighted = made({.weights = "w"}, {"iterations=2"});
  EXPECT_EQ(weighted.members, 1);
  EXPECT_THAT(weighted.warnings, Contains(HasSubstr("instead of 10")));
  EXPECT_THAT(mistake_of([&] { (void)made({.weights = "w"}, {"members=3"}); }),
              AllOf(HasSubstr("members=3"), HasSubstr("weights"), HasSubstr("members=1")));
  EXPECT_EQ(made({.ignore = {"w"}}, {"iterations=2", "missing=keep"}).members, 10);
  table.columns[1].numbers[7] = std::nan("");
  const FitReport kept = made({.ignore = {"w"}}, {"iterations=2", "missing=keep"});
  EXPECT_EQ(kept.members, 1);
  EXPECT_THAT(kept.warnings, Contains(HasSubstr("missing cells")));
  EXPECT_THAT(mistake_of([&] {
                (void)made({.ignore = {"w"}}, {"members=3", "missing=keep"});
              }),
              AllOf(HasSubstr("members=3"), HasSubstr("missing cells"), HasSubstr("members=1")));
  EXPECT_EQ(made({.ignore = {"w"}}, {"iterations=2"}).members, 10);
  // Nothing to say where there would be one anyhow.
  EXPECT_THAT(made({.weights = "w"}, {"iterations=2", "members=1"}).warnings,
              Not(Contains(HasSubstr("instead of"))));
}

// The Gaussian among the models is the Gaussian of the verdict.
TEST(SimpleModels, TheGaussianIsThatOfTheReport) {
  for (const bool labels : {false, true}) {
    const FitOptions options;
    const PreparedTable table = prepare(made_table(80, labels), options);
    const RowShape shape = row_shape(table.schema);
    const TabularDensity<float> density(table.schema, gaussian_model(shape, table.training));
    const Vector<double> expected = TableBaseline(shape, table.training).log_prob(table.validation);
    EXPECT_TRUE(density.score(table.validation, From::main).log_prob.isApprox(expected, 1e-4));
  }
}

}  // namespace
}  // namespace jeffreys::testing
