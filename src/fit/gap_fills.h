// Rows with gaps in training, by stochastic expectation maximisation: their gaps hold values, which
// are drawn from a simple mixture at first, and later follow the main model as it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fit/gap_mixture.h"
#include "jeffreys/train/trainer.h"

namespace jeffreys {

class GapFills {
 public:
  // The rows outlive it. They may have no gaps. batches: iterations in which training sees every
  // row once; there are no more sweeps than that.
  GapFills(const RowShape& shape, const EncodedRows& rows, std::uint64_t seed,
           std::int64_t batches = 1);
  GapFills(const GapFills&) = delete;
  GapFills& operator=(const GapFills&) = delete;

  // What stands in the gaps, row by row: all that changes.
  [[nodiscard]] const std::shared_ptr<std::vector<float>>& state() const { return state_; }

  // Writes the gaps of row rows[i] into row i of x.
  void write(std::span<const std::size_t> rows, Eigen::Ref<Matrix<double>> x) const;

  // One Metropolis sweep over all gaps, which targets the model: all gaps of a row anew from the
  // mixture, then a step of its numbers, then each class given all else. Values on a lattice that
  // are known take a place of their cells, as they do in a training step.
  void sweep(const Density<float>& model, std::uint64_t iteration);
  // Whether there is one before this iteration.
  [[nodiscard]] bool due(std::int64_t iteration) const;

  // Held-out rows that may have gaps, at `points` values of these each; row r is at r, r + rows,
  // ... log_weights: what to add to a point's log density, so that the mean over a row's points is
  // the density of what it has, but for the Jacobian in the middle of its cells.
  struct HeldOut {
    EncodedRows rows;
    Vector<double> log_weights;
  };
  [[nodiscard]] HeldOut held_out(const EncodedRows& rows, Eigen::Index points) const;

  [[nodiscard]] const GapMixture& mixture() const { return mixture_; }

 private:
  struct Moves;

  void propose(const Density<float>& model, Moves& moves) const;
  void step(const Density<float>& model, Moves& moves) const;
  void draw_classes(const Density<float>& model, Moves& moves) const;
  void read(const Moves& moves);

  RowShape shape_;
  const EncodedRows& rows_;
  std::uint64_t seed_;
  GapMixture mixture_;
  std::int64_t every_;  // iterations
  std::map<std::vector<bool>, std::vector<std::size_t>> patterns_;
  std::vector<std::size_t> open_rows_;  // those with gaps
  std::vector<std::size_t> first_gap_;  // where in the state those of each row begin
  std::shared_ptr<std::vector<float>> state_;
};

// The rows with their gaps filled once from a mixture that is fitted to them.
[[nodiscard]] EncodedRows with_gaps_filled(const RowShape& shape, const EncodedRows& rows,
                                           std::uint64_t seed);

}  // namespace jeffreys
