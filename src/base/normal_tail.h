// The standard normal distribution by logarithms of probabilities, which keep their precision where
// the probabilities themselves are close to 0 or to 1. Q(x) = 1 - Phi(x) is the upper tail.
#pragma once

namespace jeffreys {

double log_normal_density(double x);
double log_upper_tail(double x);
// The x >= 0 with log Q(x) = log_probability, which is at most log(1/2).
double upper_tail_quantile(double log_probability);

// log(Phi(begin + width) - Phi(begin)) for a finite begin and a width > 0, which may be infinite.
double log_mass_between(double begin, double width);
// The inverse: the width for a mass that is at most half of that above begin.
double width_of_mass(double begin, double log_mass);

}  // namespace jeffreys
