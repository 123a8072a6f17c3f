#include "report/svg.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "report/markup.h"

namespace jeffreys::report {
namespace {

// A figure on a narrow screen may shrink to this part of its width; then it scrolls. Smaller, its
// numbers could not be read.
constexpr double kLeastScale = 0.6;

[[noreturn]] void fail(const std::string& expected) {
  throw std::invalid_argument("svg: expected " + expected);
}

// Markup as pieces, alternately text and tags, in their order.
struct Piece {
  std::string_view text;
  bool tag = false;
};

// The end of the tag that begins at `from`; '>' may stand in quoted values.
std::size_t end_of_tag(std::string_view svg, std::size_t from) {
  char quote = 0;
  for (std::size_t i = from; i < svg.size(); ++i) {
    const char c = svg[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  fail("every tag to be closed");
}

std::vector<Piece> pieces_of(std::string_view svg) {
  std::vector<Piece> pieces;
  std::size_t from = 0;
  while (from < svg.size()) {
    const std::size_t tag = std::min(svg.find('<', from), svg.size());
    if (tag > from) pieces.push_back({svg.substr(from, tag - from), false});
    if (tag == svg.size()) break;
    const std::size_t end = end_of_tag(svg, tag);
    pieces.push_back({svg.substr(tag, end - tag), true});
    from = end;
  }
  return pieces;
}

// Calls use(place, name, whether it is a definition) for each name of a part in a tag.
template <typename Use>
void each_name(std::string_view tag, Use use) {
  for (const std::string_view opening : {" id=\"", " id='", "href=\"#", "href='#", "url(#"}) {
    for (std::size_t at = tag.find(opening); at != std::string_view::npos;
         at = tag.find(opening, at + 1)) {
      const std::size_t first = at + opening.size();
      const std::size_t end = tag.find_first_of("\"')", first);
      if (end == std::string_view::npos) continue;
      use(first, tag.substr(first, end - first), opening.starts_with(" id"));
    }
  }
}

std::set<std::string> references_in(const std::vector<Piece>& pieces) {
  std::set<std::string> names;
  for (const Piece& piece : pieces) {
    if (!piece.tag) continue;
    each_name(piece.text, [&](std::size_t, std::string_view name, bool definition) {
      if (!definition) names.emplace(name);
    });
  }
  return names;
}

// Every name gets the prefix.
std::string renamed(std::string_view tag, const std::string& prefix) {
  std::set<std::size_t> places;
  each_name(tag, [&](std::size_t at, std::string_view, bool) { places.insert(at); });
  std::string result;
  std::size_t from = 0;
  for (const std::size_t at : places) {
    (result += tag.substr(from, at - from)) += prefix;
    from = at;
  }
  return result += tag.substr(from);
}

// Gnuplot gives groups names that nothing refers to, and the same ones again in every panel.
std::string without_unused_name(std::string_view tag, const std::set<std::string>& used) {
  std::string result(tag);
  each_name(tag, [&](std::size_t at, std::string_view name, bool definition) {
    if (definition && !used.contains(std::string(name))) {
      const std::size_t begin = tag.rfind(' ', at);
      result.erase(begin, at + name.size() + 1 - begin);
    }
  });
  return result;
}

bool opens(std::string_view tag, std::string_view name) {
  return tag.starts_with('<') && tag.substr(1).starts_with(name) &&
         std::string_view(" \t\n/>").find(tag[name.size() + 1]) != std::string_view::npos;
}

// The number of an attribute of the root; without a unit it counts pixels.
double attribute(std::string_view tag, const std::string& name) {
  for (const char* before : {" ", "\n"}) {
    const std::size_t at = tag.find(before + name + "=\"");
    if (at == std::string_view::npos) continue;
    const char* first = tag.data() + at + name.size() + 3;
    double value = 0;
    if (std::from_chars(first, tag.data() + tag.size(), value).ec == std::errc() && value > 0) {
      return value;
    }
  }
  fail(name + " of the whole picture, in pixels");
}

std::string root(std::string_view tag, const std::string& alt) {
  const double width = attribute(tag, "width");
  const double height = attribute(tag, "height");
  return fmt::format(
      "<svg viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
      "style=\"min-width:{2:.0f}px\" role=\"img\" aria-label=\"{3}\">",
      width, height, kLeastScale * width, html::escape(alt));
}

}  // namespace

std::string svg_element(const std::string& svg, const std::string& prefix, const std::string& alt) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t end = svg.rfind("</svg>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    fail("<svg ...> ... </svg>");
  }
  const std::vector<Piece> pieces = pieces_of(std::string_view(svg).substr(begin, end - begin));
  const std::set<std::string> used = references_in(pieces);
  std::string result = root(pieces.front().text, alt);
  // Titles would show as hints under the pointer, and they are gnuplot's, not ours.
  std::string_view skipped;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (!skipped.empty()) {
      if (piece.tag && piece.text == skipped) skipped = {};
    } else if (!piece.tag) {
      result += piece.text;
    } else if (opens(piece.text, "title")) {
      skipped = "</title>";
    } else if (opens(piece.text, "desc")) {
      skipped = "</desc>";
    } else {
      result += renamed(without_unused_name(piece.text, used), prefix);
    }
  }
  return result + "</svg>";
}

}  // namespace jeffreys::report
