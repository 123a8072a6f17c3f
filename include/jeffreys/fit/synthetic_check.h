// Can a synthetic table be published? Whether its columns and pairs of columns look like those of
// real rows, whether a classifier can tell it from them, and whether its rows are copies of rows
// that the model learned from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jeffreys/evaluate/two_sample_test.h"
#include "jeffreys/table/schema.h"

namespace jeffreys {

// How far synthetic and real rows are apart in a column or in a pair of columns: 0 alike, 1 nothing
// in common.
struct ShapeDistance {
  std::vector<std::string> columns;  // one or two
  double distance = 0;
  // What chance alone reaches between two parts of the same rows: mean and three deviations over
  // random parts of the pooled rows.
  double chance = 0;
};

// A synthetic row that equals a training row; rows are those of the tables.
struct CopiedRow {
  std::size_t synthetic = 0;
  std::size_t training = 0;
};

// Distances to the closest training row: numbers in standard deviations as the model sees them, and
// another label counts as one.
struct ClosestRows {
  std::vector<double> synthetic = {};
  std::vector<double> real = {};  // of rows that were not learned from: each row without itself
  std::vector<CopiedRow> copies = {};
  std::size_t real_copies = 0;  // real rows that equal a training row
  // Of rows that are no copies: below the limit are 5 % of the real ones.
  double limit = 0;
  std::size_t too_close = 0;  // synthetic rows below it
  double p_value = 1;         // of so many below it, or closer than all real ones, by chance
};

struct SyntheticCheck {
  std::size_t synthetic_rows = 0;  // complete ones
  std::size_t real_rows = 0;
  std::vector<ShapeDistance> columns =
      {};                                 // Kolmogorov and Smirnov's, or total variation of labels
  std::vector<ShapeDistance> pairs = {};  // total variation of counts, numbers in fifths
  TwoSampleResult classifier = {};
  ClosestRows closest = {};
  bool copied = false;       // more copies, or rows that are too close, than real rows explain
  std::string verdict = {};  // one sentence
  std::vector<std::string> warnings = {};
};

// real: rows that the synthetic ones should look like. training: the rows that the model learned
// from, if these are others; nullptr: the real ones are, and each is compared with the others.
// Throws InputError for a table that the schema cannot read, or with fewer than 20 complete rows.
// The same arguments give the same result.
[[nodiscard]] SyntheticCheck check_synthetic(const Schema& schema, const Table& real,
                                             const Table& synthetic,
                                             const Table* training = nullptr);

}  // namespace jeffreys
