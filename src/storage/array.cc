#include "jeffreys/storage/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace jeffreys::storage {
namespace {

template <Item T>
constexpr Dtype dtype_of() {
  if constexpr (std::same_as<T, float>) return Dtype::f32;
  if constexpr (std::same_as<T, double>) return Dtype::f64;
  if constexpr (std::same_as<T, std::int32_t>) return Dtype::i32;
  if constexpr (std::same_as<T, std::int64_t>) return Dtype::i64;
  if constexpr (std::same_as<T, std::uint8_t>) return Dtype::u8;
  if constexpr (std::same_as<T, bool>) return Dtype::boolean;
}

// A cast from a floating value outside the integer's range is undefined, so the range comes first.
template <typename To, typename From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const From lowest = static_cast<From>(std::numeric_limits<To>::min());
    return value >= lowest && value < above && std::trunc(value) == value;
  } else {
    return std::in_range<To>(value);
  }
}

template <typename To, typename From>
To convert(From value, std::size_t index) {
  if constexpr (std::same_as<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    if (!fits<To>(value)) {
      throw std::invalid_argument(fmt::format("array item {} is {}, which is no {} number", index,
                                              value, dtype_name(dtype_of<To>())));
    }
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
std::vector<To> convert_all(const std::vector<std::byte>& bytes) {
  std::vector<To> values(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = convert<To>(value, i);
  }
  return values;
}

}  // namespace

std::size_t item_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
    case Dtype::i32: return 4;
    case Dtype::f64:
    case Dtype::i64: return 8;
    case Dtype::u8:
    case Dtype::boolean: return 1;
  }
  throw std::invalid_argument("item_size: unknown dtype");
}

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return "f32";
    case Dtype::f64: return "f64";
    case Dtype::i32: return "i32";
    case Dtype::i64: return "i64";
    case Dtype::u8: return "u8";
    case Dtype::boolean: return "bool";
  }
  throw std::invalid_argument("dtype_name: unknown dtype");
}

std::string shape_problem(Dtype dtype, std::span<const std::int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return fmt::format("has {} dimensions, the limit is {}", shape.size(), kMaxRank);
  }
  std::size_t room = kMaxFileBytes / item_size(dtype);
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) {
      return fmt::format("has a negative dimension in its shape ({})", fmt::join(shape, ", "));
    }
    room /= static_cast<std::size_t>(std::max<std::int64_t>(dimension, 1));
    if (room == 0) {
      return fmt::format("of shape ({}) is larger than the limit of {} GiB", fmt::join(shape, ", "),
                         kMaxFileBytes >> 30);
    }
  }
  return {};
}

std::size_t byte_size(Dtype dtype, std::span<const std::int64_t> shape) {
  std::size_t bytes = item_size(dtype);
  for (const std::int64_t dimension : shape) bytes *= static_cast<std::size_t>(dimension);
  return bytes;
}

void require_consistent(const Array& array, std::string_view label) {
  if (const std::string problem = shape_problem(array.dtype, array.shape); !problem.empty()) {
    throw std::invalid_argument(fmt::format("{} {}", label, problem));
  }
  const std::size_t expected = byte_size(array.dtype, array.shape);
  if (array.bytes.size() != expected) {
    throw std::invalid_argument(fmt::format("{} of shape ({}) and dtype {} needs {} bytes, has {}",
                                            label, fmt::join(array.shape, ", "),
                                            dtype_name(array.dtype), expected, array.bytes.size()));
  }
}

std::int64_t Array::size() const {
  if (const std::string problem = shape_problem(dtype, shape); !problem.empty()) {
    throw std::invalid_argument("array " + problem);
  }
  return static_cast<std::int64_t>(byte_size(dtype, shape) / item_size(dtype));
}

template <Item T>
Array Array::from(std::vector<std::int64_t> shape, std::span<const T> values) {
  static_assert(sizeof(bool) == 1);
  Array array;
  array.dtype = dtype_of<T>();
  array.shape = std::move(shape);
  if (static_cast<std::size_t>(array.size()) != values.size()) {
    throw std::invalid_argument(fmt::format("array of shape ({}) needs {} values, got {}",
                                            fmt::join(array.shape, ", "), array.size(),
                                            values.size()));
  }
  const std::span<const std::byte> bytes = std::as_bytes(values);
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

template <Item T>
std::vector<T> Array::values() const {
  require_consistent(*this, "array");
  switch (dtype) {
    case Dtype::f32: return convert_all<T, float>(bytes);
    case Dtype::f64: return convert_all<T, double>(bytes);
    case Dtype::i32: return convert_all<T, std::int32_t>(bytes);
    case Dtype::i64: return convert_all<T, std::int64_t>(bytes);
    case Dtype::u8: return convert_all<T, std::uint8_t>(bytes);
    case Dtype::boolean: {
      // A file may hold any byte here, and a bool object with another value than 0 or 1 is
      // undefined.
      std::vector<T> values;
      values.reserve(bytes.size());
      for (const std::byte item : bytes) values.push_back(static_cast<T>(item != std::byte{0}));
      return values;
    }
  }
  throw std::invalid_argument("array of unknown dtype");
}

template Array Array::from<float>(std::vector<std::int64_t>, std::span<const float>);
template Array Array::from<double>(std::vector<std::int64_t>, std::span<const double>);
template Array Array::from<std::int32_t>(std::vector<std::int64_t>, std::span<const std::int32_t>);
template Array Array::from<std::int64_t>(std::vector<std::int64_t>, std::span<const std::int64_t>);
template Array Array::from<std::uint8_t>(std::vector<std::int64_t>, std::span<const std::uint8_t>);
template Array Array::from<bool>(std::vector<std::int64_t>, std::span<const bool>);

template std::vector<float> Array::values<float>() const;
template std::vector<double> Array::values<double>() const;
template std::vector<std::int32_t> Array::values<std::int32_t>() const;
template std::vector<std::int64_t> Array::values<std::int64_t>() const;
template std::vector<std::uint8_t> Array::values<std::uint8_t>() const;
template std::vector<bool> Array::values<bool>() const;

}  // namespace jeffreys::storage
