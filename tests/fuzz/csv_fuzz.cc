// Tables in text, up to the schema and back.
#include "fuzz/as_file.h"
#include "jeffreys/table/schema.h"
#include "jeffreys/table/table_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return jeffreys::fuzz::expect_clear(bytes, size, [](const auto& path) {
    const jeffreys::Table table = jeffreys::read_table(path);
    write_csv(table, [](std::string_view) {});
    const jeffreys::Schema schema = jeffreys::Schema::fit(table, {});
    if (jeffreys::Schema::from_json(schema.to_json(), "schema") != schema) std::abort();
  });
}
