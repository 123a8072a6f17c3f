#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jeffreys::storage {

static_assert(std::endian::native == std::endian::little,
              "arrays are kept and written in the byte order of the host: little-endian only");

// Nothing larger is read or written: the arrays of one file together hold at most this many bytes.
inline constexpr std::size_t kMaxFileBytes = std::size_t{8} << 30;
// NumPy's own limit on the number of dimensions.
inline constexpr std::size_t kMaxRank = 32;

enum class Dtype { f32, f64, i32, i64, u8, boolean };

std::size_t item_size(Dtype dtype);
// "f32", "f64", "i32", "i64", "u8" or "bool".
std::string_view dtype_name(Dtype dtype);

template <typename T>
concept Item =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t> || std::same_as<T, bool>;

// A dense array of any rank as it lies in a file: row-major, little-endian, one byte for a boolean.
struct Array {
  Dtype dtype = Dtype::f64;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  // Number of items: the product of the shape, 1 for a scalar. Throws std::invalid_argument for a
  // shape that no array in a file may have (see shape_problem).
  std::int64_t size() const;

  // Throws std::invalid_argument when the shape does not hold as many values.
  template <Item T>
  static Array from(std::vector<std::int64_t> shape, std::span<const T> values);

  // The items as T. To a floating type: rounded to nearest, so an f64 beyond the range of float
  // becomes infinite. To an integer: exact, else std::invalid_argument names the first item that
  // does not fit. To bool: item != 0.
  template <Item T>
  std::vector<T> values() const;

  bool operator==(const Array&) const = default;
};

using Arrays = std::map<std::string, Array>;

// What makes this shape unacceptable for an array in a file, or "" when nothing does: a negative
// dimension, more than kMaxRank dimensions, more than kMaxFileBytes. A dimension of 0 counts as 1
// here, so that the other dimensions of an empty array are bounded too.
std::string shape_problem(Dtype dtype, std::span<const std::int64_t> shape);

// Bytes of the items of an array whose shape has no problem.
std::size_t byte_size(Dtype dtype, std::span<const std::int64_t> shape);

// Throws std::invalid_argument, beginning with `label`, unless shape and bytes agree.
void require_consistent(const Array& array, std::string_view label);

}  // namespace jeffreys::storage
