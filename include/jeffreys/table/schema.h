// From a user's table to the numbers of a model and back.
//
// Features (what the model has a density of) are continuous numbers first, then categories.
//
// Continuous numbers pass through three steps:
//   cells         A whole or rounded number stands for all values of its cell (encoded_rows.h).
//   bounds        normal scores of a distribution between the bounds whose shape is fitted to the
//                 rows. Of values on a lattice the bounds are those of the cells, half a step
//                 further out.
//   standardise   (t - mean) / scale.
// Categories are the codes 0, 1, ... of sorted labels; labels that the fitted rows do not have
// share one more code and a small probability. A value that holds many rows of an otherwise
// continuous column (an atom) is a category too, and leaves the column's number open.
// A feature with a distribution (a prior) gets neither noise nor bounds. It is standardised as it
// is, and numbers beyond an end of the support are folded back inside (fold.h), so that no sample
// leaves it; other_sources() gives the places over which a density must then be summed. Only
// log_normal values become normal scores, which have no ends.
// With regress_on_conditions each numeric feature without bounds is replaced by its distance from
// its linear regression on the conditions (the "guess"): a posterior that moves with its outcomes
// then stays in place. Normal scores count from the score of the guess, in units of their slope
// there.
// Numeric conditions are standardised only, but with heavy tails drawn in before; categorical ones
// become one column for each label.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/distribution.h"
#include "jeffreys/base/matrix.h"
#include "jeffreys/table/column_info.h"
#include "jeffreys/table/encoded_rows.h"
#include "jeffreys/table/table.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys {

enum class Ties { dequantize, keep };
// What to do with rows that have missing cells. keep: a row counts with the cells that it has,
// unless it lacks a condition; what is encoded then says where the gaps are.
enum class Missing { drop, error, keep };
std::string_view name_of(Missing missing);
enum class Standardize { training, all };
// What to do with labels that the fitted rows did not have, and with values beyond bounds.
enum class Unusual { refuse, keep };

struct SchemaOptions {
  std::vector<std::string> condition = {};
  std::vector<std::string> categorical = {};
  std::vector<std::string> integer = {};
  std::vector<std::string> ignore = {};
  std::string weights = {};  // the column that says how much each row counts, if there is one
  std::map<std::string, Bounds> bounds = {};
  std::map<std::string, Distribution> distributions = {};  // priors, in simulation-based inference
  Ties ties = Ties::dequantize;
  Missing missing = Missing::keep;
  Standardize standardize = Standardize::training;
  bool regress_on_conditions = false;

  // Throws std::invalid_argument for a column with two contradicting roles or kinds, for bounds
  // that are not lower < upper, for a distribution that is not valid, and for one of a column that
  // has bounds or is no numeric feature.
  void validate() const;
};

// With Missing::keep the rows of the table without a missing condition; otherwise those without a
// missing cell in any column that is neither ignored nor wholly missing. Missing::error: throws
// InputError for the first missing cell.
std::vector<std::size_t> usable_rows(const Table& table, const SchemaOptions& options);

// How much these rows of the table count, from its column of that name. Throws InputError for a
// column that is not there, for a weight that is missing, negative or no finite number, and if all
// are 0.
Vector<double> row_weights(const Table& table, const std::string& column,
                           std::span<const std::size_t> rows);

// Throws what Schema::fit would for a wrong cell: for the first one, in the order of the table.
void check_cells(const Table& table, const SchemaOptions& options);

// Where a feature column is among the numbers of a row; -1 where it is not.
struct FeaturePlaces {
  std::string name;
  Eigen::Index number = -1;
  Eigen::Index category = -1;
  std::size_t classes = 0;  // of the category
  double unseen = 0;        // probability of labels that were never seen
};

class Schema {
 public:
  struct Encoded : EncodedRows {
    std::vector<std::size_t> rows = {};  // the table's rows that these are
    std::size_t dropped = 0;             // rows with a missing cell that are left out
    // What is unusual about rows of the table, a sentence each; none if it is refused. A value
    // beyond its bounds has the density 0, a label that was never seen the probability of all of
    // them; without a known label of a condition there is no density, and the row is not encoded.
    std::map<std::size_t, std::string> unusual = {};
  };

  // `training` counts among usable_rows(table, options), which are the rows of
  // encode(table).x too; mean and scale come from these rows alone unless Standardize::all. Empty:
  // all rows. Needs at least 10 complete rows.
  //
  // A numeric feature has ties if fewer than 90 % of its values are different, or if one value
  // makes up 3 rows and more than 2 % of them; it is an integer if all values are whole. Both are
  // dequantised, unless Ties::keep; columns declared as integers always are. The resolution is the
  // largest step of which all values are multiples: decimals first, else the smallest gap if all
  // values fit it. Noise is as wide as the resolution, for ties at least 1e-6 standard deviations.
  //
  // A column with a distribution stays a feature: throws InputError if it is constant or a copy.
  static Schema fit(const Table& table, const SchemaOptions& options,
                    std::span<const std::size_t> training = {});

  // Columns x1, x2, ... and conditions c1, c2, ... that are taken as they are.
  static Schema identity(std::size_t features, std::size_t conditions = 0);

  // Numbers of a row as the model sees it: continuous ones, then categories.
  std::size_t features() const { return continuous_.size() + categories_.size(); }
  std::size_t continuous() const { return continuous_.size(); }
  // How many classes each category has, without that of labels that were never seen.
  std::vector<std::size_t> categories() const;
  std::size_t context_features() const { return context_features_; }
  std::vector<std::string> feature_names() const;     // of the table's columns
  std::vector<std::string> condition_names() const;   // of the table's columns
  std::vector<FeaturePlaces> feature_places() const;  // in the order of feature_names()
  // Every column of the table that was fitted, in its order.
  const std::vector<ColumnInfo>& columns() const { return columns_; }
  // For TableOptions::text_columns when another table of the same form is read.
  std::vector<std::string> text_columns() const;
  // How to read another table of the same form: which columns are text, the notations of the
  // others, and which texts mark missing cells.
  TableOptions reading() const;
  // Plain sentences: what was found in the table and what was done about it. Those that matter come
  // first: how the table was read, what was left out, which columns are categories or have bounds.
  const std::vector<std::string>& notes() const { return notes_; }
  std::size_t leading_notes() const { return leading_notes_; }

  // Finds the columns by name; others are ignored, and so are the values of constant columns and
  // copies. Throws InputError
  // for a missing column, text where numbers belong, an unknown label, a value beyond its bounds,
  // its distribution's support or 1e150, and if no row is complete. A value exactly at an end of
  // the support is moved inside.
  Encoded encode(const Table& table, Unusual unusual = Unusual::refuse) const;
  // The same for a table that may lack cells and whole columns of features, whatever the fit did
  // with missing cells: these are gaps. Only rows without all conditions are left out.
  Encoded encode_known(const Table& table, Unusual unusual = Unusual::refuse) const;
  // The column that said how much each row counts in the fit; empty if there was none.
  const std::string& weights() const { return weights_; }
  // What the fit did with missing cells, and encode does.
  Missing missing() const { return missing_; }

  // Back to the user's units, columns in the order of the fitted table. `context` has as many rows
  // as x, or one for all; with none the condition columns are left out, which a regression does not
  // allow. Never leaves the bounds; values of a distribution are strictly inside its support.
  Table decode(const MatrixView<double>& x,
               const MatrixView<double>& context = Matrix<double>()) const;

  // Numbers that decode folds to the same values as rows of x.
  struct Sources {
    std::vector<Eigen::Index> rows = {};  // of x, in their order
    Matrix<double> x = {};                // [sources, features]
    Vector<double> log_slope = {};        // log |d source / d row of x|
  };
  // Whether there can be any.
  bool folds() const;
  // All that differ from x in at most 6 features and lie, in these features together, within 6
  // standardised units of 0, beyond which a flow has next to no mass. `context` as for decode.
  Sources other_sources(const MatrixView<double>& x, const MatrixView<double>& context) const;

  // [1, context_features] from name -> value; every condition column must be given, nothing else.
  Matrix<double> encode_conditions(const std::map<std::string, std::string>& given) const;
  // A table of one row with these columns of the model, from name -> value.
  Table given_row(const std::map<std::string, std::string>& given) const;
  // [rows, context_features]; no cell of a condition column may be missing.
  Matrix<double> encode_conditions(const Table& table) const;

  // Whether it is from a file of an earlier version whose maps a new fit would not have.
  bool outdated() const { return outdated_; }

  std::string to_json() const;
  // Throws InputError naming `file` unless the text is a schema that to_json could have written.
  static Schema from_json(const std::string& text, const std::string& file);

  bool operator==(const Schema&) const = default;

 private:
  void index_columns();
  // rows: those that are encoded, asked for once wrong cells have been told.
  Encoded encode_rows(const Table& table, const std::vector<const Column*>& columns,
                      Unusual unusual, const std::function<std::vector<std::size_t>()>& rows) const;

  std::vector<ColumnInfo> columns_;
  std::vector<std::string> notes_;
  std::size_t leading_notes_ = 0;
  char delimiter_ = ',';
  std::vector<std::string> missing_texts_;
  Missing missing_ = Missing::drop;
  std::string weights_;
  bool outdated_ = false;
  // Derived from columns_: places there.
  std::vector<std::size_t> continuous_;
  std::vector<std::size_t> categories_;
  std::vector<std::size_t> conditions_;
  std::size_t context_features_ = 0;
};

}  // namespace jeffreys
