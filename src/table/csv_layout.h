// How a CSV file is laid out, found from its first records.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/table/table_file.h"

namespace jeffreys {

struct CsvLayout {
  char delimiter = ',';
  char terminator = '\n';
  bool header = false;
  std::size_t byte_order_mark = 0;  // bytes to skip at the beginning
  std::vector<std::string> names;   // one for each field of the first record
  std::vector<bool> text;           // whether a column looks like text
  double bytes_per_record = 1;
  bool unnamed_last = false;  // the last column has no name in the file
};

// `sample`: the beginning of the file; `whole`: that is all of it.
CsvLayout find_layout(const std::string& file, std::string_view sample, bool whole,
                      const TableOptions& options);

}  // namespace jeffreys
