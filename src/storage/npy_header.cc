#include "storage/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::storage {
namespace {

constexpr std::array<std::pair<Dtype, std::string_view>, 6> kDescriptions{{
    {Dtype::f32, "<f4"},
    {Dtype::f64, "<f8"},
    {Dtype::i32, "<i4"},
    {Dtype::i64, "<i8"},
    {Dtype::u8, "|u1"},
    {Dtype::boolean, "|b1"},
}};

std::string_view kind_of(std::string_view description) {
  if (description.starts_with('[')) return " (structured)";
  if (description.find('O') != std::string_view::npos) return " (Python objects)";
  if (description.find_first_of("USa") != std::string_view::npos) return " (text)";
  if (description.find('V') != std::string_view::npos) return " (raw or structured)";
  if (description.starts_with('>')) return " (big-endian)";
  return "";
}

constexpr std::string_view kSpace = " \t\r\n";

class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& file, std::string_view label)
      : text_(text), file_(file), label_(label) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (position_ != text_.size()) fail("the end");
    if (!has_dtype_ || !has_order_ || !has_shape_) {
      throw InputError(file_, fmt::format("{}the .npy header lacks 'descr', 'fortran_order' or "
                                          "'shape'; write the file again with numpy.save",
                                          label_));
    }
    if (const std::string problem = shape_problem(header_.dtype, header_.shape); !problem.empty()) {
      throw InputError(file_, fmt::format("{}the array {}", label_, problem));
    }
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw InputError(file_,
                     fmt::format("{}the .npy header is wrong at its character {}, where {} is "
                                 "expected; write the file again with numpy.save",
                                 label_, position_ + 1, expected));
  }

  void skip_space() {
    while (position_ < text_.size() && kSpace.find(text_[position_]) != kSpace.npos) {
      ++position_;
    }
  }

  bool accept(char wanted) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("'{}'", wanted));
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  std::string_view parse_string() {
    const bool is_single = accept('\'');
    if (!is_single && !accept('"')) fail("a string");
    const std::size_t end = text_.find(is_single ? '\'' : '"', position_);
    if (end == std::string_view::npos) fail("a closing quote");
    const std::string_view content = text_.substr(position_, end - position_);
    position_ = end + 1;
    return content;
  }

  void once(bool& seen) {
    if (std::exchange(seen, true)) fail("a key that was not given before");
  }

  void parse_entry() {
    skip_space();
    const std::size_t start = position_;
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr") {
      once(has_dtype_);
      parse_dtype();
    } else if (key == "fortran_order") {
      once(has_order_);
      header_.fortran_order = accept_word("True");
      if (!header_.fortran_order && !accept_word("False")) fail("True or False");
    } else if (key == "shape") {
      once(has_shape_);
      parse_shape();
    } else {
      position_ = start;
      fail("'descr', 'fortran_order' or 'shape'");
    }
  }

  void parse_dtype() {
    skip_space();
    const std::string_view rest = text_.substr(position_);
    const std::string_view description =
        rest.starts_with('[') ? rest.substr(0, rest.find(", 'fortran_order'")) : parse_string();
    for (const auto& [dtype, known] : kDescriptions) {
      if (description == known) {
        header_.dtype = dtype;
        return;
      }
    }
    throw InputError(
        file_,
        fmt::format("{}dtype {}{} is not supported; save float32, float64, int32, int64, uint8 "
                    "or bool, little-endian, for example array.astype('<f8')",
                    label_, quote(description), kind_of(description)));
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      if (header_.shape.size() > kMaxRank) fail(fmt::format("at most {} dimensions", kMaxRank));
      skip_space();
      std::int64_t dimension = 0;
      const char* const begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dimension);
      if (error != std::errc{}) fail("a dimension below 2^63");
      position_ += static_cast<std::size_t>(end - begin);
      // Python 2 wrote long integers as 3L.
      accept_word("L");
      header_.shape.push_back(dimension);
      if (accept(',')) continue;
      expect(')');
      break;
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::string_view label_;
  std::size_t position_ = 0;
  NpyHeader header_;
  bool has_dtype_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& file, std::string_view label) {
  return DictionaryParser(text, file, label).parse();
}

std::string format_npy_header(Dtype dtype, const std::vector<std::int64_t>& shape) {
  std::string_view description;
  for (const auto& [known, text] : kDescriptions) {
    if (known == dtype) description = text;
  }
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", description,
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  const std::size_t unpadded = kPrefix + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';

  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace jeffreys::storage
