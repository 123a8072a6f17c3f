// How a CSV file is laid out, found from its first records.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/table/table_file.h"

namespace jeffreys {

struct CsvColumn {
  std::string name;
  bool text = false;  // whether it looks like text
  Notation notation = {};
  std::string doubt = {};  // what else the notation could be, as a sentence
};

struct CsvLayout {
  char delimiter = ',';
  char terminator = '\n';
  std::size_t byte_order_mark = 0;  // bytes to skip at the beginning
  std::size_t skip = 0;             // records before the first row
  std::vector<CsvColumn> columns;   // one for each field
  double bytes_per_record = 1;
  bool unnamed_first = false;      // the first column has no name in a file that has names
  bool unnamed_last = false;       // the last column has no name in the file
  std::vector<std::string> notes;  // what was decided, in plain sentences
};

// `sample`: the beginning of the file; `whole`: that is all of it.
CsvLayout find_layout(const std::string& file, std::string_view sample, bool whole,
                      const TableOptions& options);

// The notations of columns from some of their cells, none of which is missing; those that are known
// go first. `delimiter`: between the fields.
void find_notations(const std::vector<std::vector<std::string_view>>& cells,
                    const TableOptions& options, char delimiter, std::vector<CsvColumn>& columns);

}  // namespace jeffreys
