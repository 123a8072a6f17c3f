// What several fits say about the rows that they have left out. Each row is left out by some
// members, of which it has stopped the first; how much that flatters is measured, and taken off.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fit/gap_fills.h"
#include "jeffreys/fit/member_fits.h"

namespace jeffreys {

class LeftOutRows {
 public:
  // kinds: how many kinds of fits take turns among the members. Table and parts outlive it.
  LeftOutRows(const PreparedTable& table, const MemberParts& parts, int kinds, std::uint64_t seed,
              std::size_t threads);

  // Log densities of some rows in the user's units. A row with gaps has that of the cells which are
  // there, by values in the gaps that are the same for every density, so that differences between
  // densities are known better than each of them.
  [[nodiscard]] Vector<double> score(const AnyDensity<float>& density,
                                     const std::vector<std::size_t>& rows) const;

  // Of every row by the models of the members that left it out: [rows, left_out_by], where those
  // that it stopped come first.
  [[nodiscard]] Matrix<double> scores_of(const std::vector<AnyDensity<float>>& by_member) const;

  // By how much scores are higher for the members that the rows have stopped; never negative.
  [[nodiscard]] double optimism_of(const Matrix<double>& scores) const;

  // Of every row by the even mixture of the members of one kind (none: of all) that left it out,
  // without what those gain that were stopped by it.
  [[nodiscard]] Vector<double> mixed_fairly(Matrix<double> scores, double optimism,
                                            std::optional<int> kind) const;

  // Of every row by what `model` makes of the rows of all other parts.
  template <typename Model>
  [[nodiscard]] Vector<double> cross_fitted(const Model& model) const {
    Vector<double> result(rows_.size());
    for (int part = 0; part < parts_.members(); ++part) {
      const std::vector<std::size_t> rows = parts_.rows_of(part);
      result(rows) = score(model(rows_.take(parts_.rows_without(part))), rows);
    }
    return result;
  }

  [[nodiscard]] int kind_of(int member) const { return member % kinds_; }

 private:
  [[nodiscard]] Vector<double> score_open(const TabularDensity<float>& density,
                                          const std::vector<std::size_t>& rows) const;
  // A weighted mean over rows, of those alone for which the function says so.
  template <typename Counts>
  [[nodiscard]] double mean_where(const Vector<double>& values, const Counts& counts) const;

  const Schema& schema_;
  const EncodedRows& rows_;
  const MemberParts& parts_;
  int kinds_;
  std::shared_ptr<ThreadPool> pool_;
  // Of the rows with gaps: where they are among `points_`, and these.
  std::vector<Eigen::Index> place_;
  Eigen::Index open_rows_ = 0;
  GapFills::HeldOut points_;
};

}  // namespace jeffreys
