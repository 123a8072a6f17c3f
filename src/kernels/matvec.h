// Products of a row-major matrix [rows][columns] with a vector, for power iterations.
#pragma once

#include <cstddef>

namespace jeffreys::kernels {

template <typename T>
struct MatVecArguments {
  const T* matrix;
  std::size_t rows;
  std::size_t columns;
  const T* vector;
  T* result;
};

// result[rows] = matrix vector[columns]
void matvec(const MatVecArguments<float>&);
void matvec(const MatVecArguments<double>&);

// result[columns] = matrix^T vector[rows]
void matvec_transposed(const MatVecArguments<float>&);
void matvec_transposed(const MatVecArguments<double>&);

}  // namespace jeffreys::kernels
