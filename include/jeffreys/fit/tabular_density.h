// A density over the columns of a table: the schema that turns rows into numbers, the main model,
// and the proxy model where one was trained. Speaks the user's units and column names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/fit/energy_check.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/table/schema.h"
#include "jeffreys/table/table.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

// Which of the two models speaks.
enum class From { main, proxy };

// Log densities of rows in the user's units; of a row with gaps, that of the cells which it has, by
// importance sampling (src/fit/gap_scores.h). Of a value on a lattice it is the probability of its
// cell, as a density over the cell's width, so that it is a probability for whole numbers.
struct RowScores {
  Vector<double> log_prob;
  // Standard error of what is left of integrating over cells and gaps; 0 without them.
  Vector<double> error;
};

struct TableLogProb : RowScores {
  std::vector<std::size_t> rows;                    // the table's rows that these are
  std::size_t dropped = 0;                          // rows with a missing cell that are left out
  std::map<std::size_t, std::string> unusual = {};  // see Schema::Encoded
  std::vector<std::size_t> with_gaps = {};          // places among `rows`: scored by what they have
};

// Log densities of rows that were not trained on, in increasing order: what new rows are compared
// with.
struct CalibrationScores {
  Vector<double> main = {};
  Vector<double> proxy = {};
  bool kept =
      false;  // for nothing else; otherwise they chose the state and the model that are used
};

struct TableSamples {
  Table table;
  double acceptance_rate = 1;  // below 1 for an energy model, which is sampled by a Markov chain
};

template <typename T>
class TabularDensity {
 public:
  // Throws std::invalid_argument where schema and models do not fit together.
  TabularDensity(Schema schema, AnyDensity<T> main, std::optional<AnyModel<T>> proxy = {});

  [[nodiscard]] const Schema& schema() const { return schema_; }
  [[nodiscard]] const Density<T>& main() const { return *main_; }
  // nullptr if there is none.
  [[nodiscard]] const UnnormalizedDensity<T>* proxy() const { return proxy_ ? &**proxy_ : nullptr; }
  // One of the two. Throws std::invalid_argument for a proxy that is not there.
  [[nodiscard]] const UnnormalizedDensity<T>& model(From from) const;
  void use_threads(std::shared_ptr<ThreadPool> pool);
  // For training.
  [[nodiscard]] Density<T>& edit_main() { return *main_; }
  [[nodiscard]] UnnormalizedDensity<T>* edit_proxy() { return proxy_ ? &**proxy_ : nullptr; }

  // What log_prob and sample use unless told otherwise.
  [[nodiscard]] From chosen() const { return chosen_; }
  void choose(From from);

  // log zeta of an energy proxy without conditions; normalize() estimates it anew and remembers it.
  [[nodiscard]] double log_zeta() const { return log_zeta_; }
  void normalize(std::uint64_t seed);
  // How far an energy proxy can be trusted, by fresh samples. A conditional one is checked at some
  // of these conditions [rows, context features]. For other proxies nothing is checked.
  [[nodiscard]] EnergyCheck check_energy(const MatrixView<double>& conditions,
                                         std::uint64_t seed) const;

  // Log density of a table's rows. Throws InputError for a table that the schema cannot read, and
  // std::invalid_argument if asked for a proxy that is not there. With conditions, an energy
  // proxy's zeta is estimated for every row from 1,024 samples.
  [[nodiscard]] TableLogProb log_prob(const Table& table, std::optional<From> from = {},
                                      Unusual unusual = Unusual::refuse) const;
  // The same for rows that the schema encoded. Their context may be a single row for all.
  [[nodiscard]] RowScores score(const EncodedRows& rows, From from) const;
  // Of rows as the models see them, without the Jacobian of the schema; nothing is left open.
  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x,
                                        const MatrixView<double>& context, From from) const;

  // The same up to a constant for each condition.
  [[nodiscard]] Vector<double> log_unnormalized(const MatrixView<double>& x,
                                                const MatrixView<double>& context, From from) const;

  // Scores rows that were not trained on and have no gaps, for p_values. An energy proxy with
  // conditions, for which that would take long, has none.
  void calibrate(const EncodedRows& all, bool kept);
  // The same by log densities of the main model's kind that are known already.
  void calibrate_by(Vector<double> main_log_prob);
  [[nodiscard]] const CalibrationScores& calibration() const { return calibration_; }
  // The share of rows like those of the fit that would be as unusual, (1 + number of calibration
  // rows with at most this log density) / (1 + number of calibration rows): uniform, or a little
  // larger, for new rows of the same source. NaN for a row with gaps, since whole rows are what it
  // would be compared with, and where the score is NaN. Throws std::invalid_argument if there are
  // no calibration rows.
  [[nodiscard]] Vector<double> p_values(const TableLogProb& scores, From from) const;

  // New rows. conditions [rows or 1, schema's context features]; see Schema::encode_conditions.
  // `first_row`, a multiple of kSampleBlock: the rows from there on of a larger sample, which can
  // so be drawn in parts.
  static constexpr Eigen::Index kSampleBlock = 1 << 16;
  [[nodiscard]] TableSamples sample(Eigen::Index rows, std::uint64_t seed,
                                    const MatrixView<double>& conditions = Matrix<double>(),
                                    std::optional<From> from = {},
                                    Eigen::Index first_row = 0) const;

  // How the density was fitted, as a JSON text, and the course of its training. Both are in its
  // file.
  std::string record;
  std::vector<StepRecord> history;
  std::vector<Evaluation> evaluations;
  // Texts that the owner keeps in its file, by name; for example the prior of a posterior.
  std::map<std::string, std::string> attachments;

  void save(const std::filesystem::path& path) const;
  // Also reads a file of save_model with a density: its columns are then called x1, x2, ... and its
  // conditions c1, c2, ...
  static TabularDensity load(const std::filesystem::path& path);

 private:
  void subtract_log_zeta(const MatrixView<double>& context, From from,
                         Vector<double>& log_prob) const;

  Schema schema_;
  AnyDensity<T> main_;
  std::optional<AnyModel<T>> proxy_;
  From chosen_ = From::main;
  double log_zeta_ = 0;
  CalibrationScores calibration_;
};

extern template class TabularDensity<float>;
extern template class TabularDensity<double>;

}  // namespace jeffreys
