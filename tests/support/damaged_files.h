// Files of ours as a failing disk leaves them, and as earlier versions wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "jeffreys/storage/safetensors.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {

inline std::string with_flipped_bit(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

// A safetensors file after an edit of the metadata in its header alone: whatever checksum there is
// stays as it was.
template <typename Edit>
std::string with_metadata(const std::string& image, const Edit& edit) {
  std::uint64_t length = 0;
  std::memcpy(&length, image.data(), sizeof(length));
  nlohmann::json header = nlohmann::json::parse(image.substr(sizeof(length), length));
  edit(header["__metadata__"]);
  const std::string text = header.dump();
  return raw(std::uint64_t{text.size()}) + text + image.substr(sizeof(length) + length);
}

// As the last version without checksums wrote it.
inline std::string of_earlier_version(const std::string& image, const std::string& version_key,
                                      const std::string& version) {
  return with_metadata(image, [&](nlohmann::json& metadata) {
    EXPECT_EQ(metadata.erase(storage::kChecksumKey), 1U);
    metadata.at(version_key) = version;
  });
}

inline std::string without_checksum(const std::string& image) {
  return with_metadata(image,
                       [](nlohmann::json& metadata) { metadata.erase(storage::kChecksumKey); });
}

}  // namespace jeffreys::testing
