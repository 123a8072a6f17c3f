// Two parameters with a uniform prior on a square, and two outcomes. Under a prior that is flat
// everywhere the posterior would be copies of the noise, moved to where they explain the outcome;
// the posterior is what of them lies in the square.
#pragma once

#include <string>

#include "jeffreys/truth/task.h"

namespace jeffreys {

class SquareTask : public Task {
 public:
  ParameterRange prior_range() const override;

 protected:
  // `copies`: how many parameters lead to the same outcome with the same noise.
  SquareTask(std::string name, double lower, double upper, int copies);

  double lower() const { return lower_; }
  double upper() const { return upper_; }
  bool holds(Row parameter) const;

 private:
  // The part of the copies that lies in the square.
  virtual double part_inside(Row observation) const = 0;
  // Holds all of the copies but a part of 1e-11.
  virtual ParameterRange reach(Row observation) const = 0;

  void place_prior(const Noise& noise, std::span<double> parameter) const override;
  double prior(Row parameter) const override;
  double evidence(Row observation) const override;
  ParameterRange range_given(Row observation) const override;

  double lower_;
  double upper_;
  int copies_;
};

// The probability that a standard normal number lies between two bounds, accurate in both tails;
// 0 if they are in the wrong order.
double normal_probability(double from, double to);

}  // namespace jeffreys
