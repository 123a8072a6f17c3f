#include "jeffreys/storage/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/checksum.h"
#include "jeffreys/storage/input_file.h"
#include "storage/safetensors_header.h"

namespace jeffreys::storage {
namespace {

void read_exactly(InputFile& file, std::span<std::byte> buffer) {
  if (file.read(buffer) != buffer.size()) {
    throw InputError(file.name(), "is cut short; write or copy the file again");
  }
}

std::size_t read_header_length(InputFile& file) {
  std::uint64_t length = 0;
  read_exactly(file, std::as_writable_bytes(std::span(&length, 1)));
  if (length > kMaxSafetensorsHeader || length > file.size() - sizeof(length)) {
    throw InputError(
        file.name(),
        fmt::format("is not a safetensors file or is cut short: it claims a header of {} "
                    "bytes (limit {}, file {}); write or copy the file again",
                    length, kMaxSafetensorsHeader, file.size()));
  }
  return length;
}

SafetensorsHeader plan(const TensorFile& content) {
  SafetensorsHeader header{.metadata = content.metadata, .places = {}};
  for (const auto& [name, tensor] : content.tensors) {
    require_consistent(tensor, "write_safetensors: tensor " + quote(name));
    if (name == "__metadata__") {
      throw std::invalid_argument("write_safetensors: a tensor may not be named \"__metadata__\"");
    }
    header.places.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape});
  }
  std::ranges::stable_sort(header.places, std::ranges::greater{},
                           [](const TensorPlace& place) { return item_size(place.dtype); });
  std::uint64_t offset = 0;
  for (TensorPlace& place : header.places) {
    place.begin = offset;
    offset += byte_size(place.dtype, place.shape);
    place.end = offset;
    if (offset > kMaxFileBytes) {
      throw std::invalid_argument(
          fmt::format("write_safetensors: the tensors exceed the limit of {} "
                      "GiB",
                      kMaxFileBytes >> 30));
    }
  }
  return header;
}

// Of the content, not of the header's text: another order or spacing, which other programs may
// choose, is no damage.
std::string content_checksum(const TensorFile& content) {
  Checksum checksum;
  checksum.add(content.metadata.size());
  for (const auto& [key, value] : content.metadata) {
    checksum.add_text(key);
    checksum.add_text(value);
  }
  for (const auto& [name, tensor] : content.tensors) {
    checksum.add_text(name);
    checksum.add_text(dtype_name(tensor.dtype));
    checksum.add(tensor.shape.size());
    for (const std::int64_t extent : tensor.shape) checksum.add(static_cast<std::uint64_t>(extent));
    checksum.add(tensor.bytes);
  }
  return checksum.digits();
}

[[noreturn]] void fail_as_damaged(const std::string& file, const char* how) {
  throw InputError(file,
                   fmt::format("is damaged: {}; copy it again, or delete it and fit again", how));
}

// Takes the checksum out of the metadata.
void verify_checksum(TensorFile& content, const std::string& file) {
  const auto found = content.metadata.find(kChecksumKey);
  if (found == content.metadata.end()) return;
  const std::string expected = std::move(found->second);
  content.metadata.erase(found);
  if (content_checksum(content) != expected) fail_as_damaged(file, "its checksum does not match");
  content.has_checksum = true;
}

}  // namespace

TensorFile read_safetensors(const std::filesystem::path& path) {
  InputFile file(path);
  std::string text(read_header_length(file), '\0');
  read_exactly(file, std::as_writable_bytes(std::span(text)));
  const std::size_t data_size = file.size() - sizeof(std::uint64_t) - text.size();
  if (data_size > kMaxFileBytes) {
    throw InputError(file.name(),
                     fmt::format("holds {} bytes of tensors, the limit is {} GiB; split "
                                 "it into several files",
                                 data_size, kMaxFileBytes >> 30));
  }
  SafetensorsHeader header = parse_safetensors_header(text, data_size, file.name());
  TensorFile content{.metadata = std::move(header.metadata), .tensors = {}};
  for (TensorPlace& place : header.places) {
    Array tensor{place.dtype, std::move(place.shape), {}};
    tensor.bytes.resize(place.end - place.begin);
    read_exactly(file, tensor.bytes);
    content.tensors.emplace(std::move(place.name), std::move(tensor));
  }
  verify_checksum(content, file.name());
  return content;
}

void require_checksum(const TensorFile& content, const std::filesystem::path& path) {
  if (!content.has_checksum) fail_as_damaged(path.string(), "its checksum is missing");
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& content) {
  SafetensorsHeader header = plan(content);
  if (!header.metadata.emplace(kChecksumKey, content_checksum(content)).second) {
    throw std::invalid_argument(fmt::format(
        "write_safetensors: the metadata key \"{}\" is the format's own", kChecksumKey));
  }
  const std::string text = format_safetensors_header(header);
  if (text.size() > kMaxSafetensorsHeader) {
    throw std::invalid_argument(
        fmt::format("write_safetensors: names and metadata take {} bytes, the limit is {}",
                    text.size(), kMaxSafetensorsHeader));
  }
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const TensorPlace& place : header.places) file.write(content.tensors.at(place.name).bytes);
  file.commit();
}

}  // namespace jeffreys::storage
