#include "jeffreys/table/schema.h"

#include <algorithm>

#include "table/column_map.h"
#include "table/condition_map.h"

namespace jeffreys {

std::string_view name_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::numeric: return "numeric";
    case ColumnKind::integer: return "integer";
    case ColumnKind::categorical: return "categorical";
    case ColumnKind::ignored: break;
  }
  return "ignored";
}

std::string_view name_of(Missing missing) {
  switch (missing) {
    case Missing::drop: return "drop";
    case Missing::error: return "error";
    case Missing::keep: break;
  }
  return "keep";
}

std::string_view name_of(ColumnRole role) {
  switch (role) {
    case ColumnRole::feature: return "feature";
    case ColumnRole::condition: return "condition";
    case ColumnRole::constant: return "constant";
    case ColumnRole::copy: return "copy";
    case ColumnRole::left_out: break;
  }
  return "left out";
}

void Schema::index_columns() {
  continuous_.clear();
  categories_.clear();
  conditions_.clear();
  context_features_ = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role == ColumnRole::feature) {
      if (!is_category(columns_[i])) continuous_.push_back(i);
      if (class_count(columns_[i]) > 0) categories_.push_back(i);
    }
    if (columns_[i].role != ColumnRole::condition) continue;
    conditions_.push_back(i);
    context_features_ += context_width(columns_[i]);
  }
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const ColumnInfo& info : columns_) {
    if (info.role == ColumnRole::feature) names.push_back(info.name);
  }
  return names;
}

std::vector<std::size_t> Schema::categories() const {
  std::vector<std::size_t> classes;
  for (const std::size_t i : categories_) classes.push_back(class_count(columns_[i]));
  return classes;
}

std::vector<FeaturePlaces> Schema::feature_places() const {
  const auto place_in = [](const std::vector<std::size_t>& list, std::size_t i, std::size_t first) {
    const auto found = std::find(list.begin(), list.end(), i);
    return found == list.end()
               ? Eigen::Index{-1}
               : static_cast<Eigen::Index>(first) + static_cast<Eigen::Index>(found - list.begin());
  };
  std::vector<FeaturePlaces> places;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role != ColumnRole::feature) continue;
    places.push_back({.name = columns_[i].name,
                      .number = place_in(continuous_, i, 0),
                      .category = place_in(categories_, i, continuous_.size()),
                      .classes = class_count(columns_[i]),
                      .unseen = columns_[i].unseen});
  }
  return places;
}

std::vector<std::string> Schema::condition_names() const {
  std::vector<std::string> names;
  for (const std::size_t i : conditions_) names.push_back(columns_[i].name);
  return names;
}

TableOptions Schema::reading() const {
  TableOptions options{.text_columns = text_columns(), .missing = missing_texts_};
  for (const ColumnInfo& info : columns_) {
    if (info.notation != Notation{}) options.notations.emplace(info.name, info.notation);
  }
  return options;
}

std::vector<std::string> Schema::text_columns() const {
  std::vector<std::string> names;
  for (const ColumnInfo& info : columns_) {
    if (info.kind == ColumnKind::categorical) names.push_back(info.name);
  }
  return names;
}

}  // namespace jeffreys
