#include "torch/twin_spline.h"

#include <cmath>
#include <vector>

namespace jeffreys::twin {
namespace {

using torch::Tensor;

constexpr double kBound = 5.0;
constexpr double kMinSlope = 1e-3;

// Bounds raw values smoothly by +-|log kMinSlope| / steepness.
Tensor soft_clip(const Tensor& raw, double steepness) {
  return raw / (1 + (raw * (steepness / std::log(kMinSlope))).abs());
}

Tensor knot_positions(const Tensor& raw) {
  const Tensor shares = torch::softmax(soft_clip(raw, 2), -1);
  return kBound * (2 * torch::constant_pad_nd(shares, {1, 0}).cumsum(-1) - 1);
}

// The bin of each value, and what the spline has at its ends.
struct Bin {
  Tensor inside;  // false: the identity acts
  Tensor x0, x1, y0, y1, d0, d1;

  [[nodiscard]] Tensor width() const { return x1 - x0; }
  [[nodiscard]] Tensor height() const { return y1 - y0; }
};

// axis 0: `values` lie between horizontal knots; 1: between vertical ones.
Bin find_bin(const Knots& knots, const Tensor& values, std::int64_t axis) {
  const std::int64_t bins = knots.table.size(-1) - 1;
  std::vector<std::int64_t> shape = values.sizes().vec();
  shape.insert(shape.end(), {3, bins + 1});
  const Tensor table = knots.table.expand(shape);
  const Tensor index =
      table.detach().select(-2, axis).lt(values.detach().unsqueeze(-1)).sum(-1) - 1;
  const Tensor lower = index.clamp(0, bins - 1);
  shape.back() = 2;
  const Tensor ends =
      table.gather(-1, torch::stack({lower, lower + 1}, -1).unsqueeze(-2).expand(shape));
  const std::vector<Tensor> parts = ends.flatten(-2).unbind(-1);
  return {index.eq(lower), parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
}

}  // namespace

Knots make_knots(const Tensor& raw) {
  const std::int64_t bins = (raw.size(-1) + 1) / 3;
  const std::vector<Tensor> parts = raw.split_with_sizes({bins, bins, bins - 1}, -1);
  const Tensor log_slopes = torch::constant_pad_nd(soft_clip(parts[2], 1), {1, 1});
  return {torch::stack({knot_positions(parts[0]), knot_positions(parts[1]), log_slopes.exp()}, -2)};
}

// Outside, the formulas run on the lower end of the first or last bin, so that the branch that is
// not taken has finite derivatives: autograd would turn 0 * infinity into NaN.
SplineValue spline_forward(const Knots& knots, const Tensor& x) {
  const Bin bin = find_bin(knots, x, 0);
  const Tensor t = (torch::where(bin.inside, x, bin.x0) - bin.x0) / bin.width();
  const Tensor s = bin.height() / bin.width();
  const Tensor mixed = t * (1 - t);
  const Tensor denominator = s + (bin.d0 + bin.d1 - 2 * s) * mixed;
  const Tensor y = bin.y0 + bin.height() * (s * t.square() + bin.d0 * mixed) / denominator;
  const Tensor slope = s.square() *
                       (2 * s * mixed + bin.d0 * (1 - t).square() + bin.d1 * t.square()) /
                       denominator.square();
  return {torch::where(bin.inside, y, x),
          torch::where(bin.inside, slope.log(), torch::zeros_like(slope))};
}

Tensor spline_inverse(const Knots& knots, const Tensor& y) {
  const Bin bin = find_bin(knots, y, 1);
  const Tensor e = torch::where(bin.inside, y, bin.y0) - bin.y0;
  const Tensor s = bin.height() / bin.width();
  const Tensor bend = e * (bin.d0 + bin.d1 - 2 * s);
  const Tensor a = bin.height() * (s - bin.d0) + bend;
  const Tensor b = bin.height() * bin.d0 - bend;
  const Tensor c = -s * e;
  const Tensor t = 2 * c / (-b - (b.square() - 4 * a * c).sqrt());
  return torch::where(bin.inside, bin.x0 + t * bin.width(), y);
}

}  // namespace jeffreys::twin
