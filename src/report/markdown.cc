#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "report/markup.h"
#include "report/text.h"

namespace jeffreys::report::markdown {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// An underscore inside a word means nothing, and column names are full of them.
bool inside_word(const std::string& text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && (is_word(text[i - 1]) || text[i - 1] == '_') &&
         (is_word(text[i + 1]) || text[i + 1] == '_');
}

// Whether the sign would be more than itself. Signs that would not stay as they are: Markdown is
// read as it is, too.
bool has_meaning(const std::string& text, std::size_t i) {
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  switch (text[i]) {
    case '_': return !inside_word(text, i);
    case '&': return is_word(next) || next == '#';
    case '<': return is_word(next) || next == '/' || next == '!' || next == '?';
    case '~': return next == '~' || (i > 0 && text[i - 1] == '~');
    default: return std::string_view("\\`*[|$").find(text[i]) != std::string_view::npos;
  }
}

// Where a list, a heading, a quotation, a rule or a table would begin: the place of the sign, or
// npos. A number with its sign begins nothing.
std::size_t line_sign(const std::string& line) {
  std::size_t i = 0;
  while (i < line.size() && std::isdigit(static_cast<unsigned char>(line[i])) != 0) ++i;
  if (i == line.size()) return std::string::npos;
  const char next = i + 1 < line.size() ? line[i + 1] : ' ';
  const std::string_view signs = i > 0 ? ".)" : next == ' ' ? "#-+=:>" : "#=:>";
  const bool found = signs.find(line[i]) != std::string_view::npos;
  const bool rule = i == 0 && line[0] == '-' && next == '-';
  return rule || (found && (i == 0 || next == ' ')) ? i : std::string::npos;
}

std::string escape_line(const std::string& line) {
  std::string result;
  const std::size_t sign = line_sign(line);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (has_meaning(line, i) || i == sign) result += '\\';
    result += line[i];
  }
  return result;
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Within a line nothing begins, so signs of numbers stay as they are.
std::string cell(const std::string& text) {
  std::string result;
  const std::string line = in_one_line(clean(text));
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (has_meaning(line, i)) result += '\\';
    result += line[i];
  }
  return result;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  const std::string all = clean(text);
  for (std::size_t from = 0; from <= all.size();) {
    const std::size_t end = std::min(all.find('\n', from), all.size());
    const std::size_t first = std::min(all.find_first_not_of(' ', from), end);
    if (from > 0) result += '\n';
    result += escape_line(all.substr(first, end - first));
    from = end + 1;
  }
  return result;
}

std::string heading(int level, const std::string& anchor, const std::string& text) {
  const std::string target = anchor.empty() ? "" : fmt::format("<a id=\"{}\"></a>\n\n", anchor);
  return fmt::format("{}{} {}\n\n", target, std::string(static_cast<std::size_t>(level), '#'),
                     cell(text));
}

std::string paragraph(const std::string& text) { return escape(text) + "\n\n"; }

// A fence that is longer than any in the text.
std::string preformatted(const std::string& text) {
  const std::string valid = clean(text);
  std::string fence = "```";
  while (valid.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}\n{1}\n{0}\n\n", fence, valid);
}

std::string table(const Table& table) {
  std::string result = cell(table.caption) + "\n\n";
  for (const std::string& name : table.header) result += "| " + cell(name) + " ";
  result += "|\n";
  for (const bool number : table.numeric) result += number ? "|--:" : "|---";
  result += "|\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (const Cell& each : row) {
      std::string text = cell(each.text);
      if (!each.link.empty()) text = fmt::format("[{}](#{})", text, each.link);
      result += each.best && !text.empty() ? "| **" + text + "** " : "| " + text + " ";
    }
    result += "|\n";
  }
  return result + "\n";
}

std::string figure(const std::string& link, const std::string& alt, const std::string& caption) {
  std::string result;
  if (!link.empty()) result = fmt::format("![{}](<{}>)\n\n", cell(alt), link);
  return result + escape(caption) + "\n\n";
}

std::string notice(Notice kind, const std::string& text) {
  return fmt::format("> **{}:** {}\n\n", kind == Notice::warning ? "Warning" : "Note", cell(text));
}

std::string verdict(const std::string& words, const std::string& reasons) {
  return fmt::format("**{}** {}\n\n", cell(words), cell(reasons));
}

// Its readers know these two elements of HTML, within which the text is Markdown again after an
// empty line.
std::string fold(const std::string& line) {
  return fmt::format("<details>\n<summary>{}</summary>\n\n", html::escape(in_one_line(line)));
}

std::string unfold() { return "</details>\n\n"; }

}  // namespace jeffreys::report::markdown
