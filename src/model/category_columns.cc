#include "model/category_columns.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/checks.h"

namespace jeffreys {

void check_categories(std::string_view field, const std::vector<Eigen::Index>& sizes) {
  if (sizes.empty()) {
    throw std::invalid_argument(fmt::format("{}: expected at least one column", field));
  }
  for (const Eigen::Index size : sizes) check_between(field, size, 1, kMostUnits);
}

CategoryColumns::CategoryColumns(const std::vector<Eigen::Index>& sizes)
    : sizes_(sizes), offsets_(1, 0) {
  for (const Eigen::Index size : sizes) offsets_.push_back(offsets_.back() + size);
}

template <typename T>
CodeMatrix CategoryColumns::read(const MatrixView<T>& numbers) const {
  CodeMatrix codes(numbers.rows(), count());
  for (Eigen::Index r = 0; r < numbers.rows(); ++r) {
    for (Eigen::Index j = 0; j < count(); ++j) {
      const T number = numbers(r, j);
      const bool is_code =
          number >= 0 && number <= static_cast<T>(size(j)) && number == std::floor(number);
      codes(r, j) = is_code ? static_cast<std::int32_t>(number) : kNoCode;
    }
  }
  return codes;
}

template <typename T>
void CategoryColumns::write_one_hots(const CodeMatrix& codes, T no_code,
                                     Eigen::Ref<Matrix<T>> one_hots) const {
  one_hots.setZero();
  for (Eigen::Index r = 0; r < codes.rows(); ++r) {
    for (Eigen::Index j = 0; j < count(); ++j) {
      const std::int32_t code = codes(r, j);
      if (is_class(j, code)) one_hots(r, offset(j) + code) = T(1);
      if (code == kNoCode) one_hots.row(r).segment(offset(j), size(j)).setConstant(no_code);
    }
  }
}

template CodeMatrix CategoryColumns::read(const MatrixView<float>&) const;
template CodeMatrix CategoryColumns::read(const MatrixView<double>&) const;
template void CategoryColumns::write_one_hots(const CodeMatrix&, float,
                                              Eigen::Ref<Matrix<float>>) const;
template void CategoryColumns::write_one_hots(const CodeMatrix&, double,
                                              Eigen::Ref<Matrix<double>>) const;

}  // namespace jeffreys
