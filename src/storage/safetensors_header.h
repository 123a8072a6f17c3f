#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/storage/array.h"
#include "jeffreys/storage/safetensors.h"

namespace jeffreys::storage {

// One tensor in the header; its bytes are [begin, end) of the data section.
struct TensorPlace {
  std::string name;
  Dtype dtype = Dtype::f64;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  // In order of place. The first begins at 0 and each at the end of the one before.
  std::vector<TensorPlace> places;
};

// Throws InputError for `file` unless the JSON text describes tensors that fill exactly `data_size`
// bytes.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::size_t data_size,
                                           const std::string& file);

// JSON text, padded with spaces to a multiple of 8 bytes. Throws std::invalid_argument for text
// that is not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace jeffreys::storage
