// Numbers made with PyTorch and Zuko, in tests/golden.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys::testing {

std::string golden_path(const std::string& file);

class Golden {
 public:
  explicit Golden(const std::string& file);

  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }
  [[nodiscard]] const storage::Array& array(const std::string& name) const;
  [[nodiscard]] const storage::Arrays& arrays() const { return arrays_; }

  template <typename T>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    return array(name).values<T>();
  }

  // [rows, columns]; an empty matrix if there is no such array.
  template <typename T>
  [[nodiscard]] Matrix<T> matrix(const std::string& name) const {
    if (!has(name)) return Matrix<T>();
    const std::vector<T> items = values<T>(name);
    const std::vector<std::int64_t>& shape = array(name).shape;
    const Eigen::Index columns = shape.size() > 1 ? shape[1] : 1;
    return Eigen::Map<const Matrix<T>>(items.data(), shape[0], columns);
  }

  template <typename T>
  [[nodiscard]] Vector<T> vector(const std::string& name) const {
    const std::vector<T> items = values<T>(name);
    return Eigen::Map<const Vector<T>>(items.data(), static_cast<Eigen::Index>(items.size()));
  }

 private:
  storage::Arrays arrays_;
};

}  // namespace jeffreys::testing
