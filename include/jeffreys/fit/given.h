// Columns given at will: the density of some columns given others, samples of the others, and what
// stands in missing cells, all of it without a new fit. Proposals come from the conditional of a
// mixture that was fitted to samples of the model; their weights p(given, rest) / g(rest) have the
// density of what is given as their mean, and rows drawn by their weights follow the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jeffreys/fit/tabular_density.h"

namespace jeffreys {

struct GivenSamples {
  Table table;
  double effective_samples = 0;  // of the proposals for a row of `given`: the fewest
};

// `each` rows for each row of `given`, which has values of some columns; a missing cell is not
// given. Conditions must all be there. Throws InputError for a column that the model does not have,
// for values that are impossible or so unusual that too few proposals count, and if nothing is left
// to draw.
template <typename T>
[[nodiscard]] GivenSamples sample_given(const TabularDensity<T>& density, const Table& given,
                                        Eigen::Index each, std::uint64_t seed, From from);

// Whether a table gives more than conditions, so that samples of it are those of sample_given.
[[nodiscard]] bool gives_features(const Table& given, const Schema& schema);

// Log density of `columns` (none: all that are not given) given those of `given` and the
// conditions; the others are integrated out and need not be in the table. Unusual rows are kept.
// Throws InputError for columns that the model or the table does not have.
template <typename T>
[[nodiscard]] TableLogProb log_prob_given(const TabularDensity<T>& density, const Table& table,
                                          const std::vector<std::string>& columns,
                                          const std::vector<std::string>& given, From from);

// Takes the scores of rows away for which too few proposals count, and says so in `unusual`.
void withhold_uncertain(TableLogProb& scores);

enum class Fill {
  draw,    // as the model would draw them: keeps the spread of the columns
  mean,    // the expectation; of a category the most probable label
  median,  // likewise
};

struct Imputed {
  // The table, `draws` times, one after the other, with its missing cells of the model's columns
  // filled; a column that it lacks is added.
  Table table;
  std::size_t cells = 0;  // that were filled, in one copy
  // Rows that stay as they are, and why.
  std::map<std::size_t, std::string> left = {};
};

// Throws InputError for a table that the schema cannot read.
template <typename T>
[[nodiscard]] Imputed impute(const TabularDensity<T>& density, const Table& table, Fill fill,
                             int draws, std::uint64_t seed, From from);

}  // namespace jeffreys
