#include "fit/gap_fills.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

// Early on the model knows less about a row than the mixture does.
constexpr std::int64_t kFirstSweep = 100;
constexpr std::int64_t kSweepEvery = 10;
constexpr double kStepWidth = 0.5;  // of standardised numbers, over the root of how many they are
constexpr std::uint64_t kAtTheStart = ~std::uint64_t{0};
constexpr std::uint64_t kOfHeldOut = kAtTheStart - 1;

Matrix<double> random_numbers(Eigen::Index rows, Eigen::Index columns,
                              const kernels::RandomKey& key, bool normal) {
  Matrix<double> numbers(rows, columns);
  const kernels::RandomArguments<double> arguments{
      key, 0, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), numbers.data()};
  if (normal) {
    kernels::fill_normals(arguments);
  } else {
    kernels::fill_uniforms(arguments);
  }
  return numbers;
}

Matrix<double> placed(const EncodedRows& rows, const std::vector<std::size_t>& chosen,
                      std::uint64_t seed, std::uint64_t iteration, Vector<double>* log_jacobian) {
  Matrix<double> x = rows.x(chosen, Eigen::all);
  const kernels::RandomKey key{seed, kGapPlaces, iteration};
  if (log_jacobian != nullptr) *log_jacobian = rows.log_jacobian(chosen);
  if (rows.cells.open() == 0) return x;
  rows.cells.place(chosen, random_numbers(x.rows(), rows.cells.open(), key, false), x,
                   log_jacobian);
  return x;
}

std::vector<std::size_t> all_rows(const EncodedRows& rows) {
  std::vector<std::size_t> all(static_cast<std::size_t>(rows.size()));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Random numbers for every row, of which a pattern takes those of its rows.
class FillNoise {
 public:
  FillNoise(Eigen::Index rows, Eigen::Index features, std::uint64_t seed, std::uint64_t iteration)
      : uniforms_(random_numbers(rows, 1 + features, {seed, kGapChoices, iteration}, false)),
        normals_(random_numbers(rows, features, {seed, kGapNumbers, iteration}, true)) {}

  [[nodiscard]] GapNoise of(const GapConditional& conditional,
                            const std::vector<std::size_t>& rows) const {
    const Matrix<double> uniforms = uniforms_(rows, Eigen::all);
    const Matrix<double> normals = normals_(rows, Eigen::all);
    return {uniforms.col(0), normals.leftCols(conditional.numbers()),
            uniforms.middleCols(1, conditional.classes())};
  }

 private:
  Matrix<double> uniforms_;
  Matrix<double> normals_;
};

Matrix<double> contexts(const EncodedRows& rows, const std::vector<std::size_t>& chosen) {
  return rows.context.cols() > 0 ? Matrix<double>(rows.context(chosen, Eigen::all))
                                 : Matrix<double>(1, 0);
}

}  // namespace

// The rows with gaps while a sweep moves them.
struct GapFills::Moves {
  std::vector<std::size_t> place;  // of each row of the data among them
  Matrix<double> x;
  Matrix<double> context;
  Vector<double> log_density;
  std::uint64_t iteration;

  [[nodiscard]] Vector<double> evaluate(const Density<float>& model,
                                        const Matrix<double>& rows) const {
    return model.log_prob(Matrix<float>(rows.cast<float>()), Matrix<float>(context.cast<float>()))
        .cast<double>();
  }

  // Takes the proposed rows where they are likely enough, or the present ones cannot be judged.
  void accept(const Matrix<double>& proposed, const Vector<double>& density,
              const Vector<double>& log_ratio, const Vector<double>& uniforms) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (!std::isfinite(density(i))) continue;
      if (std::isfinite(log_density(i)) && !(std::log(uniforms(i)) < log_ratio(i))) continue;
      x.row(i) = proposed.row(i);
      log_density(i) = density(i);
    }
  }
};

GapFills::GapFills(const RowShape& shape, const EncodedRows& rows, std::uint64_t seed,
                   std::int64_t batches)
    : shape_(shape),
      rows_(rows),
      seed_(seed),
      mixture_(shape, placed(rows, all_rows(rows), seed, kAtTheStart, nullptr), rows.context,
               rows.gaps, seed),
      every_(std::max(kSweepEvery, batches)),
      patterns_(rows_by_gaps(rows.gaps)),
      state_(std::make_shared<std::vector<float>>()) {
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    first_gap_.push_back(state_->size());
    if (!rows.has_gaps(row)) continue;
    open_rows_.push_back(static_cast<std::size_t>(row));
    state_->resize(state_->size() + static_cast<std::size_t>(rows.gaps.row(row).count()));
  }
  Matrix<double> x = placed(rows, all_rows(rows), seed, kAtTheStart, nullptr);
  const FillNoise noise(x.rows(), x.cols(), seed, kAtTheStart);
  for (const auto& [gaps, own_rows] : patterns_) {
    const GapConditional conditional(mixture_, as_gaps(gaps));
    Matrix<double> own = x(own_rows, Eigen::all);
    conditional.draw(noise.of(conditional, own_rows), contexts(rows, own_rows), false, own);
    x(own_rows, Eigen::all) = own;
  }
  read({.place = all_rows(rows),
        .x = std::move(x),
        .context = {},
        .log_density = {},
        .iteration = 0});
}

void GapFills::write(std::span<const std::size_t> rows, Eigen::Ref<Matrix<double>> x) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(rows[i]);
    if (!rows_.has_gaps(row)) continue;
    std::size_t next = first_gap_[rows[i]];
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      if (rows_.gaps(row, j)) {
        x(static_cast<Eigen::Index>(i), j) = static_cast<double>((*state_)[next++]);
      }
    }
  }
}

void GapFills::read(const Moves& moves) {
  for (const std::size_t row : open_rows_) {
    std::size_t next = first_gap_[row];
    const auto place = static_cast<Eigen::Index>(moves.place[row]);
    for (Eigen::Index j = 0; j < moves.x.cols(); ++j) {
      if (rows_.gaps(static_cast<Eigen::Index>(row), j)) {
        (*state_)[next++] = static_cast<float>(moves.x(place, j));
      }
    }
  }
}

bool GapFills::due(std::int64_t iteration) const {
  return iteration >= kFirstSweep && iteration % every_ == 0;
}

void GapFills::sweep(const Density<float>& model, std::uint64_t iteration) {
  if (open_rows_.empty()) return;
  Moves moves{.place = std::vector<std::size_t>(first_gap_.size(), 0),
              .x = placed(rows_, open_rows_, seed_, iteration, nullptr),
              .context = contexts(rows_, open_rows_),
              .log_density = {},
              .iteration = iteration};
  for (std::size_t i = 0; i < open_rows_.size(); ++i) moves.place[open_rows_[i]] = i;
  write(open_rows_, moves.x);
  moves.log_density = moves.evaluate(model, moves.x);
  propose(model, moves);
  step(model, moves);
  draw_classes(model, moves);
  read(moves);
}

void GapFills::propose(const Density<float>& model, Moves& moves) const {
  const FillNoise noise(rows_.size(), moves.x.cols(), seed_, moves.iteration);
  Matrix<double> proposed = moves.x;
  Vector<double> log_ratio(moves.x.rows());
  for (const auto& [gaps, own_rows] : patterns_) {
    const GapConditional conditional(mixture_, as_gaps(gaps));
    std::vector<std::size_t> places;
    for (const std::size_t row : own_rows) places.push_back(moves.place[row]);
    const Matrix<double> context = contexts(rows_, own_rows);
    Matrix<double> own = moves.x(places, Eigen::all);
    const Vector<double> back = conditional.log_density(own, context);
    const Vector<double> there =
        conditional.draw(noise.of(conditional, own_rows), context, false, own);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto from = static_cast<Eigen::Index>(i);
      const auto to = static_cast<Eigen::Index>(places[i]);
      proposed.row(to) = own.row(from);
      log_ratio(to) = back(from) - there(from);
    }
  }
  const Vector<double> density = moves.evaluate(model, proposed);
  log_ratio += density - moves.log_density;
  const Vector<double> uniforms =
      random_numbers(moves.x.rows(), 2, {seed_, kGapAcceptance, moves.iteration}, false).col(0);
  moves.accept(proposed, density, log_ratio, uniforms);
}

void GapFills::step(const Density<float>& model, Moves& moves) const {
  Matrix<double> proposed = moves.x;
  const kernels::RandomKey key{seed_, kGapSteps, moves.iteration};
  const Matrix<double> noise = random_numbers(proposed.rows(), proposed.cols(), key, true);
  for (std::size_t i = 0; i < open_rows_.size(); ++i) {
    const auto gaps =
        rows_.gaps.row(static_cast<Eigen::Index>(open_rows_[i])).head(shape_.features);
    const double width =
        kStepWidth / std::sqrt(static_cast<double>(std::max<Eigen::Index>(gaps.count(), 1)));
    const auto row = static_cast<Eigen::Index>(i);
    for (Eigen::Index j = 0; j < shape_.features; ++j) {
      if (gaps(j)) proposed(row, j) += width * noise(row, j);
    }
  }
  const Vector<double> density = moves.evaluate(model, proposed);
  const Vector<double> uniforms =
      random_numbers(moves.x.rows(), 2, {seed_, kGapAcceptance, moves.iteration}, false).col(1);
  moves.accept(proposed, density, density - moves.log_density, uniforms);
}

void GapFills::draw_classes(const Density<float>& model, Moves& moves) const {
  const Matrix<double> uniforms =
      random_numbers(moves.x.rows(), static_cast<Eigen::Index>(shape_.categories.size()),
                     {seed_, kGapClasses, moves.iteration}, false);
  for (std::size_t c = 0; c < shape_.categories.size(); ++c) {
    const Eigen::Index column = shape_.features + static_cast<Eigen::Index>(c);
    if (!rows_.gaps.col(column).any()) continue;
    Matrix<double> all(moves.x.rows(), shape_.categories[c]);
    Matrix<double> tried = moves.x;
    for (Eigen::Index k = 0; k < all.cols(); ++k) {
      tried.col(column).setConstant(static_cast<double>(k));
      all.col(k) = moves.evaluate(model, tried);
    }
    for (Eigen::Index i = 0; i < all.rows(); ++i) {
      if (!rows_.gaps(static_cast<Eigen::Index>(open_rows_[static_cast<std::size_t>(i)]), column) ||
          !all.row(i).allFinite()) {
        continue;
      }
      const Eigen::ArrayXd shares = (all.row(i).array() - all.row(i).maxCoeff()).exp();
      double rest = uniforms(i, static_cast<Eigen::Index>(c)) * shares.sum();
      Eigen::Index chosen = 0;
      while (chosen + 1 < shares.size() && rest >= shares(chosen)) rest -= shares(chosen++);
      moves.x(i, column) = static_cast<double>(chosen);
      moves.log_density(i) = all(i, chosen);
    }
  }
}

GapFills::HeldOut GapFills::held_out(const EncodedRows& rows, Eigen::Index points) const {
  std::vector<std::size_t> repeated;
  for (Eigen::Index p = 0; p < points; ++p) {
    for (Eigen::Index r = 0; r < rows.size(); ++r) repeated.push_back(static_cast<std::size_t>(r));
  }
  HeldOut result{rows.take(repeated), {}};
  EncodedRows& all = result.rows;
  Vector<double> log_jacobian;
  all.x = placed(rows, repeated, seed_, kOfHeldOut, &log_jacobian);
  result.log_weights = log_jacobian - all.log_jacobian;
  const FillNoise noise(all.x.rows(), all.x.cols(), seed_, kOfHeldOut);
  for (const auto& [gaps, own_rows] : rows_by_gaps(all.gaps)) {
    const GapConditional conditional(mixture_, as_gaps(gaps));
    Matrix<double> own = all.x(own_rows, Eigen::all);
    result.log_weights(own_rows) -=
        conditional.draw(noise.of(conditional, own_rows), contexts(all, own_rows), false, own);
    all.x(own_rows, Eigen::all) = own;
  }
  return result;
}

EncodedRows with_gaps_filled(const RowShape& shape, const EncodedRows& rows, std::uint64_t seed) {
  EncodedRows result = rows;
  if (rows.gaps.size() > 0) GapFills(shape, rows, seed).write(all_rows(rows), result.x);
  return result;
}

}  // namespace jeffreys
