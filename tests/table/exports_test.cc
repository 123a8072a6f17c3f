// What thirty exports of common programs are taken for, and what comes back: docs/exports.md.
#include "table/exports.h"

#include <gmock/gmock.h>

#include "jeffreys/table/schema.h"
#include "jeffreys/table/table_file.h"
#include "support/scratch_folder.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

std::string kind_of(const ColumnInfo& info) {
  if (info.role == ColumnRole::left_out) return "left out";
  if (info.kind == ColumnKind::categorical) return fmt::format("{} labels", info.labels.size());
  if (info.notation.is_time_of_day()) return "times";
  if (info.notation.is_time()) return "dates";
  return info.kind == ColumnKind::integer ? "whole numbers" : "numbers";
}

std::string cell(std::string text) {
  for (std::size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) {
    text.insert(bar, "\\");
  }
  return "`" + text + "`";
}

std::string line_of(const std::string& text, std::size_t number) {
  std::size_t from = 0;
  for (; number > 1; --number) from = text.find('\n', from) + 1;
  return text.substr(from, text.find('\n', from) - from);
}

class Exports : public ScratchTest {
 protected:
  // A row of the table in the docs.
  std::string row(const Export& tested) const {
    const Table table = read_table(file("a.csv", tested.text));
    const Schema schema = Schema::fit(table, {});
    std::string columns;
    for (const ColumnInfo& info : schema.columns()) {
      columns += fmt::format("{}{}: {}", columns.empty() ? "" : ", ", info.name, kind_of(info));
    }
    const std::string made = synthetic(schema);
    // What was made is read as the same columns again.
    const Table again = read_table(file("b.csv", made), schema.reading());
    EXPECT_NO_THROW(schema.encode(again)) << tested.program << "\n" << made;
    return fmt::format("| {} | {} | {} | {} |\n", tested.program, columns,
                       cell(line_of(tested.text, table.line(1))), cell(line_of(made, 4)));
  }

  // What standard normal numbers become: rows as a model would draw them.
  static std::string synthetic(const Schema& schema) {
    constexpr std::size_t kDrawnRows = 20;
    Matrix<double> x(kDrawnRows, static_cast<Eigen::Index>(schema.features()));
    const std::vector<std::size_t> classes = schema.categories();
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const std::vector<double> numbers =
          normal_numbers(kDrawnRows, static_cast<std::uint64_t>(c) + 1);
      const auto labels = c - static_cast<Eigen::Index>(schema.continuous());
      for (Eigen::Index r = 0; r < x.rows(); ++r) {
        x(r, c) = labels < 0 ? numbers[static_cast<std::size_t>(r)]
                             : static_cast<double>(static_cast<std::size_t>(r + c) %
                                                   classes[static_cast<std::size_t>(labels)]);
      }
    }
    std::string text;
    write_csv(schema.decode(x), [&](std::string_view piece) { text += piece; });
    return text;
  }
};

TEST_F(Exports, AreReadAsTheDocsSay) {
  std::string made = "| from | its columns | a line | a synthetic line |\n|---|---|---|---|\n";
  std::size_t count = 0;
  for (const auto& exports : {spreadsheet_exports(), program_exports()}) {
    for (const Export& tested : exports) {
      made += row(tested);
      ++count;
    }
  }
  EXPECT_GE(count, 30u);
  const std::string docs = bytes_of(JEFFREYS_GOLDEN_DIR "/../../docs/exports.md");
  EXPECT_NE(docs.find(made), std::string::npos) << "docs/exports.md should have this table:\n"
                                                << made;
}

}  // namespace
}  // namespace jeffreys::testing
