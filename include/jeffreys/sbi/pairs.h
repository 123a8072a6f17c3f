// Tables of pairs of parameters and outcomes: how they are read, with which defaults a posterior is
// fitted to them, and how it is made of the fitted density.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jeffreys/fit/fit.h"
#include "jeffreys/sbi/posterior.h"

namespace jeffreys {

// Which columns of a table of pairs are which; others are ignored.
struct PairColumns {
  std::vector<std::string> parameters;
  std::vector<std::string> outcomes;
};

// What `columns` leaves empty: the parameters are the prior's, the outcomes all other columns.
[[nodiscard]] PairColumns complete_columns(PairColumns columns, const Table& table,
                                           const std::optional<Prior>& prior);

// How the columns of `table` are read: parameters are features, outcomes are conditions. With a
// prior the features have its distributions. Throws std::invalid_argument for a column that is both
// or given twice, for no parameter or no outcome, and for a prior of other parameters; InputError
// for a column that the table lacks or that holds text, and for a parameter that is the same in all
// rows. Parameters outside the prior's support are refused when rows are encoded.
[[nodiscard]] SchemaOptions pair_schema(const Table& table, const PairColumns& columns,
                                        const std::optional<Prior>& prior);

// The defaults for this many training pairs, parameters and outcomes, and for this proxy: chosen by
// experiment, see docs/evidence.md. The method is maximum likelihood, unless the proxy is an energy
// model; the dual method has to be asked for.
[[nodiscard]] FitOptions default_posterior_options(std::size_t rows, std::size_t parameters,
                                                   std::size_t outcomes,
                                                   const ModelChoice& proxy = FitOptions().proxy);

// The posterior of a density that was fitted to a table prepared with pair_schema.
[[nodiscard]] Posterior make_posterior(const PreparedTable& table, TabularDensity<float> density,
                                       std::optional<Prior> prior);

}  // namespace jeffreys
