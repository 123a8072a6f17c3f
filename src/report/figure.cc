#include "jeffreys/report/figure.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/panel.h"

namespace jeffreys::report {
namespace {

struct Row {
  double height = 0;  // of the tallest axes
  double legend = 0;
  double below = 0;
  double color_max = 0;
  std::size_t last_map = 0;  // has the bar that explains the colours; panels.size(): no map

  double whole() const { return kTitleRoom + legend + height + below; }
};

Row measure(const std::vector<Panel>& panels) {
  Row row;
  row.last_map = panels.size();
  for (std::size_t c = 0; c < panels.size(); ++c) {
    const Size size = size_of(panels[c]);
    row.height = std::max(row.height, size.height);
    row.legend = std::max(row.legend, size.legend);
    row.below = std::max(row.below, size.below);
    row.color_max = std::max(row.color_max, color_max_of(panels[c]));
    if (std::holds_alternative<DensityMap>(panels[c])) row.last_map = c;
  }
  return row;
}

// Columns are as wide as their widest panel, and leave room for what stands beside them.
struct Column {
  double width = 0;
  double right = kRightRoom;

  double whole() const { return kLeftRoom + width + right; }
};

std::vector<Column> measure(const std::vector<std::vector<Panel>>& grid,
                            const std::vector<Row>& rows) {
  std::vector<Column> columns;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    columns.resize(std::max(columns.size(), grid[r].size()));
    for (std::size_t c = 0; c < grid[r].size(); ++c) {
      const Size size = size_of(grid[r][c]);
      columns[c].width = std::max(columns[c].width, size.width);
      const auto* map = std::get_if<DensityMap>(&grid[r][c]);
      const double bar = kColorBarRoom + (map != nullptr && !map->value_label.empty() ? 14 : 0);
      const double right = c == rows[r].last_map ? bar : size.right;
      columns[c].right = std::max(columns[c].right, right);
    }
  }
  return columns;
}

void draw_row(Script& script, const std::vector<Panel>& panels, const Row& row, double top,
              const std::vector<Column>& columns) {
  double left = kLeftRoom;
  for (std::size_t c = 0; c < panels.size(); ++c) {
    const Size size = size_of(panels[c]);
    const Box box{left, top + kTitleRoom + row.legend, size.width, size.height};
    PanelStyle style;
    style.color_max = row.color_max > 0 ? row.color_max : 1;
    style.color_bar = c == row.last_map;
    draw_panel(script, panels[c], box, style);
    left += columns[c].whole();
  }
}

}  // namespace

Matrix<double> cell_centers(double x_min, double x_max, double y_min, double y_max, Eigen::Index nx,
                            Eigen::Index ny) {
  if (nx < 1 || ny < 1) throw std::invalid_argument("nx, ny: expected at least 1");
  Matrix<double> centers(nx * ny, 2);
  for (Eigen::Index i = 0; i < ny; ++i) {
    for (Eigen::Index j = 0; j < nx; ++j) {
      const double across = (static_cast<double>(j) + 0.5) / static_cast<double>(nx);
      const double up = (static_cast<double>(i) + 0.5) / static_cast<double>(ny);
      centers.row(i * nx + j) << x_min + across * (x_max - x_min), y_min + up * (y_max - y_min);
    }
  }
  return centers;
}

void draw(const std::filesystem::path& path, const std::vector<std::vector<Panel>>& grid,
          const std::string& title) {
  check_extension(path);
  std::vector<Row> rows;
  for (const std::vector<Panel>& panels : grid) {
    for (const Panel& panel : panels) check_panel(panel);
    rows.push_back(measure(panels));
  }
  const std::vector<Column> columns = measure(grid, rows);
  if (columns.empty()) throw std::invalid_argument("grid: expected at least one panel");
  const double head = title.empty() ? 4 : 30;
  double height = head;
  double width = 0;
  for (const Column& column : columns) width += column.whole();
  for (const Row& row : rows) height += row.whole();

  Script script(std::round(width), std::round(height));
  begin_picture(script, title);
  double top = head;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    draw_row(script, grid[r], rows[r], top, columns);
    top += rows[r].whole();
  }
  script.line("unset multiplot");
  render(path, script);
}

}  // namespace jeffreys::report
