// Pieces of a page in its two forms. Texts come as the caller gave them and are escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/report/page.h"

namespace jeffreys::report {

struct Table {
  const std::vector<std::string>& header;
  const std::vector<std::vector<Cell>>& rows;
  std::vector<bool> numeric;
  std::string caption;  // with its number
};

namespace html {

// For text and for attributes in double quotes.
std::string escape(std::string_view text);
std::string heading(int level, const std::string& anchor, const std::string& text);
std::string paragraph(const std::string& text);
std::string preformatted(const std::string& text);
std::string table(const Table& table);
// `svg` is markup already.
std::string figure(const std::string& svg, const std::string& caption);
std::string notice(Notice kind, const std::string& text);
std::string verdict(const std::string& words, const std::string& reasons, Verdict judged);
std::string fold(const std::string& line);
std::string unfold();

}  // namespace html

namespace markdown {

// For text within a line; also keeps a line from beginning a list, a heading or a quotation.
std::string escape(std::string_view text);
// Without an anchor: its readers make one of the text.
std::string heading(int level, const std::string& anchor, const std::string& text);
std::string paragraph(const std::string& text);
std::string preformatted(const std::string& text);
std::string table(const Table& table);
std::string figure(const std::string& link, const std::string& alt, const std::string& caption);
std::string notice(Notice kind, const std::string& text);
std::string verdict(const std::string& words, const std::string& reasons);
std::string fold(const std::string& line);
std::string unfold();

}  // namespace markdown

}  // namespace jeffreys::report
