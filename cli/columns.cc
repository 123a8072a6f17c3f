#include "cli/columns.h"

#include <fmt/format.h>

#include "cli/load.h"
#include "jeffreys/base/assignment.h"

namespace jeffreys::cli {
namespace {

// name=lower:upper, either side may be empty
std::pair<std::string, Bounds> parse_bound(const std::string& text) {
  constexpr const char* kForm = "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:";
  const auto [column, range] = split_assignment(text, "--bound", kForm, Equals::last);
  const std::size_t colon = range.find(':');
  const auto side = [&](const std::string& part, double absent) {
    const std::optional<double> value = part.empty() ? absent : read_number(part);
    if (colon != std::string::npos && value) return *value;
    throw UsageError(fmt::format("--bound: expected {}, got '{}'", kForm, text));
  };
  Bounds bounds;
  bounds.lower = side(range.substr(0, colon), bounds.lower);
  bounds.upper = side(range.substr(colon + 1), bounds.upper);
  return {column, bounds};
}

}  // namespace

SchemaOptions ColumnArguments::schema() const {
  SchemaOptions schema;
  schema.condition = condition;
  schema.categorical = categorical;
  schema.integer = integer;
  schema.ignore = ignore;
  for (const std::string& text : bounds) schema.bounds.insert(parse_bound(text));
  return schema;
}

Table ColumnArguments::read(const std::string& path) const {
  TableOptions options = reading;
  options.text_columns = categorical;
  return read_table(path, options);
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
  command.add_option("--array", a->reading.array, "Which array of an NPZ file");
}

}  // namespace jeffreys::cli
