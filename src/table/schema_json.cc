#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "table/column_values.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

// Version 1 had other coordinates for features with a distribution. Until 2 noise was reflected at
// bounds, until 3 values between bounds became logarithms and categories were codes with noise.
constexpr std::uint64_t kVersion = 4;
constexpr std::uint64_t kDistributionVersion = 2;
constexpr std::size_t kMostColumns = 1'000'000;

// JSON has no infinity: an absent bound is null.
Json bound_to_json(double bound) { return std::isfinite(bound) ? Json(bound) : Json(nullptr); }

Json notation_to_json(const Notation& notation) {
  Json json{{"pattern", notation.pattern},   {"prefix", notation.prefix},
            {"suffix", notation.suffix},     {"decimal", std::string(1, notation.decimal)},
            {"grouping", notation.grouping}, {"parentheses", notation.parentheses},
            {"decimals", notation.decimals}, {"fixed", notation.fixed},
            {"width", notation.width}};
  if (notation.exponent != '\0') {
    json["exponent"] = std::string(1, notation.exponent);
    json["mantissa"] = notation.mantissa;
  }
  return json;
}

Json column_to_json(const ColumnInfo& info) {
  Json json{{"name", info.name},
            {"role", name_of(info.role)},
            {"kind", name_of(info.kind)},
            {"minimum", info.minimum},
            {"maximum", info.maximum},
            {"labels", info.labels},
            {"unseen", info.unseen},
            {"atoms", info.atoms},
            {"resolution", info.resolution},
            {"offset", info.offset},
            {"noise", info.noise},
            {"lower", bound_to_json(info.bounds.lower)},
            {"upper", bound_to_json(info.bounds.upper)},
            {"nudge", info.nudge},
            {"mean", info.mean},
            {"scale", info.scale},
            {"constant", info.constant},
            {"copy_of", info.copy_of}};
  // Only where there is one.
  if (info.notation != Notation{}) json["notation"] = notation_to_json(info.notation);
  if (info.reach != info.bounds) {
    json["reach_lower"] = bound_to_json(info.reach.lower);
    json["reach_upper"] = bound_to_json(info.reach.upper);
  }
  if (info.shape != BoundShape{}) {
    json["shape"] = {
        {"power", info.shape.power}, {"tail", info.shape.tail}, {"scale", info.shape.scale}};
  }
  if (info.tails != HeavyTails{}) {
    json["tails"] = {{"centre", info.tails.centre}, {"width", info.tails.width}};
  }
  if (info.distribution) json["distribution"] = Json::parse(info.distribution->to_json());
  if (!info.regression.empty()) {
    json["regression"] = info.regression;
    json["regression_deviation"] = info.regression_deviation;
  }
  return json;
}

// Values of one JSON object, each of which must be there and have its type.
class Reader {
 public:
  Reader(const std::string& file, const Json& object, std::string place)
      : file_(file), object_(object), place_(std::move(place)) {
    if (!object.is_object()) fail("is not an object");
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(file_, fmt::format("the schema is damaged: {} {}; fit the model again, or "
                                        "copy its file again",
                                        place_, problem));
  }

  void require(bool condition, const char* problem) const {
    if (!condition) fail(problem);
  }

  bool has(const char* key) const { return object_.contains(key); }

  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(fmt::format("lacks {}", key));
    return *found;
  }

  double number(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number()) fail(fmt::format("has no number in {}", key));
    const double number = value.get<double>();
    if (!std::isfinite(number)) fail(fmt::format("has an infinite {}", key));
    return number;
  }

  std::optional<Distribution> distribution(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return std::nullopt;
    try {
      return Distribution::from_json(found->dump(), file_);
    } catch (const InputError& error) {
      fail(fmt::format("has a wrong {} ({})", key, error.problem()));
    }
  }

  double bound(const char* key, double absent) const {
    return at(key).is_null() ? absent : number(key);
  }

  std::uint64_t whole(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) fail(fmt::format("has no whole number in {}", key));
    return value.get<std::uint64_t>();
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) fail(fmt::format("has no text in {}", key));
    return value.get<std::string>();
  }

  const Json& array(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array()) fail(fmt::format("has no list in {}", key));
    return value;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    for (const Json& value : array(key)) {
      if (!value.is_string()) fail(fmt::format("has something else than text in {}", key));
      result.push_back(value.get<std::string>());
    }
    return result;
  }

  template <typename Enum, std::size_t N>
  Enum choice(const char* key, const std::array<Enum, N>& choices) const {
    const std::string name = text(key);
    for (const Enum candidate : choices) {
      if (name_of(candidate) == name) return candidate;
    }
    fail(fmt::format("has an unknown {}, {}", key, quote(name)));
  }

 private:
  const std::string& file_;
  const Json& object_;
  std::string place_;
};

std::vector<double> finite_numbers(const Reader& reader, const char* key) {
  std::vector<double> numbers;
  for (const Json& value : reader.array(key)) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      reader.fail(fmt::format("has something else than finite numbers in {}", key));
    }
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

void read_regression(const Reader& reader, ColumnInfo& info) {
  if (!reader.has("regression")) return;
  info.regression = finite_numbers(reader, "regression");
  info.regression_deviation = reader.number("regression_deviation");
  reader.require(!info.regression.empty() && info.regression_deviation >= 0 &&
                     info.role == ColumnRole::feature && info.kind != ColumnKind::categorical &&
                     info.bounds == Bounds{},
                 "has a regression where none belongs, or of a negative deviation");
}

void read_shape(const Reader& reader, const std::string& file, ColumnInfo& info) {
  if (!reader.has("shape")) return;
  const Reader shape(file, reader.at("shape"), "the shape of a column");
  info.shape = {shape.number("power"), shape.number("tail"), shape.number("scale")};
  const bool two = std::isfinite(info.bounds.lower) && std::isfinite(info.bounds.upper);
  reader.require(info.bounds != Bounds{} && info.shape.power > 0 && info.shape.scale > 0 &&
                     (two ? info.shape.tail > 0 : info.shape.tail >= 0),
                 "has a shape that does not fit its bounds");
}

void read_notation(const Reader& reader, const std::string& file, ColumnInfo& info) {
  if (!reader.has("notation")) return;
  const Reader json(file, reader.at("notation"), "the notation of a column");
  const std::string decimal = json.text("decimal");
  const auto flag = [&](const char* key) {
    json.require(json.at(key).is_boolean(), "has something else than true or false");
    return json.at(key).get<bool>();
  };
  const auto whole = [&](const char* key) {
    const double number = json.number(key);
    json.require(std::floor(number) == number && std::abs(number) < 1000, "has wrong digits");
    return static_cast<int>(number);
  };
  info.notation = {.pattern = json.text("pattern"),
                   .prefix = json.text("prefix"),
                   .suffix = json.text("suffix"),
                   .decimal = decimal.size() == 1 ? decimal.front() : ' ',
                   .grouping = json.text("grouping"),
                   .parentheses = flag("parentheses"),
                   .decimals = whole("decimals"),
                   .fixed = flag("fixed"),
                   .width = whole("width")};
  if (json.has("exponent")) {
    const std::string exponent = json.text("exponent");
    info.notation.exponent = exponent.size() == 1 ? exponent.front() : ' ';
    info.notation.mantissa = whole("mantissa");
  }
  try {
    info.notation.validate();
  } catch (const std::invalid_argument& error) {
    json.fail(fmt::format("is wrong ({})", error.what()));
  }
  json.require(info.kind != ColumnKind::categorical, "is that of a category");
}

void read_tails(const Reader& reader, const std::string& file, ColumnInfo& info) {
  if (!reader.has("tails")) return;
  const Reader tails(file, reader.at("tails"), "the tails of a column");
  info.tails = {tails.number("centre"), tails.number("width")};
  reader.require(info.role == ColumnRole::condition && info.kind != ColumnKind::categorical &&
                     info.tails.width > 0,
                 "has tails where none belong, or of a width that is not positive");
}

ColumnInfo read_column(const Reader& reader, const std::string& file) {
  constexpr std::array kRoles{ColumnRole::feature, ColumnRole::condition, ColumnRole::constant,
                              ColumnRole::copy, ColumnRole::left_out};
  constexpr std::array kKinds{ColumnKind::numeric, ColumnKind::integer, ColumnKind::categorical,
                              ColumnKind::ignored};
  ColumnInfo info;
  info.name = reader.text("name");
  info.role = reader.choice("role", kRoles);
  info.kind = reader.choice("kind", kKinds);
  read_notation(reader, file, info);
  info.minimum = reader.number("minimum");
  info.maximum = reader.number("maximum");
  info.labels = reader.texts("labels");
  if (reader.has("unseen")) info.unseen = reader.number("unseen");
  if (reader.has("atoms")) info.atoms = finite_numbers(reader, "atoms");
  info.resolution = reader.number("resolution");
  info.offset = reader.number("offset");
  info.noise = reader.number("noise");
  info.bounds = {reader.bound("lower", Bounds().lower), reader.bound("upper", Bounds().upper)};
  info.reach = info.bounds;
  if (reader.has("reach_lower") || reader.has("reach_upper")) {
    info.reach = {reader.bound("reach_lower", Bounds().lower),
                  reader.bound("reach_upper", Bounds().upper)};
  }
  read_shape(reader, file, info);
  info.nudge = reader.number("nudge");
  info.distribution = reader.distribution("distribution");
  read_tails(reader, file, info);
  read_regression(reader, info);
  info.mean = reader.number("mean");
  info.scale = reader.number("scale");
  info.constant = reader.number("constant");
  info.copy_of = reader.whole("copy_of");
  return info;
}

void check_column(const Reader& reader, const ColumnInfo& info) {
  const bool categorical = info.kind == ColumnKind::categorical;
  const bool bounded = info.bounds != Bounds{};
  reader.require((info.role == ColumnRole::left_out) == (info.kind == ColumnKind::ignored),
                 "has a role and a kind that contradict each other");
  reader.require(categorical != info.labels.empty(), "has labels but is not categorical, or none");
  const auto unordered = [](const std::string& a, const std::string& b) {
    return !LabelLess()(a, b);
  };
  reader.require(
      std::adjacent_find(info.labels.begin(), info.labels.end(), unordered) == info.labels.end(),
      "has labels that are not sorted, or two that are equal");
  reader.require(info.minimum <= info.maximum, "has its minimum above its maximum");
  reader.require(info.resolution >= 0 && info.noise >= 0 && info.nudge >= 0,
                 "has a negative resolution, noise or nudge");
  reader.require(info.scale > 0, "has a scale that is not positive");
  reader.require(info.bounds.lower < info.bounds.upper, "has bounds that leave nothing between");
  reader.require(!categorical || !bounded, "is categorical and has bounds");
  if (info.distribution) {
    reader.require(info.role == ColumnRole::feature && info.kind == ColumnKind::numeric,
                   "has a distribution but is no numeric feature");
    reader.require(!bounded && info.noise == 0 && info.resolution == 0,
                   "has a distribution and bounds or noise");
  }
  if (info.role == ColumnRole::feature) {
    reader.require(!categorical || info.noise == 1 || (info.unseen > 0 && info.unseen < 1),
                   "is categorical without a probability of labels that were never seen");
    reader.require(info.atoms.empty() || (info.noise == 0 && !categorical && !info.distribution),
                   "has atoms where none belong");
    reader.require(!bounded || info.nudge > 0, "has bounds but no nudge");
    reader.require(info.reach.lower < info.reach.upper &&
                       std::isfinite(info.reach.lower) == std::isfinite(info.bounds.lower) &&
                       std::isfinite(info.reach.upper) == std::isfinite(info.bounds.upper),
                   "has a reach that does not fit its bounds");
    reader.require(info.noise <= info.reach.upper - info.reach.lower,
                   "has more noise than its bounds leave room for");
    reader.require(info.nudge < info.reach.upper - info.reach.lower, "has too large a nudge");
  }
  if (info.role == ColumnRole::constant && categorical) {
    reader.require(info.constant >= 0 && info.constant < static_cast<double>(info.labels.size()) &&
                       std::floor(info.constant) == info.constant,
                   "is constant at a label that it does not have");
  }
}

void check_columns(const Reader& reader, const std::vector<ColumnInfo>& columns) {
  std::set<std::string> names;
  bool features = false;
  for (const ColumnInfo& info : columns) {
    reader.require(names.insert(info.name).second, "has two columns of the same name");
    features = features || info.role == ColumnRole::feature;
    if (info.role != ColumnRole::copy) continue;
    reader.require(info.copy_of < columns.size(), "has a copy of a column that is not there");
    const ColumnInfo& twin = columns[info.copy_of];
    reader.require(twin.role == ColumnRole::feature || twin.role == ColumnRole::condition,
                   "has a copy of a column that is not in the model");
    reader.require(twin.labels == info.labels, "has a copy with other labels");
  }
  reader.require(features, "has no feature");
}

}  // namespace

std::string Schema::to_json() const {
  Json columns = Json::array();
  for (const ColumnInfo& info : columns_) columns.push_back(column_to_json(info));
  Json json = {{"version", kVersion},
               {"missing", name_of(missing_)},
               {"columns", std::move(columns)},
               {"notes", notes_},
               {"leading_notes", leading_notes_}};
  if (delimiter_ != ',') json["delimiter"] = std::string(1, delimiter_);
  if (!missing_texts_.empty()) json["missing_texts"] = missing_texts_;
  if (!weights_.empty()) json["weights"] = weights_;
  return json.dump(1);
}

Schema Schema::from_json(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  const Reader reader(file, json, "the whole");
  const std::uint64_t version = reader.whole("version");
  if (version < 1 || version > kVersion) {
    throw InputError(file, fmt::format("the schema has version {}, this program reads versions 1 "
                                       "to {}; use the program that wrote it",
                                       version, kVersion));
  }
  Schema schema;
  schema.missing_ =
      reader.choice("missing", std::array{Missing::drop, Missing::error, Missing::keep});
  if (reader.has("weights")) schema.weights_ = reader.text("weights");
  schema.notes_ = reader.texts("notes");
  if (reader.has("leading_notes")) {
    schema.leading_notes_ =
        std::min<std::size_t>(reader.whole("leading_notes"), schema.notes_.size());
  }
  if (reader.has("delimiter")) {
    const std::string delimiter = reader.text("delimiter");
    reader.require(
        delimiter.size() == 1 && std::string(",;|\t").find(delimiter) != std::string::npos,
        "has a delimiter that is none");
    schema.delimiter_ = delimiter.front();
  }
  if (reader.has("missing_texts")) schema.missing_texts_ = reader.texts("missing_texts");
  const Json& columns = reader.array("columns");
  reader.require(columns.size() <= kMostColumns, "has too many columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Reader column(file, columns[i], fmt::format("column {}", i + 1));
    schema.columns_.push_back(read_column(column, file));
    check_column(column, schema.columns_.back());
  }
  check_columns(reader, schema.columns_);
  const auto any = [&](const auto& has) {
    return std::any_of(schema.columns_.begin(), schema.columns_.end(), has);
  };
  if (version < kDistributionVersion &&
      any([](const ColumnInfo& info) { return info.distribution.has_value(); })) {
    throw InputError(file,
                     "this posterior is from an earlier version of the program, which had other "
                     "coordinates for parameters with a prior; fit it again");
  }
  schema.outdated_ =
      version < kVersion && any([](const ColumnInfo& info) {
        return info.role == ColumnRole::feature && (info.noise > 0 || info.bounds != Bounds{});
      });
  schema.index_columns();
  for (const ColumnInfo& info : schema.columns_) {
    reader.require(
        info.regression.empty() || (schema.context_features_ > 0 &&
                                    info.regression.size() == schema.context_features_ + 1),
        "has a regression on another number of conditions");
  }
  return schema;
}

}  // namespace jeffreys
