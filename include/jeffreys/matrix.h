// Matrices of the public interface: row-major, one row an observation.
#pragma once

#include <Eigen/Core>

namespace jeffreys {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// Takes any row-major matrix or block of rows without a copy; other expressions are copied.
template <typename T>
using MatrixView = Eigen::Ref<const Matrix<T>>;

template <typename T>
using VectorView = Eigen::Ref<const Vector<T>>;

}  // namespace jeffreys
