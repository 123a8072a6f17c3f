#include "sbi/committee.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kJudgingDraws = 200;
// Of the mixture, for each outcome; the kept ones are chosen among them.
constexpr Eigen::Index kCandidates = 60;
constexpr Eigen::Index kCandidatesAtOnce = 1 << 15;  // bounds the memory
constexpr Eigen::Index kNumbersAtOnce = 1 << 24;     // likewise
constexpr Eigen::Index kNeighbours = 5;

// A seed for each member and purpose, without relation to each other (the finalizer of SplitMix64).
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t purpose, std::size_t member) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15 * (purpose * 4096 + member + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Matrix<double> repeated(const Matrix<double>& rows, Eigen::Index times) {
  Matrix<double> result(rows.rows() * times, rows.cols());
  for (Eigen::Index r = 0; r < result.rows(); ++r) result.row(r) = rows.row(r / times);
  return result;
}

Matrix<double> uniforms(std::uint64_t seed, std::uint16_t purpose, Eigen::Index first,
                        Eigen::Index rows, Eigen::Index columns) {
  Matrix<double> numbers(rows, columns);
  kernels::fill_uniforms(kernels::RandomArguments<double>{{seed, purpose, 0},
                                                          static_cast<std::uint64_t>(first),
                                                          static_cast<std::size_t>(rows),
                                                          static_cast<std::size_t>(columns),
                                                          numbers.data()});
  return numbers;
}

// In units of the columns' deviations; a constant column counts for nothing.
Matrix<double> standardized(const Matrix<double>& x) {
  const Eigen::RowVectorXd mean = x.colwise().mean();
  const Eigen::RowVectorXd deviation =
      (x.rowwise() - mean).colwise().norm() / std::sqrt(static_cast<double>(x.rows()));
  const Eigen::RowVectorXd scale =
      (deviation.array() > 0).select(deviation.cwiseInverse(), Eigen::RowVectorXd::Zero(x.cols()));
  return (x.rowwise() - mean).array().rowwise() * scale.array();
}

// Outcomes with heavy tails as a posterior sees them, drawn in: otherwise a far value would make
// all others equal, and what lies between two rows would be mostly far out.
class DrawnIn {
 public:
  explicit DrawnIn(const Schema& schema) {
    for (const ColumnInfo& info : schema.columns()) {
      if (info.role == ColumnRole::condition) tails_.push_back(info.tails);
    }
  }

  [[nodiscard]] Matrix<double> draw_in(Matrix<double> outcomes) const {
    for (std::size_t i = 0; i < tails_.size(); ++i) {
      for (double& value : outcomes.col(static_cast<Eigen::Index>(i))) {
        value = tails_[i].draw_in(value);
      }
    }
    return outcomes;
  }

  [[nodiscard]] Matrix<double> push_out(Matrix<double> numbers) const {
    for (std::size_t i = 0; i < tails_.size(); ++i) {
      for (double& number : numbers.col(static_cast<Eigen::Index>(i))) {
        number = tails_[i].push_out(number);
      }
    }
    return numbers;
  }

 private:
  std::vector<HeavyTails> tails_;
};

// The place of each draw among the draws of the same mixture: (rank + 1/2) / draws, where the
// highest density has rank 0. Equal densities keep their order.
std::vector<double> own_places(const VectorView<double>& log_prob) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(log_prob.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return log_prob[a] > log_prob[b]; });
  std::vector<double> places(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    places[static_cast<std::size_t>(order[rank])] =
        (static_cast<double>(rank) + 0.5) / static_cast<double>(order.size());
  }
  return places;
}

// `count` choices, each with a probability in proportion to its weight: at equal distances on the
// weights laid end to end, so that none is chosen more or less often than its share rounded.
std::vector<std::size_t> systematic_choice(const std::vector<double>& weights, Eigen::Index count,
                                           double uniform) {
  const double step =
      std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(count);
  std::vector<std::size_t> chosen;
  double end = 0;
  std::size_t i = 0;
  for (Eigen::Index k = 0; k < count; ++k) {
    const double at = (static_cast<double>(k) + uniform) * step;
    while (i + 1 < weights.size() && end + weights[i] <= at) end += weights[i++];
    chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

Committee::Committee(std::vector<Posterior> members, PairRows pairs,
                     const std::vector<std::size_t>& part, int left_out_by, std::uint64_t seed)
    : members_(std::move(members)), pairs_(std::move(pairs)), seed_(seed) {
  judge_left_out(part, left_out_by);
}

Committee::Members Committee::all() const {
  Members members(members_.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  return members;
}

Matrix<double> Committee::candidates(const Members& members, const Matrix<double>& outcomes,
                                     Eigen::Index each, std::uint64_t purpose) const {
  const auto count = static_cast<Eigen::Index>(members.size()) * each;
  Matrix<double> result(outcomes.rows() * count, pairs_.parameters.cols());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Matrix<double> drawn = members_[members[m]]
                                     .sample(outcomes, each,
                                             {.far = FarObservations::extrapolate,
                                              .seed = seed_of(seed_, purpose, members[m])})
                                     .parameters;
    const Eigen::Index place = static_cast<Eigen::Index>(m) * each;
    for (Eigen::Index r = 0; r < outcomes.rows(); ++r) {
      result.middleRows(r * count + place, each) = drawn.middleRows(r * each, each);
    }
  }
  return result;
}

Vector<double> Committee::log_prob(const Members& members, const Matrix<double>& parameters,
                                   const Matrix<double>& outcomes) const {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  Matrix<double> each(parameters.rows(), static_cast<Eigen::Index>(members.size()));
  for (std::size_t m = 0; m < members.size(); ++m) {
    each.col(static_cast<Eigen::Index>(m)) =
        members_[members[m]]
            .log_prob(parameters, outcomes, {}, FarObservations::extrapolate)
            .unaryExpr([](double v) { return std::isnan(v) ? kNone : v; });
  }
  Vector<double> result(parameters.rows());
  for (Eigen::Index r = 0; r < result.size(); ++r) {
    const double most = each.row(r).maxCoeff();
    result[r] =
        std::isfinite(most) ? most + std::log((each.row(r).array() - most).exp().mean()) : most;
  }
  return result;
}

Committee::Judged Committee::judge(const Members& members, const PairRows& rows,
                                   std::uint64_t purpose) const {
  const Eigen::Index each = kJudgingDraws / static_cast<Eigen::Index>(members.size());
  const Eigen::Index count = each * static_cast<Eigen::Index>(members.size());
  const Eigen::Index columns = rows.parameters.cols() + rows.outcomes.cols();
  const Eigen::Index step = std::max<Eigen::Index>(kNumbersAtOnce / (count * columns), 1);
  Judged result{log_prob(members, rows.parameters, rows.outcomes), {}};
  for (Eigen::Index first = 0; first < rows.outcomes.rows(); first += step) {
    const Matrix<double> outcomes =
        rows.outcomes.middleRows(first, std::min(step, rows.outcomes.rows() - first));
    const auto random = purpose + (static_cast<std::uint64_t>(first) << 32);
    const Matrix<double> drawn = candidates(members, outcomes, each, random);
    const Vector<double> of_drawn = log_prob(members, drawn, repeated(outcomes, count));
    for (Eigen::Index r = 0; r < outcomes.rows(); ++r) {
      const auto higher =
          (of_drawn.segment(r * count, count).array() > result.log_prob[first + r]).count();
      result.places.push_back((static_cast<double>(higher) + 0.5) / static_cast<double>(count + 1));
    }
  }
  return result;
}

void Committee::judge_left_out(const std::vector<std::size_t>& part, int left_out_by) {
  const std::size_t count = members_.size();
  const auto apart = static_cast<std::size_t>(left_out_by);
  left_out_.log_prob_alone = Vector<double>::Zero(pairs_.parameters.rows());
  left_out_.log_prob.resize(pairs_.parameters.rows());
  left_out_.places.resize(part.size());
  std::vector<double> alone;
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<Eigen::Index> rows;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == p) rows.push_back(static_cast<Eigen::Index>(i));
    }
    const PairRows left{pairs_.parameters(rows, Eigen::all), pairs_.outcomes(rows, Eigen::all)};
    Members without;
    for (std::size_t k = 0; k < apart; ++k) without.push_back((p + count - k) % count);
    const Judged together = judge(without, left, 0);
    left_out_.log_prob(rows) = together.log_prob;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      left_out_.places[static_cast<std::size_t>(rows[i])] = together.places[i];
    }
    for (const std::size_t member : without) {
      const Judged one = judge({member}, left, 1);
      left_out_.log_prob_alone(rows) += one.log_prob / static_cast<double>(apart);
      alone.insert(alone.end(), one.places.begin(), one.places.end());
    }
  }
  correction_ =
      RankCorrection::for_mixture(alone, left_out_.places, left_out_by, static_cast<int>(count));
  const RankCorrection of_these(left_out_.places);
  for (std::size_t i = 0; i < part.size(); ++i) {
    left_out_.log_prob[static_cast<Eigen::Index>(i)] +=
        std::log(of_these.density(left_out_.places[i]));
  }
}

// Each around a pair's outcomes: up to half way towards one of its nearest neighbours, or as far
// away from it. What lies between pairs is what the posterior will be asked, and so the outcomes
// are as widely spread as those of the pairs.
Matrix<double> Committee::outcomes_around(Eigen::Index count) const {
  const DrawnIn map(members_.front().density().schema());
  const Matrix<double> outcomes = map.draw_in(pairs_.outcomes);
  const Matrix<double> scaled = standardized(outcomes);
  const Matrix<double> random = uniforms(seed_, kCommitteeOutcomes, 0, count, 3);
  const Eigen::Index rows = scaled.rows();
  const Eigen::Index neighbours = std::min(kNeighbours, rows - 1);
  const auto pick = [](double uniform, Eigen::Index of) {
    return std::min(static_cast<Eigen::Index>(uniform * static_cast<double>(of)), of - 1);
  };
  Matrix<double> result(count, pairs_.outcomes.cols());
  std::vector<Eigen::Index> order(static_cast<std::size_t>(rows));
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index own = pick(random(k, 0), rows);
    Vector<double> distance = (scaled.rowwise() - scaled.row(own)).rowwise().squaredNorm();
    distance[own] = -1;  // the first, also before rows that are equal to it
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    std::partial_sort(order.begin(), order.begin() + neighbours + 1, order.end(),
                      [&](Eigen::Index a, Eigen::Index b) {
                        return distance[a] != distance[b] ? distance[a] < distance[b] : a < b;
                      });
    const Eigen::Index other = order[static_cast<std::size_t>(1 + pick(random(k, 1), neighbours))];
    result.row(k) =
        outcomes.row(own) + (random(k, 2) - 0.5) * (outcomes.row(other) - outcomes.row(own));
  }
  return map.push_out(std::move(result));
}

// Fills the rows of `kept` for these outcomes, which are its rows from `first` on.
void Committee::keep_draws(const Matrix<double>& outcomes, Eigen::Index first,
                           PairRows& kept) const {
  const Members members = all();
  const auto size = static_cast<Eigen::Index>(members.size());
  const Eigen::Index each = (kCandidates + size - 1) / size;
  const Eigen::Index count = each * size;
  const Eigen::Index draws = kept.parameters.rows() / kept.outcomes.rows();
  const Matrix<double> drawn =
      candidates(members, outcomes, each, 2 + static_cast<std::uint64_t>(first));
  const Vector<double> of_drawn = log_prob(members, drawn, repeated(outcomes, count));
  const Matrix<double> random = uniforms(seed_, kCommitteeChoice, first, outcomes.rows(), 1);
  for (Eigen::Index r = 0; r < outcomes.rows(); ++r) {
    std::vector<double> weights = own_places(of_drawn.segment(r * count, count));
    for (double& weight : weights) weight = correction_->density(weight);
    Eigen::Index row = (first + r) * draws;
    for (const std::size_t choice : systematic_choice(weights, draws, random(r, 0))) {
      kept.parameters.row(row++) = drawn.row(r * count + static_cast<Eigen::Index>(choice));
    }
  }
}

PairRows Committee::draw(Eigen::Index observations, Eigen::Index draws,
                         const std::function<bool()>& should_stop) const {
  PairRows kept{Matrix<double>(observations * draws, pairs_.parameters.cols()),
                outcomes_around(observations)};
  const Eigen::Index step = std::max<Eigen::Index>(kCandidatesAtOnce / kCandidates, 1);
  for (Eigen::Index first = 0; first < observations; first += step) {
    if (should_stop && should_stop()) return {};
    keep_draws(kept.outcomes.middleRows(first, std::min(step, observations - first)), first, kept);
  }
  kept.outcomes = repeated(kept.outcomes, draws);
  return kept;
}

}  // namespace jeffreys
