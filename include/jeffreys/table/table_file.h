// Tables to and from files. What is wrong with a file throws InputError with its line and column.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/table/table.h"

namespace jeffreys {

enum class Header { automatic, yes, no };

struct TableOptions {
  // automatic: the first record names the columns if it has text above a column of numbers and no
  // number; if its numbers could be names (years, or 1, 2, 3), and those below could not; or, where
  // there are no numbers at all, if its cells are different, not missing, and none of them comes
  // again in its column. Only the first records are looked at. Columns without a name are called
  // x1, x2, ... by their place.
  Header header = Header::automatic;
  // ',', ';', '|' or tab; '\0': found out from the file.
  char delimiter = '\0';
  // Which array of an .npz file; "" takes the only one with two dimensions.
  std::string array = {};
  // Columns that are read as text even if every cell is a number. Names that the file does not have
  // are ignored.
  std::vector<std::string> text_columns = {};
  // Texts that mark missing cells besides the usual ones, in any case; a number means every cell of
  // that number.
  std::vector<std::string> missing = {};
  // How columns are written, where that is known: it decides for cells that could mean two things.
  std::map<std::string, Notation> notations = {};

  // Throws std::invalid_argument for another delimiter.
  void validate() const;
};

// Reads by extension: .npy, .npz, anything else as CSV. Missing are empty cells and, in any case,
// NA, N/A, NaN, NaT, null, None, missing, ?, ., -, --, n.a., <NA>, (null) and the error values of
// spreadsheets (#N/A, #DIV/0!, ...). A column is text when more of its cells are text than numbers,
// and no notation (notation.h) reads nine of ten of them. In CSV: fields may be quoted and hold
// delimiters, doubled quotes and line ends; lines that begin with # and blank lines are skipped; so
// are lines before the table that have other numbers of fields, and a line of units below the
// header; a delimiter at the end is allowed if every row has it. An array of one dimension is one
// column. Needs at least one row.
Table read_table(const std::filesystem::path& path, const TableOptions& options = {});

// Replaces the file atomically. By extension: .npy, .npz (an array "x" [rows, columns]), anything
// else as CSV. Text needs CSV.
void write_table(const std::filesystem::path& path, const Table& table);

// CSV with a header line, in pieces, to wherever the sink puts them, with the table's delimiter and
// in the notation of its columns. Plain numbers read back exactly. Without the header line it goes
// on with a file that has one.
void write_csv(const Table& table, const std::function<void(std::string_view)>& sink,
               bool header = true);

}  // namespace jeffreys
