// Zip archives written field by field, so that a test can make them lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/scratch_folder.h"

namespace jeffreys::storage {

using jeffreys::testing::raw;

struct ZipEntry {
  std::string name;
  std::string stored;  // what lies in the archive, perhaps deflated
  std::uint16_t method = 0;
  std::uint64_t claimed_size = 0;
  std::uint64_t claimed_stored_size = 0;
  std::uint32_t checksum = 0;
  bool has_zip64_sizes = false;
  std::uint16_t flags = 0;
};

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~sum;
}

// An honest stored entry.
inline ZipEntry stored_entry(std::string name, std::string bytes) {
  ZipEntry entry;
  entry.name = std::move(name);
  entry.claimed_size = entry.claimed_stored_size = bytes.size();
  entry.checksum = crc32(bytes);
  entry.stored = std::move(bytes);
  return entry;
}

inline std::string zip_image(const std::vector<ZipEntry>& entries) {
  std::string image;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const auto offset = static_cast<std::uint32_t>(image.size());
    const auto narrow = [&](std::uint64_t size) {
      return raw(entry.has_zip64_sizes ? ~std::uint32_t{0} : static_cast<std::uint32_t>(size));
    };
    const std::string extra = entry.has_zip64_sizes
                                  ? raw(std::uint16_t{1}) + raw(std::uint16_t{16}) +
                                        raw(entry.claimed_size) + raw(entry.claimed_stored_size)
                                  : "";
    const std::string common =
        raw(std::uint16_t{45}) + raw(entry.flags) + raw(entry.method) + raw(std::uint16_t{0}) +
        raw(std::uint16_t{33}) + raw(entry.checksum) + narrow(entry.claimed_stored_size) +
        narrow(entry.claimed_size) + raw(static_cast<std::uint16_t>(entry.name.size())) +
        raw(static_cast<std::uint16_t>(extra.size()));
    image += "PK\x03\x04" + common + entry.name + extra + entry.stored;
    directory += "PK\x01\x02" + raw(std::uint16_t{45}) + common + std::string(10, '\0') +
                 raw(offset) + entry.name + extra;
  }
  const auto count = static_cast<std::uint16_t>(entries.size());
  const std::string end = raw(std::uint32_t{0}) + raw(count) + raw(count) +
                          raw(static_cast<std::uint32_t>(directory.size())) +
                          raw(static_cast<std::uint32_t>(image.size())) + raw(std::uint16_t{0});
  return image + directory + "PK\x05\x06" + end;
}

}  // namespace jeffreys::storage
