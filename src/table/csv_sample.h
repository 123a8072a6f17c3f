// The first records of a CSV file, and what they say about where its rows begin.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "table/cell_reader.h"

namespace jeffreys {

struct CsvRecord {
  std::size_t line = 0;
  std::vector<std::string> cells;
};
using CsvRecords = std::vector<CsvRecord>;

// `whole`: the text is the whole file.
CsvRecords read_sample(const std::string& file, std::string_view text, bool whole, char delimiter,
                       char terminator);

// Records before the table: lines of a preamble that have other numbers of fields than all records
// that follow. None if those are not alike, too.
std::size_t count_preamble(const CsvRecords& records);

// Whether the first record is one name short, as R writes tables with names of rows.
bool lacks_first_name(const CsvRecords& records);

struct HeaderFinding {
  bool header = false;
  bool doubtful = false;  // worth a word to the user
};

// Whether the first record names the columns (TableOptions::header).
HeaderFinding find_header(const CsvRecords& records, const CellReader& reader);

// Whether the record after the header holds units: text above columns of numbers.
bool has_units(const CsvRecords& records, const CellReader& reader);

}  // namespace jeffreys
