#include "jeffreys/storage/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/input_file.h"
#include "storage/npy_header.h"
#include "storage/npy_image.h"

namespace jeffreys::storage {
namespace {

constexpr std::string_view kSuffix = ".npy";

template <auto Close>
struct Closer {
  template <typename T>
  void operator()(T* handle) const {
    Close(handle);
  }
};
using Archive = std::unique_ptr<zip_t, Closer<zip_discard>>;
using Entry = std::unique_ptr<zip_file_t, Closer<zip_fclose>>;
using Source = std::unique_ptr<zip_source_t, Closer<zip_source_free>>;

struct ZipError : zip_error_t {
  ZipError() : zip_error_t{} { zip_error_init(this); }
  explicit ZipError(int code) : zip_error_t{} { zip_error_init_with_code(this, code); }
  ~ZipError() { zip_error_fini(this); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
};

Archive open_archive(const std::filesystem::path& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    ZipError error(code);
    throw InputError(path.string(),
                     fmt::format("cannot be read as an .npz archive: {}; write it with numpy.savez",
                                 zip_error_strerror(&error)));
  }
  return archive;
}

// What the archive's directory says about one entry.
struct EntryClaim {
  std::string name;
  std::uint64_t index = 0;
  std::size_t size = 0;
  std::size_t stored_size = 0;
};

// Deflate cannot shrink anything by more than this factor.
constexpr std::size_t kMaxDeflateRatio = 1032;

EntryClaim checked_claim(zip_t* archive, std::uint64_t index, const std::string& file) {
  zip_stat_t status;
  zip_stat_init(&status);
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded) {
    throw InputError(file, fmt::format("entry {} of the archive is damaged; write or copy the file "
                                       "again",
                                       index + 1));
  }
  std::string_view name = status.name;
  if (!name.ends_with(kSuffix)) {
    throw InputError(file, fmt::format("entry {} is not an array (its name does not end in .npy); "
                                       "write the file with numpy.savez",
                                       quote(name)));
  }
  name.remove_suffix(kSuffix.size());
  const bool is_encrypted =
      (status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE;
  const bool is_stored = status.comp_method == ZIP_CM_STORE;
  if (is_encrypted || (!is_stored && status.comp_method != ZIP_CM_DEFLATE)) {
    throw InputError(file,
                     fmt::format("array {} is encrypted or compressed in a way NumPy does not "
                                 "use; write the file with numpy.savez",
                                 quote(name)));
  }
  const bool is_possible = is_stored ? status.size == status.comp_size
                                     : status.size / kMaxDeflateRatio <= status.comp_size;
  if (!is_possible) {
    throw InputError(file, fmt::format("array {} claims {} bytes but stores {}, which cannot be; "
                                       "write or copy the file again",
                                       quote(name), status.size, status.comp_size));
  }
  return {std::string(name), index, status.size, status.comp_size};
}

Array read_entry(zip_t* archive, const EntryClaim& claim, const std::string& file) {
  const std::string label = fmt::format("array {}: ", quote(claim.name));
  const auto fail = [&](zip_error_t* error) {
    throw InputError(file,
                     fmt::format("{}cannot be read from the archive: {}; write or copy the file "
                                 "again",
                                 label, zip_error_strerror(error)));
  };
  const Entry entry(zip_fopen_index(archive, claim.index, 0));
  if (!entry) fail(zip_get_error(archive));
  const auto read = [&](std::span<std::byte> buffer) {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const zip_int64_t count = zip_fread(entry.get(), buffer.data() + done, buffer.size() - done);
      if (count < 0) fail(zip_file_get_error(entry.get()));
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  };
  return read_npy_image({file, label, claim.size, claim.stored_size, read});
}

[[noreturn]] void fail_to_add(std::string_view name, zip_error_t* error) {
  throw std::invalid_argument(fmt::format("write_npz: array {} cannot be put into an archive: {}",
                                          quote(name), zip_error_strerror(error)));
}

[[noreturn]] void fail_to_pack(zip_error_t* error) {
  throw std::runtime_error(
      fmt::format("write_npz: the archive cannot be made: {}", zip_error_strerror(error)));
}

zip_buffer_fragment_t fragment(std::span<const std::byte> bytes) {
  const auto* const data = reinterpret_cast<const zip_uint8_t*>(bytes.data());
  // libzip asks for mutable bytes but only reads them. NOLINTNEXTLINE(*-const-cast)
  return {const_cast<zip_uint8_t*>(data), bytes.size()};
}

// The entry points into `header` and `array`, which must stay until the archive is closed.
void add_entry(zip_t* archive, const std::string& name, const std::string& header,
               const Array& array) {
  // libzip would cut such names without a word.
  constexpr std::size_t kLongest = 65535 - kSuffix.size();
  if (name.size() > kLongest || name.find('\0') != std::string::npos) {
    throw std::invalid_argument(fmt::format(
        "write_npz: the name of array {} is longer than {} bytes or contains a zero byte",
        quote(name), kLongest));
  }
  std::array<zip_buffer_fragment_t, 2> pieces{fragment(std::as_bytes(std::span(header))),
                                              fragment(array.bytes)};
  ZipError error;
  Source source(zip_source_buffer_fragment_create(
      pieces.data(), array.bytes.empty() ? 1 : pieces.size(), 0, &error));
  if (!source) fail_to_add(name, &error);
  const zip_int64_t index =
      zip_file_add(archive, (name + std::string(kSuffix)).c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) fail_to_add(name, zip_get_error(archive));
  // The archive owns it now.
  static_cast<void>(source.release());
  // 1980-01-01, the earliest date of the format and the one that NumPy writes. It is given in the
  // format's own terms because libzip would convert a time_t by the local time zone.
  constexpr zip_uint16_t kDate = 1 << 5 | 1;
  const auto entry = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, entry, 0, kDate, 0) != 0) {
    fail_to_add(name, zip_get_error(archive));
  }
}

// The archive as libzip's own buffer. libzip deletes an archive without entries instead of writing
// it, so there must be one.
Source pack(const Arrays& arrays) {
  ZipError error;
  Source buffer(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!buffer) fail_to_pack(&error);
  std::vector<std::string> headers;
  headers.reserve(arrays.size());
  Archive archive(zip_open_from_source(buffer.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) fail_to_pack(&error);
  zip_source_keep(buffer.get());

  for (const auto& [name, array] : arrays) {
    headers.push_back(format_npy_header(array.dtype, array.shape));
    add_entry(archive.get(), name, headers.back(), array);
  }
  if (zip_close(archive.get()) != 0) fail_to_pack(zip_get_error(archive.get()));
  // A closed archive is gone.
  static_cast<void>(archive.release());
  return buffer;
}

void copy(zip_source_t* source, AtomicFile& file) {
  if (zip_source_open(source) != 0) fail_to_pack(zip_source_error(source));
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  while (true) {
    const zip_int64_t count = zip_source_read(source, chunk.data(), chunk.size());
    if (count < 0) fail_to_pack(zip_source_error(source));
    if (count == 0) break;
    file.write(std::span(chunk).first(static_cast<std::size_t>(count)));
  }
  zip_source_close(source);
}

}  // namespace

Arrays read_npz(const std::filesystem::path& path) {
  const InputFile file(path);
  const Archive archive = open_archive(path);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  std::size_t stored = 0;
  std::size_t size = 0;
  Arrays arrays;
  for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(count); ++index) {
    const EntryClaim claim = checked_claim(archive.get(), index, file.name());
    if (arrays.contains(claim.name)) {
      throw InputError(file.name(),
                       fmt::format("the name {} occurs twice in the archive; write the "
                                   "file again with numpy.savez",
                                   quote(claim.name)));
    }
    // Overlapping entries, as in a zip bomb, would share stored bytes and so add up to more than
    // the file. Comparing with what is left cannot overflow.
    if (claim.stored_size > file.size() - stored || claim.size > kMaxFileBytes - size) {
      throw InputError(
          file.name(),
          fmt::format("the archive claims more data than it holds or than the limit of "
                      "{} GiB (at array {}); write or copy the file again",
                      kMaxFileBytes >> 30, quote(claim.name)));
    }
    stored += claim.stored_size;
    size += claim.size;
    arrays.emplace(claim.name, read_entry(archive.get(), claim, file.name()));
  }
  return arrays;
}

void write_npz(const std::filesystem::path& path, const Arrays& arrays) {
  std::size_t size = 0;
  for (const auto& [name, array] : arrays) {
    require_consistent(array, "write_npz: array " + quote(name));
    size += array.bytes.size() + 1024;
    if (size > kMaxFileBytes) {
      throw std::invalid_argument(
          fmt::format("write_npz: the arrays exceed the limit of {} GiB", kMaxFileBytes >> 30));
    }
  }
  AtomicFile file(path);
  if (arrays.empty()) {
    constexpr std::string_view kEndOfDirectory("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                               22);
    file.write(std::as_bytes(std::span(kEndOfDirectory)));
  } else {
    const Source archive = pack(arrays);
    copy(archive.get(), file);
  }
  file.commit();
}

}  // namespace jeffreys::storage
