#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// The dictionary at the head of an .npy array.
struct NpyHeader {
  Dtype dtype = Dtype::f64;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }". Throws InputError for
// `file`, its problem beginning with `label`, when the text is not such a dictionary, the dtype is
// not one of ours or the shape has a problem.
NpyHeader parse_npy_header(std::string_view text, const std::string& file, std::string_view label);

// Magic bytes, version 1.0, length and dictionary, padded to a multiple of 64 bytes.
std::string format_npy_header(Dtype dtype, const std::vector<std::int64_t>& shape);

}  // namespace jeffreys::storage
