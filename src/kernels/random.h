// Counter-based random numbers (Philox 4x32-10): a number is a function of seed, purpose,
// iteration, row and column alone, so results do not depend on threads, tiles or the order of
// calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jeffreys::kernels {

struct RandomKey {
  std::uint64_t seed = 0;
  std::uint16_t purpose = 0;
  std::uint64_t iteration = 0;  // the lower 48 bits count
};

// Fills [rows][columns], row-major, for rows first_row, first_row + 1, ...
template <typename T>
struct RandomArguments {
  RandomKey key;
  std::uint64_t first_row;  // rows are counted modulo 2^32
  std::size_t rows;
  std::size_t columns;
  T* output;
};

// Standard normal numbers (Box-Muller on 32-bit uniforms; the largest possible magnitude is 6.8).
void fill_normals(const RandomArguments<float>&);
void fill_normals(const RandomArguments<double>&);

// Uniform numbers in (0, 1), with 32 bits.
void fill_uniforms(const RandomArguments<float>&);
void fill_uniforms(const RandomArguments<double>&);

}  // namespace jeffreys::kernels
