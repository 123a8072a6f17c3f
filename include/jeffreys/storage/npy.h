#pragma once

#include <filesystem>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// Reads a NumPy .npy file of format version 1, 2 or 3. Arrays in Fortran order are transposed to
// row major. Throws InputError for anything that is not exactly one array of a known dtype; memory
// is claimed only for bytes that the file really has.
Array read_npy(const std::filesystem::path& path);

// Replaces the file atomically. The same array always gives the same bytes.
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace jeffreys::storage
