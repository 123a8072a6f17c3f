// Results of an experiment that never ran: a few made up runs on disk, and what is said about them.
#pragma once

#include <gmock/gmock.h>

#include <stdexcept>

#include "experiment/embedded.h"
#include "experiment/section.h"
#include "support/scratch_folder.h"

namespace jeffreys::experiment {

using Columns = std::map<std::string, std::vector<double>>;

class SmallResults : public testing::ScratchTest {
 protected:
  // Points at iterations 1, 2, ...; one processor second each, unless the run is told otherwise.
  void run(const std::string& data, const std::string& method, std::uint64_t seed,
           const Columns& columns, const Numbers& last = {}, const std::string& stop = "finished",
           double seconds = 1, const Settings& settings = {{"seed", "0"}}) {
    RunResult result;
    result.experiment = "test";
    result.data = data;
    result.method = method;
    result.label = method;
    result.seed = seed;
    result.stop = stop;
    result.settings = settings;
    result.last = last;
    for (std::size_t i = 0; i < columns.begin()->second.size(); ++i) {
      Numbers numbers;
      for (const auto& [name, values] : columns) numbers[name] = values.at(i);
      result.curve.add(static_cast<std::int64_t>(i) + 1, numbers);
      result.seconds.push_back(seconds * static_cast<double>(i + 1));
    }
    std::filesystem::create_directories(path("runs") / data / method);
    write_run(path("runs"), data + "/" + method + "/seed-" + std::to_string(seed), result);
  }

  struct Told {
    std::vector<Claim> claims;
    std::string page;

    // The only claim whose text contains these words.
    [[nodiscard]] const Claim& claim(const std::string& words) const {
      const Claim* found = nullptr;
      for (const Claim& each : claims) {
        if (each.text.find(words) == std::string::npos) continue;
        EXPECT_EQ(found, nullptr) << "two claims contain: " << words;
        found = &each;
      }
      if (found == nullptr) throw std::invalid_argument("no claim contains: " + words);
      return *found;
    }
    [[nodiscard]] Finding finding(const std::string& words) const { return claim(words).finding; }
    // Without runs nothing is decided, and every claim says whose runs it needs.
    void expect_nothing_decided() const {
      EXPECT_THAT(claims, ::testing::Not(::testing::IsEmpty()));
      for (const Claim& each : claims) {
        EXPECT_EQ(each.finding, Finding::not_enough_runs) << each.text;
        EXPECT_THAT(each.methods, ::testing::Not(::testing::IsEmpty())) << each.text;
      }
    }
  };

  // plan: TOML lines with data and methods.
  [[nodiscard]] Results load(const std::string& plan) const {
    return {read_plan("test", "iterations = 100\n" + plan, "test.toml"), 1, path("runs")};
  }

  // What an experiment says of the results. With figures every panel is drawn.
  [[nodiscard]] Told tell(const std::string& experiment, const std::string& plan,
                          bool figures = false) const {
    return tell(find_experiment(experiment).describe, plan, figures);
  }
  [[nodiscard]] Told tell(void (*describe)(const Results&, Section&), const std::string& plan,
                          bool figures = false) const {
    const Results results = load(plan);
    EXPECT_THAT(results.problems(), ::testing::IsEmpty());
    report::Page page("test");
    std::function<void(const std::filesystem::path&)> on_figure;
    if (figures) on_figure = [](const std::filesystem::path&) {};
    Section section(page, path("report"), "test", on_figure);
    describe(results, section);
    return {section.claims(), page.markdown()};
  }
};

}  // namespace jeffreys::experiment
