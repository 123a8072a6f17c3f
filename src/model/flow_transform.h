// One transform of a flow, on tiles of 64 rows: [features][64]. A new kind of transform is one
// class and one line of make_transforms() in spline_flow_impl.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "jeffreys/model/parameter_layout.h"

namespace jeffreys {

template <typename T>
class FlowTransform {
 public:
  virtual ~FlowTransform() = default;
  [[nodiscard]] virtual std::unique_ptr<FlowTransform> clone() const = 0;

  // Takes over the flat buffer of the whole model.
  virtual void pack(const T* parameters) = 0;

  // Numbers that the backward pass of one tile needs.
  [[nodiscard]] virtual std::size_t tape_size() const = 0;

  // y = t(x), log_determinant += log |dy/dx|. x and y may be the same memory.
  virtual void forward(const T* x, const T* context, T* tape, T* y, T* log_determinant) const = 0;

  // x = t^-1(y), log_determinant += log |dy/dx| at x. Leaves the same tape as forward.
  virtual void inverse(const T* y, const T* context, T* tape, T* x, T* log_determinant) const = 0;

  // As gradient_stride() rounds up: kernels add up whole aligned vectors. So is the size of a tape.
  [[nodiscard]] virtual std::size_t accumulator_size() const = 0;

  // Given d objective / dy and d objective / d log_determinant, writes d objective / dx (unless
  // null) over [features][64], adds to context_gradient [context][64] (unless null) and to the
  // accumulator (unless null). output_gradient and input_gradient may be the same memory.
  virtual void backward(const T* tape, const T* output_gradient, const T* log_determinant_gradient,
                        T* input_gradient, T* context_gradient, T* accumulator) const = 0;

  // Brings an accumulator to the flat buffer of the whole model.
  virtual void add_gradient(const T* accumulator, const T* parameters, T* gradient) const = 0;

  // Which weights of a block this transform uses, row-major as the block; empty for a block that
  // has no mask, or is another transform's.
  [[nodiscard]] virtual std::vector<std::uint8_t> mask(const ParameterBlock& block) const = 0;

 protected:
  FlowTransform() = default;
  FlowTransform(const FlowTransform&) = default;
  FlowTransform& operator=(const FlowTransform&) = default;
  FlowTransform(FlowTransform&&) noexcept = default;
  FlowTransform& operator=(FlowTransform&&) noexcept = default;
};

}  // namespace jeffreys
