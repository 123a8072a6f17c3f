#include "support/golden.h"

#include <stdexcept>

namespace jeffreys::testing {

std::string golden_path(const std::string& file) {
  return std::string(JEFFREYS_GOLDEN_DIR) + "/" + file;
}

Golden::Golden(const std::string& file) : arrays_(storage::read_npz(golden_path(file))) {}

const storage::Array& Golden::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw std::out_of_range("golden file has no array " + name);
  return found->second;
}

}  // namespace jeffreys::testing
