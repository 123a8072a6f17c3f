#include "cli/columns.h"

#include <fmt/format.h>

#include "jeffreys/base/assignment.h"

namespace jeffreys::cli {
namespace {

// name=lower:upper, either side may be empty; numbers, or dates and times as in the table, which
// may have colons themselves.
std::pair<std::string, Bounds> parse_bound(const std::string& text, const Table& table) {
  constexpr const char* kForm = "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:";
  const auto [name, range] = split_assignment(text, "--bound", kForm, Equals::last);
  const Column* column = table.find(name);
  const auto side = [&](const std::string& part, double absent) -> std::optional<double> {
    if (part.empty()) return absent;
    const auto written = column != nullptr ? column->notation.read(part) : std::nullopt;
    return written ? written : read_number(part);
  };
  for (std::size_t colon = range.find(':'); colon != std::string::npos;
       colon = range.find(':', colon + 1)) {
    const auto lower = side(range.substr(0, colon), Bounds().lower);
    const auto upper = side(range.substr(colon + 1), Bounds().upper);
    if (lower && upper) return {name, {.lower = *lower, .upper = *upper}};
  }
  throw UsageError(fmt::format("--bound: expected {}, got '{}'", kForm, text));
}

}  // namespace

SchemaOptions ColumnArguments::schema(const Table& table) const {
  SchemaOptions schema;
  schema.condition = condition;
  schema.categorical = categorical;
  schema.integer = integer;
  schema.ignore = ignore;
  for (const std::string& text : whole_assignments(bounds))
    schema.bounds.insert(parse_bound(text, table));
  return schema;
}

Table ColumnArguments::read(const std::string& path) const {
  return read_table(path, reading.options(TableOptions{.text_columns = categorical}));
}

void add_column_options(CLI::App& command, const std::shared_ptr<ColumnArguments>& a) {
  command.add_option("--condition", a->condition, "Columns that the others are conditioned on")
      ->delimiter(',');
  command.add_option("--categorical", a->categorical, "Columns that hold categories")
      ->delimiter(',');
  command.add_option("--integer", a->integer, "Columns that hold whole numbers")->delimiter(',');
  command.add_option("--ignore", a->ignore, "Columns to leave out")->delimiter(',');
  command.add_option("--bound", a->bounds, "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:")
      ->delimiter(',');
  add_reading_options(command, a->reading);
}

}  // namespace jeffreys::cli
