// How the columns of a table are to be read: the options that `fit` and `compare` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/load.h"
#include "jeffreys/table/schema.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::cli {

struct ColumnArguments {
  std::vector<std::string> condition;
  std::vector<std::string> categorical;
  std::vector<std::string> integer;
  std::vector<std::string> ignore;
  std::vector<std::string> bounds;
  ReadingArguments reading;

  // Bounds are written as the numbers of their column are.
  [[nodiscard]] SchemaOptions schema(const Table& table) const;
  [[nodiscard]] Table read(const std::string& path) const;
};

void add_column_options(CLI::App& command, const std::shared_ptr<ColumnArguments>& a);

}  // namespace jeffreys::cli
