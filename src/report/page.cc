#include "jeffreys/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "report/markup.h"
#include "report/page_style.h"
#include "report/svg.h"

namespace jeffreys::report {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}

// "Held-out NLL (nats)" becomes "held-out-nll-nats".
std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (is_plain(c)) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "section" : result;
}

std::string unused(const std::string& anchor, const std::set<std::string>& used) {
  std::string result = anchor;
  for (int i = 2; used.contains(result); ++i) result = fmt::format("{}-{}", anchor, i);
  return result;
}

void check_signs(const char* name, const std::string& anchor) {
  const bool good = std::all_of(anchor.begin(), anchor.end(),
                                [](char c) { return is_plain(c) || c == '-' || c == '_'; });
  if (good) return;
  throw std::invalid_argument(
      fmt::format("{}: expected ASCII letters, digits, '-' and '_', got '{}'", name, anchor));
}

void check_anchor(const std::string& anchor, const std::set<std::string>& used) {
  check_signs("anchor", anchor);
  if (used.contains(anchor)) {
    throw std::invalid_argument(
        fmt::format("anchor: expected one that is not used yet, got '{}'", anchor));
  }
}

// "-0.98 ± 0.02", "< 0.01" and "12 %" begin like numbers; "-" and "" stand for missing ones.
bool begins_like_number(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" +-<>=~.");
  if (first == std::string::npos) return true;
  for (const std::string_view sign : {"\xe2\x88\x92", "\xe2\x80\x93", "\xc2\xb1", "n/a"}) {
    if (std::string_view(text).substr(first).starts_with(sign)) return true;
  }
  return std::isdigit(static_cast<unsigned char>(text[first])) != 0;
}

std::vector<bool> numeric_columns(std::size_t columns, const std::vector<std::vector<Cell>>& rows) {
  std::vector<bool> numeric(columns, !rows.empty());
  for (const std::vector<Cell>& row : rows) {
    for (std::size_t c = 0; c < columns; ++c) {
      numeric[c] = numeric[c] && begins_like_number(row[c].text);
    }
  }
  return numeric;
}

void check_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                 const TableStyle& options) {
  if (header.empty()) throw std::invalid_argument("header: expected at least one column, got none");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const Cell& cell : rows[r]) check_signs("link", cell.link);
    if (rows[r].size() == header.size()) continue;
    throw std::invalid_argument(
        fmt::format("rows: expected {} cells in row {}, got {}", header.size(), r, rows[r].size()));
  }
  if (!options.numeric.empty() && options.numeric.size() != header.size()) {
    throw std::invalid_argument(fmt::format("numeric: expected one for each of {} columns, got {}",
                                            header.size(), options.numeric.size()));
  }
}

std::string numbered(const char* kind, int number, const std::string& caption) {
  return fmt::format("{} {}{}{}", kind, number, caption.empty() ? "" : ": ", caption);
}

}  // namespace

std::string read_svg(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream || text.empty()) throw InputError(path.string(), "cannot read the picture");
  return text;
}

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::heading(const std::string& text, int level, const std::string& anchor) {
  if (level < 2 || level > 4) {
    throw std::invalid_argument(fmt::format("level: expected 2 to 4, got {}", level));
  }
  check_anchor(anchor, anchors_);
  const std::string name = anchor.empty() ? unused(slug(text), anchors_) : anchor;
  anchors_.insert(name);
  contents_.push_back({level, name, text});
  html_ += html::heading(level, name, text);
  markdown_ += markdown::heading(level, anchor, text);
}

void Page::paragraph(const std::string& text) {
  html_ += html::paragraph(text);
  markdown_ += markdown::paragraph(text);
}

void Page::preformatted(const std::string& text) {
  html_ += html::preformatted(text);
  markdown_ += markdown::preformatted(text);
}

void Page::table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                 const TableStyle& options) {
  check_table(header, rows, options);
  const Table table{
      header, rows,
      options.numeric.empty() ? numeric_columns(header.size(), rows) : options.numeric,
      numbered("Table", ++tables_, options.caption)};
  html_ += html::table(table);
  markdown_ += markdown::table(table);
}

void Page::figure(const Picture& picture) {
  const std::string& alt = picture.alt.empty() ? picture.caption : picture.alt;
  if (picture.link.find_first_of("<>\n") != std::string::npos) {
    throw std::invalid_argument(fmt::format(
        "link: expected a path without '<', '>' and line ends, got '{}'", picture.link));
  }
  const std::string svg = svg_element(picture.svg, fmt::format("figure-{}-", figures_ + 1), alt);
  const std::string caption = numbered("Figure", ++figures_, picture.caption);
  html_ += html::figure(svg, caption);
  markdown_ += markdown::figure(picture.link, alt, caption);
}

void Page::notice(const std::string& text, Notice kind) {
  html_ += html::notice(kind, text);
  markdown_ += markdown::notice(kind, text);
}

void Page::verdict(const std::string& words, const std::string& reasons, Verdict judged) {
  html_ += html::verdict(words, reasons, judged);
  markdown_ += markdown::verdict(words, reasons);
}

void Page::fold(const std::string& line) {
  ++folds_;
  html_ += html::fold(line);
  markdown_ += markdown::fold(line);
}

void Page::unfold() {
  if (folds_ == 0) throw std::invalid_argument("unfold: expected an open fold, there is none");
  --folds_;
  html_ += html::unfold();
  markdown_ += markdown::unfold();
}

// The policy lets the browser itself keep the promise that nothing is loaded and no script runs.
std::string Page::html() const {
  std::string result = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n",
      html::escape(title_), kPageStyle);
  if (!subtitle_.empty()) {
    result += fmt::format("<p class=\"subtitle\">{}</p>\n", html::escape(subtitle_));
  }
  result += "</header>\n";
  if (!contents_.empty()) {
    result += "<nav aria-label=\"contents\">\n<ul>\n";
    for (const Entry& entry : contents_) {
      if (entry.level > 3) continue;
      result += fmt::format("<li class=\"level{}\"><a href=\"#{}\">{}</a></li>\n", entry.level,
                            entry.anchor, html::escape(entry.text));
    }
    result += "</ul>\n</nav>\n";
  }
  result += "<main>\n" + html_;
  for (int i = 0; i < folds_; ++i) result += html::unfold();
  return result + "</main>\n</body>\n</html>\n";
}

std::string Page::markdown() const {
  std::string result = fmt::format("# {}\n\n", markdown::escape(title_));
  if (!subtitle_.empty()) result += markdown::escape(subtitle_) + "\n\n";
  result += markdown_;
  for (int i = 0; i < folds_; ++i) result += markdown::unfold();
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

void Page::save(const std::filesystem::path& path) const {
  const bool page = path.extension() == ".html";
  if (!page && path.extension() != ".md") {
    throw InputError(path.string(), "expected a file name that ends with .html or .md");
  }
  const std::string text = page ? html() : markdown();
  storage::write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace jeffreys::report
