// Posteriors on disk: what was saved is what is loaded, and nothing else is.
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/posterior.h"
#include "sbi/small_posteriors.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class PosteriorFile : public ScratchTest {
 protected:
  std::string problem_in_loading(const std::string& name) const {
    return problem_of(path(name), [](const auto& file) { (void)Posterior::load(file); });
  }

  // The problem of a file with another attachment.
  std::string problem_with(const std::string& attachment) const {
    TabularDensity<float> density = TabularDensity<float>::load(path("m"));
    density.attachments["posterior"] = attachment;
    density.save(path("damaged"));
    return problem_in_loading("damaged");
  }

  std::string problem_after(const std::function<void(Json&)>& damage) const {
    Json json = Json::parse(TabularDensity<float>::load(path("m")).attachments.at("posterior"));
    damage(json);
    return problem_with(json.dump());
  }
};

TEST_F(PosteriorFile, SpeaksAsBefore) {
  Matrix<double> observed(2, 2);
  observed << 0.2, 5, 0.9, 3;
  for (const PosteriorCase& of :
       {PosteriorCase{}, PosteriorCase{.prior = open_prior()}, PosteriorCase{.prior = {}},
        PosteriorCase{.proxy = ModelChoice{"flow"}},
        PosteriorCase{.proxy = ModelChoice{"energy"}}}) {
    const Posterior before = untrained_posterior(of);
    before.save(path("m"));
    const Posterior after = Posterior::load(path("m"));
    EXPECT_EQ(after.prior(), before.prior());
    EXPECT_EQ(after.parameter_names(), before.parameter_names());
    EXPECT_EQ(after.outcome_names(), before.outcome_names());
    for (const From from : {From::main, From::proxy}) {
      if (from == From::proxy && !of.proxy) continue;
      constexpr auto kFar = FarObservations::extrapolate;
      const PosteriorSampling options{.from = from, .proposals = 3, .far = kFar, .seed = 9};
      const Matrix<double> samples = before.sample(observed, 40, options).parameters;
      EXPECT_TRUE(same_bits(after.sample(observed, 40, options).parameters, samples));
      EXPECT_TRUE(same_bits(after.log_prob(samples, observed.row(1), from, kFar),
                            before.log_prob(samples, observed.row(1), from, kFar)));
    }
    const auto a = before.distances(observed);
    const auto b = after.distances(observed);
    for (const std::size_t i : {0U, 1U}) {
      EXPECT_EQ(a[i].beyond_range, b[i].beyond_range);
      EXPECT_EQ(a[i].distance, b[i].distance);
      EXPECT_EQ(a[i].largest_training, b[i].largest_training);
      EXPECT_GT(a[i].distance, 0);
    }
    after.save(path("n"));
    EXPECT_TRUE(bytes_of(path("m")) == bytes_of(path("n")));
  }
}

TEST_F(PosteriorFile, MayHaveNoSpreadOfOutcomes) {
  Posterior posterior = untrained_posterior();
  posterior.set_training_outcomes(Matrix<double>(0, 2));
  posterior.save(path("m"));
  EXPECT_EQ(Posterior::load(path("m")).distances(observation(0, 5))[0].largest_training, 0);
}

TEST_F(PosteriorFile, IsAModelFileLikeAnyOther) {
  untrained_posterior().save(path("m"));
  const auto density = TabularDensity<float>::load(path("m"));
  const Matrix<double> given = density.schema().encode_conditions(
      std::map<std::string, std::string>{{"x1", "0.9"}, {"x2", "5"}});
  const Table table = density.sample(2000, 3, given).table;
  Eigen::Index inside = 0;
  for (std::size_t row = 0; row < 2000; ++row) {
    const std::array values{table.find("a")->numbers[row], table.find("b")->numbers[row]};
    inside += box_prior().contains(values) ? 1 : 0;
    EXPECT_NEAR(table.find("x1")->numbers[row], 0.9, 1e-9);
  }
  EXPECT_EQ(inside, 2000);
}

TEST_F(PosteriorFile, RefusesModelsThatAreNone) {
  untrained_posterior().density().save(path("m"));
  EXPECT_THAT(problem_in_loading("m"), StartsWith("is a model but no posterior"));
  file("text", "no model at all");
  EXPECT_NE(problem_in_loading("text"), "");
  EXPECT_NE(problem_in_loading("missing"), "");
}

TEST_F(PosteriorFile, RefusesAttachmentsThatAreNoObject) {
  untrained_posterior().save(path("m"));
  for (const std::string text : {"", "{", "[]", "7", "null", "\"text\"", "[[[[[["}) {
    EXPECT_THAT(problem_with(text), HasSubstr("damaged: its attachment is no JSON object")) << text;
  }
  EXPECT_NE(problem_with(std::string(100'000, '[')), "");
}

TEST_F(PosteriorFile, RefusesOtherVersions) {
  untrained_posterior().save(path("m"));
  for (const Json& version : {Json(2), Json(0), Json("1"), Json(nullptr), Json::array({1})}) {
    EXPECT_THAT(problem_after([&](Json& json) { json["version"] = version; }),
                HasSubstr("another version than 1"))
        << version;
  }
  EXPECT_THAT(problem_after([](Json& json) { json.erase("version"); }),
              HasSubstr("another version than 1"));
}

TEST_F(PosteriorFile, OfRejectionIsToBeFittedAgain) {
  untrained_posterior().save(path("m"));
  EXPECT_EQ(problem_after([](Json& json) { json["support"] = "rejection"; }),
            "the posterior was fitted with --support rejection, which is gone: fit again");
}

TEST_F(PosteriorFile, RefusesDamagedPriorsAndSupports) {
  const Posterior posterior = untrained_posterior();
  posterior.save(path("m"));
  const auto names = box_prior().parameters();
  const auto with_prior = [](const Prior& prior) {
    return [text = prior.to_json()](Json& json) { json["prior"] = text; };
  };
  for (const auto& [problem, damage] :
       std::vector<std::pair<std::string, std::function<void(Json&)>>>{
           {"lacks support", [](Json& json) { json.erase("support"); }},
           {"lacks support", [](Json& json) { json["support"] = 1; }},
           {"unknown support", [](Json& json) { json["support"] = "Transform"; }},
           {"the distributions of exactly this prior", [](Json& json) { json.erase("prior"); }},
           {"lacks prior", [](Json& json) { json["prior"] = nullptr; }},
           {"lacks prior", [](Json& json) { json["prior"] = Json::array(); }},
           {"not a list", [](Json& json) { json["prior"] = "{}"; }},
           {"not a list", [](Json& json) { json["prior"] = "[{"; }},
           {"a name and a distribution", [](Json& json) { json["prior"] = "[7]"; }},
           {"expected one or more", [](Json& json) { json["prior"] = "[]"; }},
           {"the density's features", with_prior(Prior({names[1], names[0]}))},
           {"the density's features", with_prior(Prior({names[0]}))},
           {"the density's features",
            with_prior(Prior({{"a", names[0].distribution}, {"c", names[1].distribution}}))},
           {"the distributions of exactly this prior",
            with_prior(Prior({{"a", Distribution::uniform(-1, 0.5)}, names[1]}))}}) {
    const std::string message = problem_after(damage);
    EXPECT_THAT(message, HasSubstr("damaged")) << problem;
    EXPECT_THAT(message, HasSubstr(problem));
  }
}

TEST_F(PosteriorFile, RefusesDamagedOutcomes) {
  untrained_posterior().save(path("m"));
  for (const auto& [problem, damage] :
       std::vector<std::pair<std::string, std::function<void(Json&)>>>{
           {"center has not 2 x 1", [](Json& o) { o = 3; }},
           {"center has not 2 x 1", [](Json& o) { o = nullptr; }},
           {"center has not 2 x 1", [](Json& o) { o = Json::array({1, 2}); }},
           {"center has not 2 x 1", [](Json& o) { o.erase("center"); }},
           {"center has not 2 x 1", [](Json& o) { o["center"].push_back(0); }},
           {"center has not 2 x 1", [](Json& o) { o["center"] = "12"; }},
           {"center has something else", [](Json& o) { o["center"][0] = nullptr; }},
           {"whitening has not 2 x 2", [](Json& o) { o["whitening"].erase(0); }},
           {"whitening has not 2 x 2", [](Json& o) { o["whitening"] = Json::object(); }},
           {"whitening has something else", [](Json& o) { o["whitening"][3] = "1"; }},
           {"whitening has something else", [](Json& o) { o["whitening"][3] = Json::array({1}); }},
           {"largest has something else", [](Json& o) { o.erase("largest"); }},
           {"largest has something else", [](Json& o) { o["largest"] = "3"; }},
           {"largest has ", [](Json& o) { o["largest"] = Json::array({3}); }},
           {"largest has ", [](Json& o) {
              o["largest"] = Json::array({"a", 1});
            }}}) {
    const std::string message = problem_after([&](Json& json) { damage(json["outcomes"]); });
    EXPECT_THAT(message, HasSubstr("the posterior is damaged: ")) << problem;
    EXPECT_THAT(message, HasSubstr(problem));
  }
  // Numbers that JSON can write and no double can hold, or none at all.
  for (const std::string number : {"1e999", "-1e999", "NaN", "Infinity"}) {
    std::string text = TabularDensity<float>::load(path("m")).attachments.at("posterior");
    const std::string key = "\"largest\":";
    text = text.substr(0, text.find(key) + key.size()) + number + "}}";
    EXPECT_THAT(problem_with(text), HasSubstr("damaged")) << number;
  }
}

}  // namespace
}  // namespace jeffreys::testing
