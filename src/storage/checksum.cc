#include "jeffreys/storage/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace jeffreys::storage {

struct Checksum::State {
  State() {
    if (xxhash == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(xxhash);
  }
  ~State() { XXH3_freeState(xxhash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* xxhash = XXH3_createState();
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(state_->xxhash, bytes.data(), bytes.size());
}

void Checksum::add(std::uint64_t number) { add(std::as_bytes(std::span(&number, 1))); }

void Checksum::add_text(std::string_view text) {
  add(std::uint64_t{text.size()});
  add(std::as_bytes(std::span(text)));
}

std::string Checksum::digits() const {
  return fmt::format("{:016x}", XXH3_64bits_digest(state_->xxhash));
}

std::string checksum_of(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace jeffreys::storage
