// Several fits as one density.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fit/small_fits.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/fit/member_fits.h"
#include "jeffreys/model/density_mixture.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  EXPECT_EQ(given.fit.report.blend.back().name, "mixture");
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

// The table with every fifth row lacking b, and every seventh its label.
Table with_gaps(Table table) {
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (i % 5 == 0) table.columns[1].numbers[i] = std::nan("");
    if (i % 7 == 0 && table.columns.size() > 3) table.columns[3].codes[i] = -1;
  }
  return table;
}

// With gaps: judged by what they have, by fits that have not seen it.
TEST(SeveralFits, KeepRowsWithGaps) {
  const ChosenSettings settings = settings_of({"members=6", "iterations=300"});
  const TableFit made = fit_table(with_gaps(made_table(300)), {}, settings);
  const FitReport& report = made.fit.report;
  EXPECT_EQ(report.members, 6);
  EXPECT_EQ(report.main.held_out.rows, 300U);
  EXPECT_EQ(report.blend.back().name, "mixture");
  EXPECT_EQ(made.fit.density.calibration().main.size(), 240) << "complete rows";
  // What it says of itself is what fresh rows with gaps say of it. The standard error is 0.12.
  const Table longer = with_gaps(made_table(900));
  const Vector<double> log_prob = made.fit.density.log_prob(longer).log_prob;
  EXPECT_NEAR(report.main.held_out.nll, -log_prob.tail(600).mean(), 0.4);
  const TableFit dropped = fit_table(with_gaps(made_table(300)), {},
                                     settings_of({"members=6", "iterations=300", "missing=drop"}));
  EXPECT_EQ(dropped.fit.report.main.held_out.rows, 240U);
}

TEST(SeveralFits, WithGapsDependNeitherOnThreadsNorOnTheOrderOfRows) {
  const Table table = with_gaps(made_table(100, true));
  const ChosenSettings settings = settings_of({"members=4", "iterations=120", "missing=keep"});
  const auto scores = [&](const Table& rows, std::size_t threads) {
    return fit_table(rows, {}, settings, {.threads = threads})
        .fit.density.log_prob(made_table(50, true))
        .log_prob;
  };
  const Vector<double> one = scores(table, 1);
  EXPECT_TRUE(one.allFinite());
  EXPECT_EQ(one, scores(table, 3));
  Table backwards = table;
  for (Column& column : backwards.columns) {
    std::reverse(column.numbers.begin(), column.numbers.end());
    std::reverse(column.codes.begin(), column.codes.end());
  }
  EXPECT_EQ(one, scores(backwards, 1));
}

// Rows with a > 0 hardly count: neither for the members nor for the simple models nor for what is
// said of them.
TEST(SeveralFits, KnowWeightsOfRows) {
  Table table = made_table(240);
  Column weights{.name = "w", .numbers = std::vector<double>(240)};
  std::vector<std::size_t> counting;
  for (std::size_t i = 0; i < 240; ++i) {
    weights.numbers[i] = table.columns[0].numbers[i] > 0 ? 0.03 : 3;
    if (weights.numbers[i] > 1) counting.push_back(i);
  }
  table.columns.push_back(weights);
  const ChosenSettings settings = settings_of({"members=6", "iterations=300"});
  const TableFit made = fit_table(table, {.weights = "w"}, settings);
  EXPECT_EQ(made.fit.report.members, 6);
  const Vector<double> drawn = Eigen::Map<const Vector<double>>(
      made.fit.density.sample(2000, 1).table.columns[0].numbers.data(), 2000);
  EXPECT_LT((drawn.array() > 0.5).cast<double>().mean(), 0.1) << "15 % of normal numbers are";
  // The same rows alone say as much.
  const TableFit alone = fit_table(take_rows(made_table(240), counting), {}, settings);
  EXPECT_NEAR(made.fit.report.main.held_out.nll, alone.fit.report.main.held_out.nll, 0.4);
  EXPECT_NEAR(made.fit.report.gaussian.held_out.nll, alone.fit.report.gaussian.held_out.nll, 0.2);
}

TEST(SeveralFits, OneFlowLearnsThemOnRequest) {
  const ChosenSettings settings = settings_of({"members=4", "iterations=1000", "distill=true",
                                               "learning_rate.main=1e-2", "flow.hidden=16"});
  for (const bool given : {false, true}) {
    SchemaOptions columns;
    if (given) columns.condition = {"a"};
    const TableFit made = fit_table(made_table(200), columns, settings);
    EXPECT_EQ(dynamic_cast<const DensityMixture<float>*>(&made.fit.density.main()), nullptr);
    EXPECT_EQ(made.fit.density.main().context_features(), given ? 1 : 0);
    ASSERT_TRUE(made.fit.report.distilled.has_value());
    const PairedDifference loss = *made.fit.report.distilled;
    EXPECT_GT(loss.mean, -2 * loss.standard_error);
    EXPECT_LT(loss.mean, 0.3);
    EXPECT_EQ(made.fit.report.main.held_out.rows, 200U);
    EXPECT_EQ(made.fit.density.history.empty(), false);
  }
}

class SeveralFitsFolder : public ScratchTest {
 protected:
  [[nodiscard]] TableFit fitted(int steps, bool resume, const std::string& iterations = "40",
                                const std::vector<std::string>& more = {},
                                const Table& table = made_table(100)) const {
    const FitRun run{.checkpoint = path("m.checkpoint"),
                     .folder = path("m.members"),
                     .resume = resume,
                     .should_stop = [steps]() mutable { return --steps < 0; }};
    std::vector<std::string> all{"members=4", "iterations=" + iterations};
    all.insert(all.end(), more.begin(), more.end());
    TableFit made = fit_table(table, {}, settings_of(all), run);
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

// Also while gaps are filled, and when one flow learns them.
TEST_F(SeveralFitsFolder, GoOnWithGapsAndWhileTheyAreDistilled) {
  const Table table = with_gaps(made_table(100, true));
  const auto fit_so_far = [&](int steps, bool resume) {
    return fitted(steps, resume, "120", {"missing=keep", "distill=true"}, table);
  };
  const auto scores = [&](const TableFit& made) {
    return made.fit.density.log_prob(made_table(50, true)).log_prob;
  };
  const Vector<double> whole = scores(fit_so_far(1'000'000, false));
  EXPECT_EQ(fit_so_far(200, false).fit.report.training.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(std::filesystem::exists(path("m.members/2.checkpoint")));
  EXPECT_EQ(fit_so_far(350, true).fit.report.training.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(std::filesystem::exists(path("m.members/5.checkpoint"))) << "the last flow";
  EXPECT_EQ(scores(fit_so_far(1'000'000, true)), whole);
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
  EXPECT_THAT(mistake_of([] {
                (void)fit_table(made_table(60), {}, settings_of({"members=1", "distill=true"}));
              }),
              AllOf(HasSubstr("distill=true"), HasSubstr("members=10")));
  EXPECT_THAT([] { (void)fit_table(made_table(60), {}, settings_of({"members=20"})); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("60 usable rows are too few for 20 fits"),
                                              HasSubstr("--members"))));
}

}  // namespace
}  // namespace jeffreys::testing
