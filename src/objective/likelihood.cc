#include "jeffreys/objective/likelihood.h"

namespace jeffreys {

double likelihood_data_weight(Eigen::Index rows) { return -1.0 / static_cast<double>(rows); }

Vector<double> entropy_sample_weights(const VectorView<double>& log_p, double entropy_weight) {
  return log_p * (entropy_weight / static_cast<double>(log_p.size()));
}

}  // namespace jeffreys
