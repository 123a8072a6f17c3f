// Reports: one content, as a page of HTML and as Markdown.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace jeffreys::report {

// What a cell says about a claim. Colours only repeat what its text says.
enum class Verdict { none, good, mixed, bad };

struct Cell {
  // Most cells are plain text.
  Cell(std::string words = {}, Verdict judged = Verdict::none, bool is_best = false)
      : text(std::move(words)), verdict(judged), best(is_best) {}
  Cell(const char* words) : text(words) {}

  std::string text;
  Verdict verdict = Verdict::none;
  bool best = false;      // bold: the best of those it is compared with
  std::string link = {};  // the anchor of a heading that the text leads to; empty: none
};

struct TableStyle {
  std::string caption = {};
  // Which columns are aligned as numbers; empty: those where all texts begin like numbers.
  std::vector<bool> numeric = {};
};

struct Picture {
  std::string svg = {};  // the text of an SVG file, see read_svg()
  std::string caption = {};
  std::string alt = {};   // for readers who do not see the picture; empty: the caption
  std::string link = {};  // where Markdown finds the picture; empty: it has only the caption
};

// The text of a file that draw() wrote. Throws InputError when it cannot be read.
std::string read_svg(const std::filesystem::path& path);

enum class Notice { note, warning };

// A report that grows from top to bottom. Folds that are open at its end end there. The HTML is
// self-contained: styles and pictures are in the page, nothing is loaded, no script runs. All texts
// are taken literally in both forms.
class Page {
 public:
  explicit Page(std::string title, std::string subtitle = {});

  // Level 2 to 4; 1 is the title. Levels 2 and 3 are in the table of contents. An anchor consists
  // of ASCII letters, digits, '-' and '_' and is used once; empty: made of the text.
  void heading(const std::string& text, int level = 2, const std::string& anchor = {});
  void paragraph(const std::string& text);
  // Text as it is, such as commands.
  void preformatted(const std::string& text);
  // Each row has as many cells as the header.
  void table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
             const TableStyle& options = {});
  void figure(const Picture& picture);
  void notice(const std::string& text, Notice kind = Notice::note);
  // A judgement in a few words, and what it rests on.
  void verdict(const std::string& words, const std::string& reasons, Verdict judged);

  // What follows is folded away below this line until unfold(), and opened by the reader. Folds may
  // be in folds.
  void fold(const std::string& line);
  void unfold();

  std::string html() const;
  std::string markdown() const;
  // Writes the form of the extension, .html or .md; the file appears at once and whole or not at
  // all. Throws InputError for another extension or when the file cannot be written.
  void save(const std::filesystem::path& path) const;

 private:
  struct Entry {
    int level = 2;
    std::string anchor = {};
    std::string text = {};
  };

  std::string title_;
  std::string subtitle_;
  std::vector<Entry> contents_;
  std::set<std::string> anchors_;
  std::string html_;
  std::string markdown_;
  int folds_ = 0;  // that are open
  int figures_ = 0;
  int tables_ = 0;
};

}  // namespace jeffreys::report
