#include "kernels/random.h"

#include <Random123/philox.h>

#include <algorithm>
#include <array>

#include "kernels/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/random.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

#ifndef JEFFREYS_KERNELS_RANDOM_ARGUMENTS_
#define JEFFREYS_KERNELS_RANDOM_ARGUMENTS_
namespace jeffreys::kernels {
// kTileRows pairs of uniforms become kTileRows pairs of normals.
template <typename T>
struct BoxMullerArguments {
  const T* radius;  // in (0, 1)
  const T* angle;   // in (0, 1)
  T* cosine;
  T* sine;
};
}  // namespace jeffreys::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void box_muller_impl(const BoxMullerArguments<T>& a) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const V turn = hn::Set(d, static_cast<T>(6.283185307179586));
  for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
    const V log = logarithm(d, hn::Load(d, a.radius + lane));
    const V radius = hn::Sqrt(hn::Mul(hn::Set(d, -2), log));
    const V angle = hn::Mul(turn, hn::Load(d, a.angle + lane));
    hn::Store(hn::Mul(radius, hn::Cos(d, angle)), d, a.cosine + lane);
    hn::Store(hn::Mul(radius, hn::Sin(d, angle)), d, a.sine + lane);
  }
}

JEFFREYS_KERNEL(box_muller, BoxMullerArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
namespace {

JEFFREYS_EXPORT_KERNEL(box_muller, BoxMullerArguments)

using Philox = r123::Philox4x32;
inline constexpr std::size_t kBlock = 4;  // numbers that one counter gives

std::array<std::uint32_t, kBlock> bits(const RandomKey& key, std::uint64_t row, std::size_t block) {
  const Philox::key_type seed = {
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  const Philox::ctr_type counter = {
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(row),
       static_cast<std::uint32_t>(key.iteration),
       (static_cast<std::uint32_t>(key.purpose) << 16) |
           static_cast<std::uint32_t>((key.iteration >> 32) & 0xffff)}};
  const Philox::ctr_type result = Philox()(counter, seed);
  return {result[0], result[1], result[2], result[3]};
}

// The middle of one of 2^32 equal parts of (0, 1). In float the largest ones round to 1, whose
// logarithm is still fine for Box-Muller.
template <typename T>
T uniform(std::uint32_t value) {
  return (static_cast<T>(value) + T(0.5)) * static_cast<T>(0x1p-32);
}

template <typename T>
void write_uniforms(const RandomArguments<T>& a) {
  for (std::size_t r = 0; r < a.rows; ++r) {
    for (std::size_t c = 0; c < a.columns; c += kBlock) {
      const auto value = bits(a.key, a.first_row + r, c / kBlock);
      for (std::size_t i = 0; i < std::min(kBlock, a.columns - c); ++i) {
        const T u = uniform<T>(value[i]);
        a.output[r * a.columns + c + i] = u < T(1) ? u : T(1) - static_cast<T>(0x1p-24);
      }
    }
  }
}

// Collects pairs until a tile of them is full, then transforms and delivers them.
template <typename T>
class NormalWriter {
 public:
  void push(std::uint32_t radius, std::uint32_t angle, T* first, T* second) {
    radius_[count_] = uniform<T>(radius);
    angle_[count_] = uniform<T>(angle);
    target_[count_] = {first, second};
    if (++count_ == kTileRows) flush();
  }

  void flush() {
    for (std::size_t i = count_; i < kTileRows; ++i) radius_[i] = angle_[i] = T(0.5);
    box_muller(BoxMullerArguments<T>{radius_, angle_, cosine_, sine_});
    for (std::size_t i = 0; i < count_; ++i) {
      *target_[i][0] = cosine_[i];
      if (target_[i][1]) *target_[i][1] = sine_[i];
    }
    count_ = 0;
  }

 private:
  alignas(kAlignment) T radius_[kTileRows];
  alignas(kAlignment) T angle_[kTileRows];
  alignas(kAlignment) T cosine_[kTileRows];
  alignas(kAlignment) T sine_[kTileRows];
  std::array<T*, 2> target_[kTileRows];
  std::size_t count_ = 0;
};

template <typename T>
void write_normals(const RandomArguments<T>& a) {
  NormalWriter<T> writer;
  for (std::size_t r = 0; r < a.rows; ++r) {
    T* row = a.output + r * a.columns;
    for (std::size_t c = 0; c < a.columns; c += kBlock) {
      const auto value = bits(a.key, a.first_row + r, c / kBlock);
      const std::size_t left = a.columns - c;
      writer.push(value[0], value[1], row + c, left > 1 ? row + c + 1 : nullptr);
      if (left > 2) writer.push(value[2], value[3], row + c + 2, left > 3 ? row + c + 3 : nullptr);
    }
  }
  writer.flush();
}

}  // namespace

void fill_normals(const RandomArguments<float>& arguments) { write_normals(arguments); }
void fill_normals(const RandomArguments<double>& arguments) { write_normals(arguments); }
void fill_uniforms(const RandomArguments<float>& arguments) { write_uniforms(arguments); }
void fill_uniforms(const RandomArguments<double>& arguments) { write_uniforms(arguments); }

}  // namespace jeffreys::kernels
#endif
