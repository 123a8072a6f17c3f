#include <fmt/format.h>

#include "report/markup.h"
#include "report/text.h"

namespace jeffreys::report::html {
namespace {

const char* class_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::good: return "good";
    case Verdict::mixed: return "mixed";
    case Verdict::bad: return "bad";
    case Verdict::none: break;
  }
  return "";
}

std::string cell(const Cell& cell, bool numeric) {
  std::string classes = numeric ? "number" : "";
  for (const char* more : {class_of(cell.verdict), cell.best ? "best" : ""}) {
    if (*more == '\0') continue;
    if (!classes.empty()) classes += ' ';
    classes += more;
  }
  const std::string attribute = classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
  std::string text = escape(cell.text);
  if (!cell.link.empty()) text = fmt::format("<a href=\"#{}\">{}</a>", cell.link, text);
  return fmt::format("<td{}>{}</td>", attribute,
                     cell.best ? fmt::format("<strong>{}</strong>", text) : text);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : clean(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string heading(int level, const std::string& anchor, const std::string& text) {
  return fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, anchor, escape(text));
}

std::string paragraph(const std::string& text) { return fmt::format("<p>{}</p>\n", escape(text)); }

std::string preformatted(const std::string& text) {
  return fmt::format("<pre><code>{}</code></pre>\n", escape(text));
}

std::string table(const Table& table) {
  std::string result = fmt::format("<p class=\"caption\">{}</p>\n", escape(table.caption));
  // A table that is wider than the screen scrolls in its own box, also by keyboard.
  result += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n",
      escape(table.caption));
  result += "<thead><tr>";
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    result += fmt::format("<th scope=\"col\"{}>{}</th>",
                          table.numeric[c] ? " class=\"number\"" : "", escape(table.header[c]));
  }
  result += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    result += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) result += cell(row[c], table.numeric[c]);
    result += "</tr>\n";
  }
  return result + "</tbody>\n</table></div>\n";
}

std::string figure(const std::string& svg, const std::string& caption) {
  std::string result = "<figure><div class=\"scroll\">" + svg + "</div>";
  return result + fmt::format("\n<figcaption>{}</figcaption></figure>\n", escape(caption));
}

std::string notice(Notice kind, const std::string& text) {
  const bool warning = kind == Notice::warning;
  return fmt::format("<p class=\"notice {}\"><strong>{}:</strong> {}</p>\n",
                     warning ? "warning" : "note", warning ? "Warning" : "Note", escape(text));
}

std::string verdict(const std::string& words, const std::string& reasons, Verdict judged) {
  const std::string colour = judged == Verdict::none ? "" : fmt::format(" {}", class_of(judged));
  return fmt::format("<p class=\"verdict{}\"><strong>{}</strong> {}</p>\n", colour, escape(words),
                     escape(reasons));
}

std::string fold(const std::string& line) {
  return fmt::format("<details>\n<summary>{}</summary>\n", escape(line));
}

std::string unfold() { return "</details>\n"; }

}  // namespace jeffreys::report::html
