#include "jeffreys/sbi/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

// From so many pairs on six transforms fit better than four (docs/evidence.md, "How many
// transforms").
constexpr std::size_t kManyPairs = 5000;

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_column(const Table& table, const std::string& name, const char* what) {
  if (table.find(name) != nullptr) return;
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  throw InputError(table.source, fmt::format("there is no column {} for the {}; the columns are {}",
                                             quote(name), what, fmt::join(names, ", ")));
}

void check_names(const PairColumns& columns) {
  if (columns.parameters.empty()) {
    throw std::invalid_argument("parameters: expected at least one column, got none");
  }
  if (columns.outcomes.empty()) {
    throw std::invalid_argument("outcomes: expected at least one column, got none");
  }
  std::set<std::string> names;
  for (const auto* list : {&columns.parameters, &columns.outcomes}) {
    for (const std::string& name : *list) {
      if (names.insert(name).second) continue;
      throw std::invalid_argument(fmt::format(
          "column {} is given twice among the parameters and the outcomes", quote(name)));
    }
  }
}

void check_prior(const PairColumns& columns, const Prior& prior) {
  const std::vector<std::string> names = prior.names();
  if (std::set<std::string>(names.begin(), names.end()) ==
      std::set<std::string>(columns.parameters.begin(), columns.parameters.end())) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("prior: expected distributions of the parameters {}, got those of {}",
                  fmt::join(columns.parameters, ", "), fmt::join(names, ", ")));
}

// A density of a table may have columns of text; a posterior has numbers.
void require_numbers(const Table& table, const PairColumns& columns) {
  for (const auto* names : {&columns.parameters, &columns.outcomes}) {
    for (const std::string& name : *names) {
      const Column* column = table.find(name);
      if (column->text_cells > 0) {
        throw InputError(
            table.source,
            fmt::format("column '{}' is numeric but has '{}' in {} cell{}; correct it", name,
                        column->first_text, column->text_cells, column->text_cells == 1 ? "" : "s"),
            table.line(column->first_text_row), column->place);
      }
      if (!column->is_text()) continue;
      throw InputError(table.source,
                       fmt::format("column '{}' holds text, such as '{}'; parameters and outcomes "
                                   "are numbers: write codes, or leave the column out{}",
                                   name, column->labels.empty() ? "" : column->labels.front(),
                                   names == &columns.outcomes ? " with --outcomes" : ""));
    }
  }
}

// A density of a table leaves out columns that say nothing; a posterior has all of its parameters.
void require_something_to_infer(const Table& table, const std::vector<std::string>& parameters) {
  for (auto name = parameters.begin(); name != parameters.end(); ++name) {
    const std::vector<double>& values = table.find(*name)->numbers;
    if (values.empty()) continue;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least == *most) {
      throw InputError(table.source, fmt::format("parameter {} is {} in all rows, so there is "
                                                 "nothing to infer: leave it out of the parameters",
                                                 quote(*name), *least));
    }
    const auto same = std::find_if(parameters.begin(), name, [&](const std::string& other) {
      return table.find(other)->numbers == values;
    });
    if (same == name) continue;
    throw InputError(table.source, fmt::format("the parameters {} and {} are equal in all rows: "
                                               "leave one out of the parameters",
                                               quote(*same), quote(*name)));
  }
}

}  // namespace

PairColumns complete_columns(PairColumns columns, const Table& table,
                             const std::optional<Prior>& prior) {
  if (columns.parameters.empty() && prior) columns.parameters = prior->names();
  if (!columns.outcomes.empty()) return columns;
  for (const Column& column : table.columns) {
    if (!among(columns.parameters, column.name)) columns.outcomes.push_back(column.name);
  }
  return columns;
}

SchemaOptions pair_schema(const Table& table, const PairColumns& columns,
                          const std::optional<Prior>& prior) {
  check_names(columns);
  if (prior) check_prior(columns, *prior);
  for (const std::string& name : columns.parameters) require_column(table, name, "parameters");
  for (const std::string& name : columns.outcomes) require_column(table, name, "outcomes");
  require_numbers(table, columns);
  require_something_to_infer(table, columns.parameters);
  SchemaOptions schema;
  schema.condition = columns.outcomes;
  schema.regress_on_conditions = true;
  schema.missing = Missing::drop;
  for (const Column& column : table.columns) {
    if (among(columns.parameters, column.name) || among(columns.outcomes, column.name)) continue;
    schema.ignore.push_back(column.name);
  }
  if (prior) schema.distributions = prior->distributions();
  return schema;
}

FitOptions default_posterior_options(std::size_t rows, std::size_t parameters, std::size_t outcomes,
                                     const ModelChoice& proxy) {
  FitOptions options = default_fit_options(rows, parameters, outcomes, proxy);
  options.calibration_fraction = 0;  // nobody asks for p-values of parameters
  if (proxy == ModelChoice{"energy"}) return options;
  // With several parameters long steps fit better, with few small batches too. And with two the
  // dual method was as near to exact posteriors as maximum likelihood, in four to five times the
  // time.
  const double rate = parameters <= 2 ? 1e-3 : 4e-3;
  options.train.learning_rate.main = rate;
  options.train.learning_rate.proxy = rate;
  options.train.batch_size = small_batch(rows);
  options.train.method = Method::mle;
  if (rows >= kManyPairs && parameters <= 4) options.flow.transforms += 2;
  return options;
}

Posterior make_posterior(const PreparedTable& table, TabularDensity<float> density,
                         std::optional<Prior> prior) {
  if (prior) {
    // In the order of the table, as the density has them.
    std::vector<Prior::Parameter> ordered;
    const auto distributions = prior->distributions();
    for (const std::string& name : density.schema().feature_names()) {
      ordered.push_back({name, distributions.at(name)});
    }
    prior = Prior(std::move(ordered));
  }
  Posterior posterior(std::move(density), std::move(prior));
  posterior.set_training_outcomes(table.training.context);
  return posterior;
}

}  // namespace jeffreys
