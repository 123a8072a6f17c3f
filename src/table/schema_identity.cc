#include <fmt/format.h>

#include "jeffreys/table/schema.h"

namespace jeffreys {

Schema Schema::identity(std::size_t features, std::size_t conditions) {
  Schema schema;
  for (std::size_t i = 0; i < features + conditions; ++i) {
    ColumnInfo info;
    const bool feature = i < features;
    info.name = feature ? fmt::format("x{}", i + 1) : fmt::format("c{}", i - features + 1);
    info.role = feature ? ColumnRole::feature : ColumnRole::condition;
    schema.columns_.push_back(info);
  }
  schema.index_columns();
  return schema;
}

}  // namespace jeffreys
