// Damaged files: whatever bytes arrive, a reader throws InputError or gives consistent arrays, and
// never takes memory that the file cannot justify.
#include <gmock/gmock.h>

#include <functional>
#include <random>

#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"
#include "jeffreys/storage/safetensors.h"
#include "storage/largest_allocation.h"
#include "storage/python_archives.h"
#include "support/scratch_folder.h"

namespace jeffreys::storage {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::raw;
using jeffreys::testing::ScratchTest;
constexpr std::size_t kEnoughMemory = 300'000;

using Reader = std::function<Arrays(const std::filesystem::path&)>;

class Hostile : public ScratchTest {
 protected:
  // Whether the reader took the bytes.
  bool accepts(const std::string& bytes, const Reader& read) const {
    // A new file is much faster than a truncated one: ext4 flushes the latter to the disk.
    std::filesystem::remove(path("hostile"));
    const std::filesystem::path name = file("hostile", bytes);
    take_largest_allocation();
    try {
      for (const auto& [array_name, array] : read(name)) require_consistent(array, array_name);
    } catch (const InputError& error) {
      EXPECT_EQ(error.file(), name.string());
      EXPECT_LT(take_largest_allocation(), kEnoughMemory) << error.what();
      return false;
    }
    EXPECT_LT(take_largest_allocation(), kEnoughMemory);
    return true;
  }

  void refuse_every_truncation(const std::string& bytes, const Reader& read) const {
    ASSERT_TRUE(accepts(bytes, read));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(accepts(bytes.substr(0, length), read)) << length;
    }
  }

  void survive_every_bit_flip(const std::string& bytes, const Reader& read) const {
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      accepts(damaged, read);
    }
  }

  void survive_random_damage(const std::string& bytes, const Reader& read) const {
    std::mt19937 random(7);
    const auto below = [&random](std::size_t end) { return random() % end; };
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = bytes;
      for (std::size_t change = below(4) + 1; change > 0; --change) {
        const std::size_t position = below(damaged.size());
        switch (below(4)) {
          case 0: damaged[position] = static_cast<char>(random()); break;
          case 1: damaged[position] = static_cast<char>(0xff); break;
          case 2: damaged.insert(position, damaged.substr(below(damaged.size()), below(40))); break;
          default: damaged.erase(position, below(std::min<std::size_t>(40, damaged.size() - 1)));
        }
      }
      accepts(damaged, read);
    }
  }

  void survive(const std::string& bytes, const Reader& read) const {
    refuse_every_truncation(bytes, read);
    survive_every_bit_flip(bytes, read);
    survive_random_damage(bytes, read);
  }
};

Arrays small_arrays() {
  return {{"x", Array::from<double>({2, 1}, std::vector{1.0, 2.0})},
          {"n", Array::from<std::int32_t>({}, std::vector<std::int32_t>{3})}};
}

Arrays read_one(const std::filesystem::path& name) { return {{"", read_npy(name)}}; }
Arrays read_tensors(const std::filesystem::path& name) { return read_safetensors(name).tensors; }

TEST_F(Hostile, Npy) {
  write_npy(path("good"), small_arrays().at("x"));
  survive(bytes_of(path("good")), read_one);
}

TEST_F(Hostile, NpyInFortranOrder) {
  write_npy(path("good"), Array::from<double>({2, 3}, std::vector<double>(6)));
  std::string bytes = bytes_of(path("good"));
  bytes.replace(bytes.find("False"), 5, "True ");
  survive(bytes, read_one);
}

TEST_F(Hostile, Npz) {
  write_npz(path("good"), small_arrays());
  survive(bytes_of(path("good")), read_npz);
}

TEST_F(Hostile, CompressedNpz) {
  survive({reinterpret_cast<const char*>(kCompressedNpz), sizeof(kCompressedNpz)}, read_npz);
}

TEST_F(Hostile, StreamedNpz) {
  survive({reinterpret_cast<const char*>(kStreamedNpz), sizeof(kStreamedNpz)}, read_npz);
}

TEST_F(Hostile, Safetensors) {
  write_safetensors(path("good"), {{{"format", "test"}}, small_arrays()});
  survive(bytes_of(path("good")), read_tensors);
}

// The archive's checksum protects the data, which nothing else does.
TEST_F(Hostile, NoDamageToDataInAnArchiveGoesUnseen) {
  write_npz(path("good"), {{"x", Array::from<double>({4}, std::vector<double>(4, 0.25))}});
  const std::string bytes = bytes_of(path("good"));
  const std::size_t data = bytes.find(raw(0.25));
  ASSERT_NE(data, std::string::npos);
  for (std::size_t bit = 8 * data; bit < 8 * (data + 32); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(accepts(damaged, read_npz)) << bit;
  }
}

}  // namespace
}  // namespace jeffreys::storage
