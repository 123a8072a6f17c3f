#include "jeffreys/fit/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/quote.h"
#include "fit/compare_job.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/checksum.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewestRows = 20;
constexpr std::size_t kFewestTraining = 10;  // that a schema needs

const Column& group_column(const Table& table, const std::string& name) {
  if (const Column* column = table.find(name)) return *column;
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  throw InputError(table.source, fmt::format("there is no column {} to group by; its columns: {}",
                                             quote(name), fmt::join(names, ", ")));
}

// Numbers of the different values, in the order of the rows.
std::vector<std::size_t> groups_of(const Table& table, const std::string& name) {
  std::vector<std::size_t> groups(table.rows());
  if (name.empty()) {
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    return groups;
  }
  const Column& column = group_column(table, name);
  std::map<std::string, std::size_t> known;
  for (std::size_t row = 0; row < groups.size(); ++row) {
    if (column.missing(row)) {
      throw InputError(table.source,
                       fmt::format("column {} has a missing cell, so that its row belongs to no "
                                   "group; fill it, or leave the row out",
                                   quote(name)),
                       table.line(row), column.place);
    }
    groups[row] = known.emplace(column.text(row), known.size()).first->second;
  }
  return groups;
}

// Refuses what any of the fits would, before the first of them.
ComparedTable compared_table(const Table& table, const CompareOptions& options) {
  std::vector<std::string> uncounted = options.columns.ignore;
  std::erase(uncounted, options.group);
  if (!options.group.empty()) static_cast<void>(group_column(table, options.group));
  check_cells(table, options.columns);
  const Table ordered = ordered_by_content(table, uncounted);
  SchemaOptions columns = options.columns;
  if (columns.missing == Missing::keep) columns.missing = Missing::drop;  // by simple models too
  const std::vector<std::size_t> complete = usable_rows(ordered, columns);
  if (complete.size() < kFewestRows) {
    throw InputError(
        table.source,
        fmt::format("only {} complete rows; a comparison needs at least {}, some to learn from and "
                    "some to judge by: collect more, or leave columns with missing cells out with "
                    "--ignore",
                    complete.size(), kFewestRows));
  }
  ComparedTable data{take_rows(ordered, complete), {}, table.rows() - complete.size()};
  data.groups = groups_of(data.table, options.group);
  static_cast<void>(Schema::fit(data.table, options.columns).encode(data.table));
  return data;
}

// A fit has no density given a label that it has not seen.
void check_condition_labels(const Table& training, const Table& test, std::size_t split,
                            const CompareOptions& options) {
  for (const std::string& name : options.columns.condition) {
    const Column* known = training.find(name);
    const Column* asked = test.find(name);
    if (known == nullptr || !known->is_text()) continue;
    for (const std::string& label : asked->labels) {
      if (std::find(known->labels.begin(), known->labels.end(), label) != known->labels.end()) {
        continue;
      }
      throw InputError(
          test.source,
          fmt::format(
              "split {}: test rows have {} in the condition {}, and no training row has, so "
              "that nothing is known about them; leave these rows out, or use more --rows, "
              "a smaller --test or another --seed",
              split + 1, quote(label), quote(name)));
    }
  }
}

void check_splits(const ComparedTable& data, const CompareOptions& options) {
  const std::set<std::size_t> groups(data.groups.begin(), data.groups.end());
  const char* what = options.group.empty() ? "complete rows" : "groups";
  if (groups.size() < std::max<std::size_t>(options.splits, 2)) {
    throw InputError(data.table.source, fmt::format("only {} {} for {} splits; choose fewer splits "
                                                    "with --splits, or another --group",
                                                    groups.size(), what, options.splits));
  }
  for (std::size_t split = 0; split < options.splits; ++split) {
    const Split rows = compare_split(data, options, split);
    const std::size_t least = std::max(kFewestTraining, options.rows);
    if (rows.training.size() < least) {
      throw InputError(data.table.source,
                       fmt::format("split {} leaves {} of {} rows to learn from, asked for are {}; "
                                   "choose fewer --rows or a smaller --test",
                                   split + 1, rows.training.size(), data.table.rows(), least));
    }
    if (options.columns.condition.empty()) continue;
    check_condition_labels(take_rows(data.table, rows.training),
                           take_rows(data.table, rows.validation), split, options);
  }
}

std::string checksum_of_rows(const Table& table) {
  storage::Checksum checksum;
  for (const Column& column : table.columns) {
    checksum.add_text(column.name);
    checksum.add(std::as_bytes(std::span(column.numbers)));
    checksum.add(std::as_bytes(std::span(column.codes)));
    for (const std::string& label : column.labels) checksum.add_text(label);
  }
  return checksum.digits();
}

// What all runs in a folder have in common.
Json description(const ComparedTable& data, const CompareOptions& options) {
  Json bounds = Json::object();
  for (const auto& [name, range] : options.columns.bounds) {
    bounds[name] = fmt::format("{}:{}", range.lower, range.upper);
  }
  Json settings = Json::object();
  for (const auto& [key, value] : options.settings) settings[key] = value;
  return {{"table", std::filesystem::path(data.table.source).filename().string()},
          {"checksum", checksum_of_rows(data.table)},
          {"rows", data.table.rows()},
          {"dropped", data.dropped},
          {"group", options.group},
          {"test", options.test},
          {"training_rows", options.rows},
          {"most_test_rows", options.most_tests},
          {"seed", options.seed},
          {"time_limit", options.time_limit},
          {"condition", options.columns.condition},
          {"categorical", options.columns.categorical},
          {"integer", options.columns.integer},
          {"ignore", options.columns.ignore},
          {"bounds", bounds},
          {"settings", settings}};
}

// Results that do not belong together must not meet in one table.
void claim_folder(const Json& asked, const CompareOptions& options) {
  const std::filesystem::path file = options.folder / "comparison.json";
  if (!std::filesystem::exists(file)) {
    std::filesystem::create_directories(options.folder);
    const std::string text = asked.dump(1) + "\n";
    storage::write_file_atomically(file, std::as_bytes(std::span(text)));
    return;
  }
  std::ifstream stream(file);
  const Json found = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  for (const auto& [key, value] : asked.items()) {
    if (key == "table" || (found.is_object() && found.contains(key) && found[key] == value)) {
      continue;
    }
    throw InputError(file.string(),
                     fmt::format("this folder holds a comparison with another {} ({}, asked for is "
                                 "{}): choose another --output",
                                 key == "checksum" ? "table" : key,
                                 found.is_object() && found.contains(key) ? found[key].dump() : "?",
                                 value.dump()));
  }
}

std::vector<QueuedJob> queue_of(const ComparedTable& data, const CompareOptions& options) {
  std::vector<QueuedJob> queue;
  std::size_t place = 0;
  // Splits outermost: what is done first says something about every method.
  for (std::size_t split = 0; split < options.splits; ++split) {
    for (std::size_t seed = 0; seed < options.seeds; ++seed) {
      for (const CompareMethod& method : options.methods) {
        CompareJob job{method, split, seed};
        const std::filesystem::path file = options.folder / (job.name() + ".json");
        if (std::filesystem::exists(file)) {
          const std::string before = read_compare_run(file).definition;
          if (before != method.definition()) {
            throw InputError(file.string(),
                             fmt::format("in this folder {} means {}, asked for is {}: give it "
                                         "another name, or choose another --output",
                                         method.name, before, method.definition()));
          }
        }
        if (!options.shard.has(place++)) continue;
        const std::string name = job.name();
        queue.push_back(
            {name,
             {method.name},
             1,
             [job = std::move(job), &data, &options](JobProgress&, const std::atomic<bool>& stop) {
               return run_compare_job(job, data, options, stop);
             }});
      }
    }
  }
  return queue;
}

}  // namespace

Comparison compare_table(const Table& table, const CompareOptions& given, JobObserver& observer) {
  given.validate();
  CompareOptions options = given;
  const auto& condition = options.columns.condition;
  const bool modelled =
      std::find(condition.begin(), condition.end(), options.group) != condition.end();
  if (!options.group.empty() && !modelled) options.columns.ignore.push_back(options.group);
  const ComparedTable data = compared_table(table, options);
  check_splits(data, options);
  claim_folder(description(data, options), options);
  std::vector<FinishedJob> jobs = run_queue(queue_of(data, options), options.jobs, observer);
  std::vector<std::string> names;
  for (const CompareMethod& method : options.methods) names.push_back(method.name);
  Comparison result = read_comparison(options.folder, names);
  result.jobs = std::move(jobs);
  result.interrupted = observer.should_stop();
  return result;
}

}  // namespace jeffreys
