#include "jeffreys/fit/chosen_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "jeffreys/base/input_error.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::mistake_of;

class ChosenSettingsTest : public testing::ScratchTest {
 protected:
  std::string file(const std::string& text) const {
    std::ofstream(path("c.toml")) << text;
    return path("c.toml").string();
  }
  static FitOptions applied(const ChosenSettings& chosen) {
    FitOptions options;
    chosen.apply_to(options);
    return options;
  }
  std::string refusal_of_file(const std::string& text) const {
    try {
      ChosenSettings chosen;
      chosen.add_file(file(text));
      applied(chosen);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
};

TEST_F(ChosenSettingsTest, LaterOnesWin) {
  ChosenSettings chosen;
  chosen.choose_preset("paper-wine");  // 50,000 iterations, one transform
  chosen.add_file(file("iterations = 70\n[flow]\nhidden = [5, 6]\nbins = 3"));
  chosen.add_text("flow.bins=4", "--set");
  chosen.add("flow.bins", "9", "--bins");
  const FitOptions options = applied(chosen);
  EXPECT_EQ(options.flow.transforms, 1);
  EXPECT_EQ(options.train.iterations, 70);
  EXPECT_EQ(options.flow.hidden, (std::vector<Eigen::Index>{5, 6}));
  EXPECT_EQ(options.flow.bins, 9);
  EXPECT_TRUE(chosen.has("flow.bins"));
  EXPECT_FALSE(chosen.has("flow.transforms"));
}

TEST_F(ChosenSettingsTest, APresetThatIsChosenComesBeforeThatOfAFile) {
  ChosenSettings chosen;
  chosen.add_file(file("preset = 'paper-heart'"));
  EXPECT_EQ(applied(chosen).flow.transforms, 4);
  ChosenSettings both;
  both.choose_preset("paper-wine");
  both.add_file(file("preset = 'paper-heart'"));
  EXPECT_EQ(applied(both).flow.transforms, 1);
}

TEST_F(ChosenSettingsTest, DefaultsAreThoseOfTheChosenProxy) {
  ChosenSettings none;
  const FitOptions plain = none.defaults(default_fit_options, 1000, 2, 0);
  EXPECT_EQ(plain.train.learning_rate.main,
            default_fit_options(1000, 2, 0).train.learning_rate.main);
  ChosenSettings energy;
  energy.add("proxy", "energy", "--proxy");
  const FitOptions options = energy.defaults(default_fit_options, 1000, 2, 0);
  EXPECT_EQ(options.train.learning_rate.proxy,
            default_fit_options(1000, 2, 0, {"energy"}).train.learning_rate.proxy);
  EXPECT_NE(options.train.learning_rate.proxy, plain.train.learning_rate.proxy);
}

// Maximum likelihood by default, as for posteriors.
TEST_F(ChosenSettingsTest, WhoNamesAProxyTrainsWithIt) {
  const DefaultOptions likelihood = [](auto...) {
    FitOptions options;
    options.train.method = Method::mle;
    return options;
  };
  ChosenSettings chosen;
  EXPECT_EQ(chosen.defaults(likelihood, 100, 2, 0).train.method, Method::mle);
  chosen.add("proxy", "flow", "--proxy");
  EXPECT_EQ(chosen.defaults(likelihood, 100, 2, 0).train.method, Method::dual);
}

TEST_F(ChosenSettingsTest, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(refusal_of_file("iterations = 3\nqqq = 1"),
              AllOf(HasSubstr("c.toml:2"), HasSubstr("qqq")));
  EXPECT_THAT(refusal_of_file("iterations = 'many'"),
              AllOf(HasSubstr("c.toml:1"), HasSubstr("iterations")));
  EXPECT_THAT(refusal_of_file("iterations = "), HasSubstr("c.toml:1"));
  EXPECT_THAT(refusal_of_file("preset = 'none'"), AllOf(HasSubstr("c.toml:1"), HasSubstr("none")));
  EXPECT_THAT(refusal_of_file("iterations = 2020-01-01"), HasSubstr("expected a number"));
  ChosenSettings chosen;
  EXPECT_THAT(mistake_of([&] { chosen.choose_preset("none"); }), HasSubstr("none"));
  EXPECT_THAT(mistake_of([&] { chosen.add_text("iterations", "--set"); }), HasSubstr("KEY=VALUE"));
  chosen.add_text("qqq=1", "--set");
  EXPECT_THAT(mistake_of([&] { applied(chosen); }), AllOf(HasSubstr("--set"), HasSubstr("qqq")));
}

}  // namespace
}  // namespace jeffreys
