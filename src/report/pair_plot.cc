#include "jeffreys/report/pair_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "report/panel.h"
#include "report/text.h"

namespace jeffreys::report {
namespace {

constexpr double kGap = 8;
constexpr double kSlantRoom = 40;   // below the axes, for long labels
constexpr double kNumberRoom = 33;  // beside the axes, for numbers

void check(const std::vector<PairColumn>& names, const MatrixView<double>& data,
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
  PairPlot(const std::vector<PairColumn>& columns, const MatrixView<double>& data,
           const MatrixView<double>& samples)
      : columns_(columns), data_(data), samples_(samples), side_(columns.size() > 5 ? 100 : 140) {
    for (Eigen::Index c = 0; c < this->columns(); ++c) {
      const std::vector<std::string>& labels = columns_[static_cast<std::size_t>(c)].labels;
      ranges_.push_back(labels.empty() ? histogram_range(values(data_, c), values(samples_, c))
                                       : Interval{-0.5, static_cast<double>(labels.size()) - 0.5});
      marks_.push_back(marks_of(c));
      for (const Mark& mark : marks_.back()) {
        // As wide as letters of the axis are.
        const std::size_t letters = letters_in(mark.text);
        const double flat = 5 * static_cast<double>(letters + 1);
        const double beside = 5.5 * static_cast<double>(std::min(letters, kMostMarkLetters));
        if (c > 0) y_room_ = std::max(y_room_, beside - kNumberRoom);
        if (flat * static_cast<double>(marks_.back().size()) > side_) slant_ = kSlantRoom;
      }
    }
  }

  // Without data the model's samples take their place, where the names are.
  Script draw(const std::string& title) const {
    const double all = static_cast<double>(columns()) * (side_ + kGap);
    const double head = (title.empty() ? 0 : 28) + kLegendRow;
    const double left = kLeftRoom + y_room_;
    Script script(left + all + kRightRoom, head + kGap + all + kBottomRoom + slant_);
    begin_picture(script, title);
    draw_legend(script, head);
    for (Eigen::Index row = 0; row < columns(); ++row) {
      for (Eigen::Index column = 0; column < columns(); ++column) {
        const Box box{left + static_cast<double>(column) * (side_ + kGap),
                      head + kGap + static_cast<double>(row) * (side_ + kGap), side_, side_};
        if (row < column && data_.size() == 0) continue;
        draw_panel(script, panel(row, column), box, style(row, column));
      }
    }
    script.line("unset multiplot");
    return script;
  }

 private:
  Eigen::Index columns() const { return static_cast<Eigen::Index>(columns_.size()); }

  // Which colour is which, above all panels.
  void draw_legend(Script& script, double head) const {
    script.line("set size 1,1\nset origin 0,0\nunset border\nunset tics\nunset label");
    script.line(fmt::format(
        "set key at screen {},{} left center horizontal maxrows 1 Left reverse samplen 1 font ',8' "
        "noenhanced",
        kLeftRoom / script.width(), 1 - (head - 0.3 * kLegendRow) / script.height()));
    const auto entry = [](const char* color, const char* name) {
      return fmt::format("NaN with points pt 7 ps 0.7 lc rgb '{}' title '{}'", color, name);
    };
    std::vector<std::string> entries;
    if (data_.size() != 0) entries.push_back(entry(kDataColor, "data (below the diagonal)"));
    entries.push_back(entry(kModelColor, "samples of the model"));
    script.line("set xrange [0:1]\nset yrange [0:1]");
    plot(script, entries);
    script.line("unset key");
  }

  // Labels, or texts at the ends of the middle half; nothing where numbers do.
  std::vector<Mark> marks_of(Eigen::Index c) const {
    constexpr std::size_t kMostLabels = 8;
    const PairColumn& column = columns_[static_cast<std::size_t>(c)];
    std::vector<Mark> marks;
    const std::size_t step = (column.labels.size() + kMostLabels - 1) / kMostLabels;
    for (std::size_t i = 0; i < column.labels.size(); i += step) {
      marks.push_back({static_cast<double>(i), column.labels[i]});
    }
    if (!column.labels.empty() || !column.text) return marks;
    const Interval& range = ranges_[static_cast<std::size_t>(c)];
    for (const double at : {0.2, 0.8}) {
      const double value = range.min + at * (range.max - range.min);
      marks.push_back({value, column.text(value)});
    }
    return marks;
  }

  static std::vector<double> values(const Matrix<double>& table, Eigen::Index column) {
    return table.size() == 0 ? std::vector<double>() : column_of(table, column);
  }

  const std::string& name(Eigen::Index column) const {
    return columns_[static_cast<std::size_t>(column)].name;
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
            .color = shows_data(row, column) ? kDataColor : kModelColor,
            .x_marks = marks_[static_cast<std::size_t>(column)],
            .y_marks = marks_[static_cast<std::size_t>(row)],
            .slant = slant_,
            .y_room = y_room_};
  }

  Panel panel(Eigen::Index row, Eigen::Index column) const {
    const std::string below = row + 1 == columns() ? name(column) : "";
    if (row == column) {
      return Histogram{
          .x_label = below,
          .x_min = range(row).min,
          .x_max = range(row).max,
          // A bar for each label.
          .bins = static_cast<int>(columns_[static_cast<std::size_t>(row)].labels.size()),
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

  const std::vector<PairColumn>& columns_;
  Matrix<double> data_;
  Matrix<double> samples_;
  double side_;
  std::vector<Interval> ranges_;
  std::vector<std::vector<Mark>> marks_;
  double slant_ = 0;
  double y_room_ = 0;
};

}  // namespace

void draw_pair_plot(const std::filesystem::path& path, const std::vector<PairColumn>& columns,
                    const MatrixView<double>& data, const MatrixView<double>& samples,
                    const std::string& title) {
  check_extension(path);
  check(columns, data, samples);
  render(path, PairPlot(columns, data, samples).draw(title));
}

}  // namespace jeffreys::report
