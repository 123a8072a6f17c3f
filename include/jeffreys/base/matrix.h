// Matrices of the public interface: row-major, one row an observation.
#pragma once

#include <Eigen/Core>

// A matrix allocated on one side of the interface may be freed on the other, and how Eigen does
// both follows the compiler's flags. The CMake package defines these for its callers.
static_assert(EIGEN_MAX_ALIGN_BYTES == 16 && EIGEN_MALLOC_ALREADY_ALIGNED == 1,
              "compile what includes jeffreys as the library is: with -DEIGEN_MAX_ALIGN_BYTES=16 "
              "-DEIGEN_MALLOC_ALREADY_ALIGNED=1");

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
