#include "storage/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::storage {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<Dtype, std::string_view>, 6> kNames{{
    {Dtype::f32, "F32"},
    {Dtype::f64, "F64"},
    {Dtype::i32, "I32"},
    {Dtype::i64, "I64"},
    {Dtype::u8, "U8"},
    {Dtype::boolean, "BOOL"},
}};

// Takes the header straight from the parser's events instead of from a document: a document keeps
// only the last of duplicate keys, and nesting deeper than the format's three levels ends here at
// once.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader header;
  std::string problem;

  bool start_object(std::size_t) override {
    switch (level_) {
      case Level::outside: level_ = Level::top; return true;
      case Level::top:
        if (key_ == kMetadata) {
          level_ = Level::metadata;
        } else {
          level_ = Level::tensor;
          keys_.clear();
          header.places.emplace_back().name = key_;
        }
        return true;
      default: return unexpected("an object");
    }
  }

  bool end_object() override {
    if (level_ == Level::tensor && keys_.size() != 3) {
      return fail(where() + " lacks dtype, shape or data_offsets");
    }
    level_ = level_ == Level::top ? Level::outside : Level::top;
    return true;
  }

  bool key(std::string& name) override {
    switch (level_) {
      case Level::top:
        if (!names_.insert(name).second) return fail("the key " + quote(name) + " occurs twice");
        break;
      case Level::metadata:
        if (header.metadata.contains(name)) {
          return fail("the metadata key " + quote(name) + " occurs twice");
        }
        break;
      default:
        if (name != "dtype" && name != "shape" && name != "data_offsets") {
          return fail(where() + " has an unknown key " + quote(name));
        }
        if (!keys_.insert(name).second) return fail(where() + " has two keys " + quote(name));
    }
    key_ = std::move(name);
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != Level::tensor || key_ == "dtype") return unexpected("an array");
    level_ = Level::list;
    list_.clear();
    return true;
  }

  bool end_array() override {
    level_ = Level::tensor;
    TensorPlace& place = header.places.back();
    if (key_ == "shape") {
      place.shape.assign(list_.begin(), list_.end());
      return true;
    }
    if (list_.size() != 2) return fail(where() + " needs two data_offsets, begin and end");
    place.begin = static_cast<std::uint64_t>(list_[0]);
    place.end = static_cast<std::uint64_t>(list_[1]);
    return true;
  }

  bool string(std::string& value) override {
    if (level_ == Level::metadata) {
      header.metadata.emplace(key_, std::move(value));
      return true;
    }
    if (level_ != Level::tensor || key_ != "dtype") return unexpected("a string");
    for (const auto& [dtype, name] : kNames) {
      if (value == name) {
        header.places.back().dtype = dtype;
        return true;
      }
    }
    return fail(where() + " has dtype " + quote(value) +
                ", which is not supported: convert it to F32, F64, I32, I64, U8 or BOOL");
  }

  bool number_unsigned(std::uint64_t value) override {
    if (level_ != Level::list) return unexpected("a number");
    if (list_.size() == kMaxRank) {
      return fail(fmt::format("{} has more than {} numbers in {}", where(), kMaxRank, key_));
    }
    if (!std::in_range<std::int64_t>(value)) {
      return fail(
          fmt::format("{} has the number {} in {}, which is too large", where(), value, key_));
    }
    list_.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool number_integer(std::int64_t) override { return unexpected("a negative number"); }
  bool number_float(double, const std::string& text) override {
    return unexpected("the number " + quote(text));
  }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool null() override { return unexpected("null"); }
  bool binary(Json::binary_t&) override { return unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library's text repeats the position, up to the first ": ".
    const std::string_view text = error.what();
    const std::size_t colon = text.find(": ");
    const std::string_view reason = colon == std::string_view::npos ? text : text.substr(colon + 2);
    return fail(fmt::format("is not JSON at its byte {}: {}", position, quote(reason)));
  }

 private:
  enum class Level { outside, top, metadata, tensor, list };

  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }

  std::string where() const { return "tensor " + quote(header.places.back().name); }

  bool unexpected(const std::string& found) {
    switch (level_) {
      case Level::outside: return fail("must be a JSON object, not " + found);
      case Level::top:
        return fail("has " + found + " for " + quote(key_) + " where an object is expected");
      case Level::metadata:
        return fail("has " + found + " for metadata " + quote(key_) +
                    ", only strings may be there");
      default:
        return fail(where() + " has " + found + " in " + key_ + ", where it does not belong");
    }
  }

  Level level_ = Level::outside;
  std::string key_;
  std::set<std::string> names_;
  std::set<std::string> keys_;
  std::vector<std::int64_t> list_;
};

// What is wrong with the places, which are in order, or "".
std::string place_problem(const std::vector<TensorPlace>& places, std::size_t data_size) {
  std::uint64_t expected_begin = 0;
  for (const TensorPlace& place : places) {
    const std::string label = "tensor " + quote(place.name);
    if (std::string problem = shape_problem(place.dtype, place.shape); !problem.empty()) {
      return fmt::format("{} {}", label, problem);
    }
    if (place.begin != expected_begin || place.end < place.begin) {
      return fmt::format("{} lies at bytes {} to {} of the data, but must begin at {}", label,
                         place.begin, place.end, expected_begin);
    }
    if (place.end - place.begin != byte_size(place.dtype, place.shape)) {
      return fmt::format("{} of shape ({}) and dtype {} needs {} bytes, has {}", label,
                         fmt::join(place.shape, ", "), dtype_name(place.dtype),
                         byte_size(place.dtype, place.shape), place.end - place.begin);
    }
    expected_begin = place.end;
  }
  if (expected_begin != data_size) {
    return fmt::format("the tensors take {} bytes, the file holds {}", expected_begin, data_size);
  }
  return {};
}

std::string json_string(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw std::invalid_argument("write_safetensors: " + quote(text) + " is not UTF-8");
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::size_t data_size,
                                           const std::string& file) {
  const auto fail = [&file](const std::string& problem) {
    throw InputError(file, "safetensors header: " + problem + "; write or copy the file again");
  };
  // The format demands it, and the parser would skip a byte order mark or space.
  if (!text.starts_with('{')) fail("does not begin with '{'");
  // The parser would take it for the end, and not see what follows.
  if (text.find('\0') != std::string_view::npos) fail("has a zero byte");
  HeaderReader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) fail(reader.problem);
  SafetensorsHeader header = std::move(reader.header);
  std::ranges::sort(header.places, {}, [](const TensorPlace& place) {
    return std::tie(place.begin, place.end, place.name);
  });
  if (const std::string problem = place_problem(header.places, data_size); !problem.empty()) {
    fail(problem);
  }
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  std::vector<std::string> entries;
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(header.metadata.size());
    for (const auto& [key, value] : header.metadata) {
      pairs.push_back(json_string(key) + ":" + json_string(value));
    }
    entries.push_back(fmt::format("\"{}\":{{{}}}", kMetadata, fmt::join(pairs, ",")));
  }
  for (const TensorPlace& place : header.places) {
    const auto* const named =
        std::ranges::find(kNames, place.dtype, [](const auto& pair) { return pair.first; });
    entries.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  json_string(place.name), named->second,
                                  fmt::join(place.shape, ","), place.begin, place.end));
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace jeffreys::storage
