#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// More columns would be too small to read.
inline constexpr int kMostPairColumns = 8;

// Every column against every other, with histograms on the diagonal: data below the diagonal, model
// samples above it. Both have one column for each name, at most kMostPairColumns; `data` may be
// empty. The caller chooses the columns, and should say in the title when there are more.
// Of more than 1200 rows every k-th is a point. Throws as draw() does.
void draw_pair_plot(const std::filesystem::path& path, const std::vector<std::string>& names,
                    const MatrixView<double>& data, const MatrixView<double>& samples,
                    const std::string& title = "");

}  // namespace jeffreys::report
