// Rows of a table as numbers of a model, and what the numbers leave open.
//
// A whole or rounded number stands for all values of its cell. Training sees it at another place of
// the cell in every step; what is scored is the probability of the cell, which is the mean of the
// density over its places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/table/column_info.h"

namespace jeffreys {

// Which numbers of rows are unknown: [rows, features].
using Gaps = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The features of encoded rows that are open: those on a lattice.
class Cells {
 public:
  // Of closed features; x has as many rows.
  explicit Cells(Vector<double> log_jacobian = {}) : log_jacobian_(std::move(log_jacobian)) {}

  // Numbers in (0, 1) that say where in its cell a row lies.
  [[nodiscard]] Eigen::Index open() const { return static_cast<Eigen::Index>(features_.size()); }
  [[nodiscard]] Eigen::Index rows() const { return log_jacobian_.size(); }

  // Row i of x is row rows[i] of these, of which the open features are set to their values at
  // places [rows, open]; log_jacobian, if it is wanted, is set for all features. A gap stays as it
  // is.
  void place(std::span<const std::size_t> rows, const MatrixView<double>& places,
             Eigen::Ref<Matrix<double>> x, Vector<double>* log_jacobian = nullptr) const;

  [[nodiscard]] Cells take(std::span<const std::size_t> rows) const;

  // values: in the user's units, NaN where there is a gap; zeros: where the guess of a regression
  // is, or empty.
  void add(Eigen::Index feature, const ColumnInfo& info, std::vector<double> values,
           std::vector<double> zeros);

 private:
  struct Feature {
    Eigen::Index place;  // in x
    ColumnInfo info;
    std::vector<double> values;
    std::vector<double> zeros;
  };

  Vector<double> log_jacobian_;
  std::vector<Feature> features_;
};

// Points of the unit cube [count, dimensions] that fill it evenly; `turn` shifts them all, so that
// the sets of several turns are alike and independent. The same arguments give the same points.
[[nodiscard]] Matrix<double> even_points(Eigen::Index count, Eigen::Index dimensions, int turn);

// Independent uniform points [count, dimensions], anew for every seed and iteration.
[[nodiscard]] Matrix<double> random_points(Eigen::Index count, Eigen::Index dimensions,
                                           std::uint64_t seed, std::uint64_t iteration);

struct EncodedRows {
  Matrix<double> x = {};        // [rows, features]; open features in the middle of their cells
  Matrix<double> context = {};  // [rows, context features]
  // [rows]; what to add to the model's log p(x) for the log density in the user's units, at x.
  Vector<double> log_jacobian = {};
  Cells cells = Cells();
  // [rows, features]; the numbers there are 0 and mean nothing, and log_jacobian is that of the
  // others. Empty: nothing is unknown.
  Gaps gaps = {};
  Vector<double> weights = {};  // [rows], how much each row counts; empty: all the same

  [[nodiscard]] Eigen::Index size() const { return x.rows(); }
  [[nodiscard]] bool has_gaps(Eigen::Index row) const {
    return gaps.size() > 0 && gaps.row(row).any();
  }
  // Whether no cell of it is known.
  [[nodiscard]] bool says_nothing(Eigen::Index row) const {
    return gaps.size() > 0 && gaps.row(row).all();
  }
  [[nodiscard]] EncodedRows take(std::span<const std::size_t> rows) const;
};

}  // namespace jeffreys
