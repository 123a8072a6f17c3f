// Which method fits a table best: every method on the same random splits of its rows, each split's
// methods judged by the same test rows. Runs are independent jobs whose results are small files in
// a folder, so that they can be stopped and taken up again, or shared out among machines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/base/job_queue.h"
#include "jeffreys/evaluate/resampled_interval.h"
#include "jeffreys/evaluate/seeds.h"
#include "jeffreys/table/schema.h"

namespace jeffreys {

using SettingList = std::vector<std::pair<std::string, std::string>>;

// A fit, or a simple model, with settings of its own.
struct CompareMethod {
  std::string name;           // in tables and of its folder
  std::string kind;           // one of compare_kinds()
  SettingList settings = {};  // of a fit; `preset` is one of them

  // KIND+KEY=VALUE+...
  [[nodiscard]] std::string definition() const;
  bool operator==(const CompareMethod&) const = default;
};

struct CompareKind {
  std::string name;
  std::string description;
};
[[nodiscard]] std::vector<CompareKind> compare_kinds();

// [NAME=]KIND[+KEY=VALUE...], for example "ten=mle+members=10"; without a name the definition is
// its name. Throws std::invalid_argument that lists the kinds, or says what is wrong.
[[nodiscard]] CompareMethod parse_compare_method(const std::string& text);
// Several, with commas between them. A comma before a digit belongs to a value.
[[nodiscard]] std::vector<CompareMethod> parse_compare_methods(const std::string& text);
// default,dual,dual-energy,mle,mle-noise,gaussian,mixture,kde
[[nodiscard]] std::vector<CompareMethod> all_compare_methods();

struct CompareOptions {
  // Others are compared with the first.
  std::vector<CompareMethod> methods = all_compare_methods();
  SchemaOptions columns = {};  // of all methods
  SettingList settings = {};   // of all fits; a method's own settings win
  std::string group = {};      // a column: its values stay together in a split; it is not modelled
  std::size_t splits = 5;
  std::size_t seeds = 1;          // fits of a method to each split, whose NLLs are averaged
  double test = 0.2;              // share of the rows, or of the groups' rows, that judge
  std::size_t rows = 0;           // training rows of a split, at random; 0: all that do not judge
  std::size_t most_tests = 5000;  // test rows of a split
  std::uint64_t seed = 0;         // of everything
  double time_limit = 0;          // seconds of each fit; 0: none
  std::size_t jobs = 1;           // at the same time
  std::size_t threads = 1;        // of each fit; more than 1 only where one job runs at a time
  Shard shard = {};
  std::filesystem::path folder = {};

  void validate() const;
};

struct MethodResult {
  CompareMethod method;
  SeedSummary nll = {};  // mean over splits, in nats a row and the user's units
  // NLL less that of the first method, over the splits that both have; below 0: it is better. Of
  // no splits for the first one.
  ResampledDifference difference = {};
  double processor_seconds = 0;  // mean of a fit, test rows not counted
  double wall_seconds = 0;
};

struct Comparison {
  std::string source = {};        // the table's file
  std::size_t rows = 0;           // complete ones of the table
  std::size_t dropped = 0;        // rows with missing cells
  std::size_t training_rows = 0;  // of the first split
  std::size_t test_rows = 0;
  std::vector<MethodResult> methods = {};  // that have results, those asked for first
  std::string verdict = {};                // one sentence
  std::vector<std::string> notes = {};
  std::vector<FinishedJob> jobs = {};  // of this call
  bool interrupted = false;
};

// Throws InputError for a table that cannot be fitted or split so, and for a folder that holds
// another comparison; std::invalid_argument for options that make no sense.
[[nodiscard]] Comparison compare_table(const Table& table, const CompareOptions& given,
                                       JobObserver& observer);

// What the files in the folder say. Methods of these names come first, in this order; all others
// follow. Throws InputError for a folder without a comparison, and for a damaged file.
[[nodiscard]] Comparison read_comparison(const std::filesystem::path& folder,
                                         const std::vector<std::string>& first = {});

}  // namespace jeffreys
