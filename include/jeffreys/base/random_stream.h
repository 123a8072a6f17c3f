// Names a stream of random numbers. A number depends on the stream, its row and its column alone,
// so the same stream gives the same rows for any number of threads and after a resume.
#pragma once

#include <cstdint>

namespace jeffreys {

struct RandomStream {
  std::uint64_t seed = 0;
  std::uint16_t purpose = 0;    // keeps the uses of one seed apart
  std::uint64_t iteration = 0;  // below 2^48
};

}  // namespace jeffreys
