#pragma once

#include <cstddef>

namespace jeffreys::storage {

// Bytes of the largest single operator new of this program since the last call, any thread.
std::size_t take_largest_allocation();

}  // namespace jeffreys::storage
