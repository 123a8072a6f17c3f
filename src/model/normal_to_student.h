// The increasing map that turns standard normal numbers into Student-t ones.
#pragma once

#include <memory>
#include <vector>

namespace jeffreys {

// Between nodes asinh(t / sqrt(nu)), which grows like a square where t grows like exp, is a cubic
// with the exact slopes: t is right to 1e-9 of its size, in a hundredth of the time of a quantile.
class NormalToStudent {
 public:
  explicit NormalToStudent(double degrees_of_freedom);

  double operator()(double normal) const;

  // One for all flows with these degrees of freedom.
  static std::shared_ptr<const NormalToStudent> shared(double degrees_of_freedom);

 private:
  struct Node {
    double value;  // of asinh(t / sqrt(nu))
    double slope;  // over the distance of two nodes
  };

  [[nodiscard]] double exact(double size) const;
  [[nodiscard]] Node node_at(double size) const;

  double freedom_;
  std::vector<Node> nodes_;
};

}  // namespace jeffreys
