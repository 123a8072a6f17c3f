#include "kernels/scratch.h"

namespace jeffreys {
namespace {

constexpr std::size_t kSmallestBlock = std::size_t{1} << 20;

constexpr std::size_t round_up(std::size_t size) {
  return (size + kernels::kAlignment - 1) / kernels::kAlignment * kernels::kAlignment;
}

}  // namespace

Scratch& Scratch::of_this_thread() {
  thread_local Scratch scratch;
  return scratch;
}

Scratch::Frame::Frame()
    : scratch_(of_this_thread()), block_(scratch_.block_), used_(scratch_.used_) {}

Scratch::Frame::~Frame() {
  scratch_.block_ = block_;
  scratch_.used_ = used_;
}

void* Scratch::take_bytes(std::size_t size) {
  const std::size_t rounded = round_up(size);
  while (block_ < blocks_.size() && used_ + rounded > blocks_[block_].size()) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    blocks_.emplace_back(std::max(rounded, kSmallestBlock));
    used_ = 0;
  }
  void* memory = blocks_[block_].data() + used_;
  used_ += rounded;
  return memory;
}

}  // namespace jeffreys
