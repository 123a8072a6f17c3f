#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// More columns would be too small to read.
inline constexpr int kMostPairColumns = 8;

// What stands along the axes of a column.
struct PairColumn {
  std::string name;
  std::vector<std::string> labels = {};  // at 0, 1, ...; of a category
  // A value as text, for example a date; without it numbers.
  std::function<std::string(double)> text = {};
};

// Every column against every other, with histograms on the diagonal: data below the diagonal, model
// samples above it. Both have one column for each name, at most kMostPairColumns; `data` may be
// empty. The caller chooses the columns, and should say in the title when there are more.
// Of more than 1200 rows every k-th is a point. A legend says which colour is which. Throws as
// draw() does.
void draw_pair_plot(const std::filesystem::path& path, const std::vector<PairColumn>& columns,
                    const MatrixView<double>& data, const MatrixView<double>& samples,
                    const std::string& title = "");

}  // namespace jeffreys::report
