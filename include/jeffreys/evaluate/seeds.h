// A claim about a method is one about all seeds: the mean and spread of a number over runs with
// different seeds, and the difference of two methods that ran with the same ones.
#pragma once

#include <cstddef>
#include <span>

namespace jeffreys {

struct SeedSummary {
  double mean = 0;
  double standard_deviation = 0;  // of one run (n - 1 in the denominator); NaN for one run
  std::size_t n = 0;
};

// One value for each seed. Throws std::invalid_argument for none.
[[nodiscard]] SeedSummary seed_summary(std::span<const double> values);

// The mean difference b - a with a 95 % interval by Student's t. One pair alone excludes nothing:
// its interval is from minus to plus infinity.
struct PairedInterval {
  double mean = 0;
  double lower = 0;
  double upper = 0;
  std::size_t n = 0;
};

// a[i] and b[i] are of the same seed. Throws std::invalid_argument unless there are as many of one
// as of the other, and at least one.
[[nodiscard]] PairedInterval paired_interval(std::span<const double> a, std::span<const double> b);

// The t below which Student's distribution has this probability, 0 < probability < 1.
[[nodiscard]] double student_t_quantile(double probability, std::size_t degrees_of_freedom);

}  // namespace jeffreys
