#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// As in the reference implementation.
inline constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;

struct TensorFile {
  std::map<std::string, std::string> metadata;
  Arrays tensors;

  bool operator==(const TensorFile&) const = default;
};

// Reads the safetensors layout: u64 header length, JSON header, raw tensors. Throws InputError
// unless the header is strict JSON without duplicate keys, every tensor has a known dtype and as
// many bytes as its shape says, and the tensors cover the data section without overlap or hole.
TensorFile read_safetensors(const std::filesystem::path& path);

// Replaces the file atomically. Tensors lie in order of item size, largest first, then of name, so
// that each is aligned to its items. The same content always gives the same bytes. Throws
// std::invalid_argument for names and metadata that are not UTF-8 and for a tensor "__metadata__".
void write_safetensors(const std::filesystem::path& path, const TensorFile& content);

}  // namespace jeffreys::storage
