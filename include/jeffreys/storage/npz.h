#pragma once

#include <filesystem>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// Reads a NumPy .npz file (a zip archive of .npy entries, stored or deflated, zip64 too) as
// numpy.load does; names come without ".npy". Throws InputError for a damaged archive, for entries
// that are not arrays of a known dtype, for duplicate names, and for sizes that the file cannot
// really hold.
Arrays read_npz(const std::filesystem::path& path);

// Replaces the file atomically, entries stored in order of name. The same arrays always give the
// same bytes. Throws std::invalid_argument for names that a zip archive cannot hold.
void write_npz(const std::filesystem::path& path, const Arrays& arrays);

}  // namespace jeffreys::storage
