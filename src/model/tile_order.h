// The order in which an energy model visits a batch's tiles where contexts repeat: tiles with the
// same context follow each other, so that what depends on the context alone is computed once.
#pragma once

#include "model/tile_rows.h"

namespace jeffreys {

class TileOrder {
 public:
  // Row i has context i mod context_rows, which divides rows.
  TileOrder(Eigen::Index rows, Eigen::Index context_rows) : rows_(rows) {
    const auto all = static_cast<std::size_t>(rows);
    const auto period = static_cast<std::size_t>(context_rows);
    tiles_ = tile_count(rows);
    if (period == 1) sharing_ = tiles_;
    // Tiles that end where the contexts begin again: worthwhile if they are not much emptier.
    if (period <= 1 || period == all) return;
    const std::size_t copies = all / period;
    const std::size_t aligned = tile_count(context_rows) * copies;
    if (2 * aligned > 3 * tiles_) return;
    period_ = period;
    tiles_ = aligned;
    sharing_ = copies;
  }

  [[nodiscard]] std::size_t tiles() const { return tiles_; }

  // How many tiles one job takes, at least `least`: no more than share their context, few enough
  // that several threads have work.
  [[nodiscard]] std::size_t tiles_in_job(std::size_t least) const {
    constexpr std::size_t kMost = 16;
    return std::max(least, std::min(sharing_, kMost));
  }

  [[nodiscard]] TileRows operator[](std::size_t place) const {
    if (period_ == 0) return tile_rows(rows_, place);
    const TileRows within = tile_rows(static_cast<Eigen::Index>(period_), place / sharing_);
    return {place % sharing_ * period_ + within.first, within.rows};
  }

 private:
  Eigen::Index rows_;
  std::size_t tiles_ = 0;
  std::size_t sharing_ = 1;
  std::size_t period_ = 0;  // 0: tiles in the order of the rows
};

}  // namespace jeffreys
