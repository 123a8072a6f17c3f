// The category columns of a row as a network sees them. A column with n classes has the codes 0 to
// n - 1, and n for a class that was never seen. A network sees a class as a one-hot code, which is
// all zeros for one that was never seen; the one-hot codes of all columns are side by side.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// [rows, columns]
using CodeMatrix = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What stands for a number that is no code.
inline constexpr std::int32_t kNoCode = -1;

// Throws std::invalid_argument naming the field.
void check_categories(std::string_view field, const std::vector<Eigen::Index>& sizes);

class CategoryColumns {
 public:
  // The number of classes of each column.
  explicit CategoryColumns(const std::vector<Eigen::Index>& sizes);

  [[nodiscard]] Eigen::Index count() const { return static_cast<Eigen::Index>(sizes_.size()); }
  // Of all columns together.
  [[nodiscard]] Eigen::Index classes() const { return offsets_.back(); }
  [[nodiscard]] Eigen::Index size(Eigen::Index column) const {
    return sizes_[static_cast<std::size_t>(column)];
  }
  // Where the column's one-hot code begins; offset(count()) is the end of them all.
  [[nodiscard]] Eigen::Index offset(Eigen::Index column) const {
    return offsets_[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] bool is_class(Eigen::Index column, std::int32_t code) const {
    return code >= 0 && code < size(column);
  }

  // numbers [rows, columns]
  template <typename T>
  [[nodiscard]] CodeMatrix read(const MatrixView<T>& numbers) const;

  // Writes one_hots [rows, classes], in which `no_code` fills the place of what is no code.
  template <typename T>
  void write_one_hots(const CodeMatrix& codes, T no_code, Eigen::Ref<Matrix<T>> one_hots) const;

 private:
  std::vector<Eigen::Index> sizes_;
  std::vector<Eigen::Index> offsets_;
};

}  // namespace jeffreys
