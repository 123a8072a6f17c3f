#include "table/regression.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace jeffreys {

LinearFit regress(const Matrix<double>& context, const Vector<double>& values,
                  std::span<const std::size_t> rows) {
  const auto count = rows.empty() ? context.rows() : static_cast<Eigen::Index>(rows.size());
  Matrix<double> c(count, context.cols());
  Vector<double> v(count);
  for (Eigen::Index r = 0; r < count; ++r) {
    const Eigen::Index row =
        rows.empty() ? r : static_cast<Eigen::Index>(rows[static_cast<std::size_t>(r)]);
    c.row(r) = context.row(row);
    v(r) = values(row);
  }
  const Eigen::RowVectorXd center = c.colwise().mean();
  const double mean = v.mean();
  c.rowwise() -= center;
  v.array() -= mean;
  Matrix<double> products = c.transpose() * c;
  products.diagonal().array() += 1;
  const Vector<double> slopes = products.ldlt().solve(c.transpose() * v);
  LinearFit fit;
  fit.coefficients.assign(slopes.data(), slopes.data() + slopes.size());
  fit.coefficients.push_back(mean - center * slopes);
  fit.deviation = std::sqrt((v - c * slopes).squaredNorm() / static_cast<double>(count));
  return fit;
}

}  // namespace jeffreys
