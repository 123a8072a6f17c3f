// Models and tables as the commands get them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::cli {

// --from main|proxy; nothing: the model's own choice. UsageError if the model has no proxy.
template <typename T>
From chosen_from(const std::string& text, const TabularDensity<T>& density);

// Advice for a model whose Schema is outdated().
inline constexpr const char* kOutdated =
    "this model is from an earlier version, which treated whole numbers, categories or bounds "
    "differently: fit it again";

// How tables are read: --header, --na, --array.
struct ReadingArguments {
  std::string header;
  std::vector<std::string> missing;
  std::string array;

  // Added to what is known about the table.
  [[nodiscard]] TableOptions options(TableOptions known = {}) const;
};
void add_reading_options(CLI::App& command, ReadingArguments& a);

// A table whose columns are read as the model's.
Table read_table_for(const std::string& path, const Schema& schema, const ReadingArguments& a = {});

// Adds --from.
void add_from(CLI::App& command, std::string& target);

// NAME=VALUE,... that was divided at its commas: what has no = goes on with the value before it, as
// in price=1,5.
std::vector<std::string> whole_assignments(const std::vector<std::string>& items);

// --given COLUMN=VALUE,... by column. UsageError for a column given twice.
std::map<std::string, std::string> given_values(const std::vector<std::string>& items);

// The condition columns of --given COLUMN=VALUE,... as [1, context features]; nothing for a model
// without conditions. UsageError for a column given twice, or for a model that has none.
Matrix<double> read_given(const std::vector<std::string>& items, const Schema& schema);

// The number that the text is, and nothing else.
std::optional<double> read_number(const std::string& text);

// Whether results go to standard output: "" or "-".
bool goes_to_output(const std::string& path);
// Throws UsageError for the extensions of formats that this program does not write: before any
// work.
void require_table_name(const std::string& path);
// Whether results are written as CSV; refuses what require_table_name does.
bool is_csv(const std::string& path);

// A table that arrives in parts; only CSV can have more than one. Goes where write_result does.
class ResultWriter {
 public:
  ResultWriter(std::string path, const Globals& globals);
  void add(const Table& part);
  // Until then there is no file.
  void finish();

 private:
  std::string path_;
  const Globals& globals_;
  std::optional<storage::AtomicFile> file_;
  bool begun_ = false;
};

// A table in a file, or ("" or "-") on standard output: as CSV, or with --json as an object of
// columns.
void write_result(const Table& table, const std::string& path, const Globals& globals);

// Throws UsageError if the output is one of the files that the command reads.
void require_other_file(const std::string& output, const std::vector<std::string>& inputs);

// Throws InputError if there is no folder for it.
void require_folder(const std::filesystem::path& output);

// Throws InputError, before long work, if a figure cannot have this name.
void require_figure(const std::filesystem::path& path);

// Says which file was written: in words, or with --json as {"output": path}.
void announce(const std::string& path, const Globals& globals);

}  // namespace jeffreys::cli
