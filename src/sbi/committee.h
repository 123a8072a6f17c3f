// Several posteriors that were fitted to parts of the same pairs, as one: an equal mixture of them,
// corrected by the pairs that some of them have not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "jeffreys/sbi/posterior.h"
#include "sbi/rank_correction.h"

namespace jeffreys {

// Parameters and outcomes, row by row, in the order of a posterior's names.
struct PairRows {
  Matrix<double> parameters;
  Matrix<double> outcomes;
};

class Committee {
 public:
  // part: of each pair; member m was fitted without the parts m, m + 1, ... m + left_out_by - 1,
  // in a circle. Every pair was so left out by as many members.
  Committee(std::vector<Posterior> members, PairRows pairs, const std::vector<std::size_t>& part,
            int left_out_by, std::uint64_t seed);

  // What pairs say about the members that have not seen them, in the pairs' order.
  struct LeftOut {
    Vector<double> log_prob_alone;  // mean over these members
    Vector<double> log_prob;        // of their mixture, corrected
    std::vector<double> places;     // of their mixture (rank_correction.h), before the correction
  };
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }

  // New pairs: `observations` outcomes around those of pairs, and for each of them
  // `draws` parameters of the corrected mixture. should_stop is asked now and then: no rows if it
  // says so.
  [[nodiscard]] PairRows draw(Eigen::Index observations, Eigen::Index draws,
                              const std::function<bool()>& should_stop) const;

 private:
  using Members = std::vector<std::size_t>;
  struct Judged {
    Vector<double> log_prob;
    std::vector<double> places;
  };

  [[nodiscard]] Members all() const;
  // `each` draws of every member for every row of outcomes; those of a row follow each other.
  [[nodiscard]] Matrix<double> candidates(const Members& members, const Matrix<double>& outcomes,
                                          Eigen::Index each, std::uint64_t purpose) const;
  // Of the mixture, row by row.
  [[nodiscard]] Vector<double> log_prob(const Members& members, const Matrix<double>& parameters,
                                        const Matrix<double>& outcomes) const;
  [[nodiscard]] Judged judge(const Members& members, const PairRows& rows,
                             std::uint64_t purpose) const;
  void judge_left_out(const std::vector<std::size_t>& part, int left_out_by);
  [[nodiscard]] Matrix<double> outcomes_around(Eigen::Index count) const;
  void keep_draws(const Matrix<double>& outcomes, Eigen::Index first, PairRows& kept) const;

  std::vector<Posterior> members_;
  PairRows pairs_;
  std::uint64_t seed_;
  LeftOut left_out_;
  std::optional<RankCorrection> correction_;
};

}  // namespace jeffreys
