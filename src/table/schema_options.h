// What SchemaOptions say about a table's columns.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "jeffreys/table/schema.h"

namespace jeffreys {

inline bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Throws InputError if the options name columns that the table lacks, bounds for text, or a
// distribution for a column without values.
void require_columns(const Table& table, const SchemaOptions& options);

// Name, role, kind, bounds, distribution and labels, before any other column is looked at.
ColumnInfo initial_info(const Table& table, const Column& column, const SchemaOptions& options);

}  // namespace jeffreys
