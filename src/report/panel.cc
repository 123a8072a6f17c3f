#include "report/panel.h"

namespace jeffreys::report {

void check_panel(const Panel& panel) {
  std::visit([](const auto& kind) { check_kind(kind); }, panel);
}

Size size_of(const Panel& panel) {
  return std::visit([](const auto& kind) { return size_of_kind(kind); }, panel);
}

void draw_panel(Script& script, const Panel& panel, const Box& box, const PanelStyle& style) {
  std::visit([&](const auto& kind) { draw_kind(script, kind, box, style); }, panel);
}

}  // namespace jeffreys::report
