#include "jeffreys/report/pair_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "report/panel.h"

namespace jeffreys::report {
namespace {

constexpr double kGap = 8;

void check(const std::vector<std::string>& names, const MatrixView<double>& data,
           const MatrixView<double>& samples) {
  if (names.empty() || names.size() > kMostPairColumns) {
    throw std::invalid_argument(
        fmt::format("names: expected 1 to {} columns, got {}", kMostPairColumns, names.size()));
  }
  const auto columns = static_cast<Eigen::Index>(names.size());
  if (data.size() != 0 && data.cols() != columns) {
    throw std::invalid_argument(
        fmt::format("data: expected {} columns, got {}", columns, data.cols()));
  }
  if (samples.cols() != columns) {
    throw std::invalid_argument(
        fmt::format("samples: expected {} columns, got {}", columns, samples.cols()));
  }
}

class PairPlot {
 public:
  PairPlot(const std::vector<std::string>& names, const MatrixView<double>& data,
           const MatrixView<double>& samples)
      : names_(names), data_(data), samples_(samples), side_(names.size() > 5 ? 100 : 140) {
    for (Eigen::Index c = 0; c < columns(); ++c) {
      ranges_.push_back(histogram_range(values(data_, c), values(samples_, c)));
    }
  }

  // Without data the model's samples take their place, where the names are.
  Script draw(const std::string& title) const {
    const double all = static_cast<double>(columns()) * (side_ + kGap);
    const double head = title.empty() ? 0 : 28;
    Script script(kLeftRoom + all + kRightRoom, head + kGap + all + kBottomRoom);
    begin_picture(script, title);
    for (Eigen::Index row = 0; row < columns(); ++row) {
      for (Eigen::Index column = 0; column < columns(); ++column) {
        const Box box{kLeftRoom + static_cast<double>(column) * (side_ + kGap),
                      head + kGap + static_cast<double>(row) * (side_ + kGap), side_, side_};
        if (row < column && data_.size() == 0) continue;
        draw_panel(script, panel(row, column), box, style(row, column));
      }
    }
    script.line("unset multiplot");
    return script;
  }

 private:
  Eigen::Index columns() const { return static_cast<Eigen::Index>(names_.size()); }

  static std::vector<double> values(const Matrix<double>& table, Eigen::Index column) {
    return table.size() == 0 ? std::vector<double>() : column_of(table, column);
  }

  const std::string& name(Eigen::Index column) const {
    return names_[static_cast<std::size_t>(column)];
  }
  const Interval& range(Eigen::Index column) const {
    return ranges_[static_cast<std::size_t>(column)];
  }

  bool shows_data(Eigen::Index row, Eigen::Index column) const {
    return row > column && data_.size() != 0;
  }

  PanelStyle style(Eigen::Index row, Eigen::Index column) const {
    return {.x_tics = row + 1 == columns(),
            .y_tics = column == 0 && row != 0,
            .legend = false,
            .font = 7,
            .point_size = 0.2,
            .most_points = 1200,
            .color = shows_data(row, column) ? kDataColor : kModelColor};
  }

  Panel panel(Eigen::Index row, Eigen::Index column) const {
    const std::string below = row + 1 == columns() ? name(column) : "";
    if (row == column) {
      return Histogram{.x_label = below,
                       .x_min = range(row).min,
                       .x_max = range(row).max,
                       .samples = values(data_, row),
                       .second = values(samples_, row)};
    }
    Scatter scatter{.x_label = below,
                    .y_label = column == 0 ? name(row) : "",
                    .x_min = range(column).min,
                    .x_max = range(column).max,
                    .y_min = range(row).min,
                    .y_max = range(row).max};
    const Matrix<double>& table = shows_data(row, column) ? data_ : samples_;
    scatter.points.resize(table.rows(), 2);
    scatter.points.col(0) = table.col(column);
    scatter.points.col(1) = table.col(row);
    return scatter;
  }

  const std::vector<std::string>& names_;
  Matrix<double> data_;
  Matrix<double> samples_;
  double side_;
  std::vector<Interval> ranges_;
};

}  // namespace

void draw_pair_plot(const std::filesystem::path& path, const std::vector<std::string>& names,
                    const MatrixView<double>& data, const MatrixView<double>& samples,
                    const std::string& title) {
  check_extension(path);
  check(names, data, samples);
  render(path, PairPlot(names, data, samples).draw(title));
}

}  // namespace jeffreys::report
