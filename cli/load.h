// Models and tables as the commands get them.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "jeffreys/data/table_file.h"
#include "jeffreys/tabular/tabular_density.h"

namespace jeffreys::cli {

// --from main|proxy; nothing: the model's own choice. UsageError if the model has no proxy.
template <typename T>
From chosen_from(const std::string& text, const TabularDensity<T>& density);

// A table whose columns are read as the model's.
Table read_table_for(const std::string& path, const Schema& schema);

// Adds --from.
void add_from(CLI::App& command, std::string& target);

// A table on standard output ("" or "-") or in a file.
void write_result(const Table& table, const std::string& path);

}  // namespace jeffreys::cli
