#pragma once

#include <filesystem>

#include "jeffreys/table/table_file.h"

namespace jeffreys {

// read_table for a CSV file.
Table read_csv(const std::filesystem::path& path, const TableOptions& options);

}  // namespace jeffreys
