#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// The key of the checksum in the metadata.
inline constexpr const char* kChecksumKey = "jeffreys.checksum";

// As in the reference implementation.
inline constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;

struct TensorFile {
  std::map<std::string, std::string> metadata;
  Arrays tensors;
  // Set by reading: a checksum was in the file, and it matched.
  bool has_checksum = false;

  bool operator==(const TensorFile& other) const {
    return metadata == other.metadata && tensors == other.tensors;
  }
};

// Reads the safetensors layout: u64 header length, JSON header, raw tensors. Throws InputError
// unless the header is strict JSON without duplicate keys, every tensor has a known dtype and as
// many bytes as its shape says, and the tensors cover the data section without overlap or hole.
// A checksum of ours, which is not in the returned metadata, must match; files of other programs
// and of earlier versions have none.
TensorFile read_safetensors(const std::filesystem::path& path);

// Throws InputError unless the file that was read had a checksum. A flipped bit in its key hides
// it: whoever knows that it must be there asks.
void require_checksum(const TensorFile& content, const std::filesystem::path& path);

// Replaces the file atomically. Tensors lie in order of item size, largest first, then of name, so
// that each is aligned to its items. A checksum of metadata and tensors is added to the metadata.
// The same content always gives the same bytes. Throws std::invalid_argument for names and metadata
// that are not UTF-8, for a tensor "__metadata__" and for the checksum's key in the metadata.
void write_safetensors(const std::filesystem::path& path, const TensorFile& content);

}  // namespace jeffreys::storage
