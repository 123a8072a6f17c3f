// What experiments with pictures say in the same way: distances by the name of their network, what
// belongs beside them, and what runs cost.
#pragma once

#include "experiment/comparison.h"
#include "experiment/nll_table.h"

namespace jeffreys::experiment {

// A Fréchet distance, named after the network whose numbers it is measured in.
struct DistanceKind {
  const char* judge;
  const char* words;

  // Of pictures decoded from samples of this model to the held-out pictures.
  [[nodiscard]] std::string column(const std::string& model = "main") const {
    return model + ".distance_" + judge;
  }
};
inline constexpr DistanceKind kEncoderDistance{"encoder", "in the encoder's numbers"};
inline constexpr DistanceKind kSecondEncoderDistance{"second_encoder",
                                                     "in a second encoder's numbers"};
inline constexpr DistanceKind kClassifierDistance{"classifier", "in our classifier's features"};
inline constexpr DistanceKind kDistanceKinds[] = {kEncoderDistance, kSecondEncoderDistance,
                                                  kClassifierDistance};
// Those that runs on these pictures have.
[[nodiscard]] std::vector<DistanceKind> distances_of(const Results& results,
                                                     const std::string& data);

// A number that does not depend on the method: of the first method whose runs have it.
[[nodiscard]] std::optional<SeedSummary> common_number(const Results& results,
                                                       const std::string& data,
                                                       const std::string& column);

// What belongs beside every distance of this kind: what real pictures, the autoencoder alone and
// one Gaussian have. A row for each, with a value for each data set.
[[nodiscard]] std::vector<TableRow> distance_references(const Results& results,
                                                        const std::vector<std::string>& data,
                                                        const DistanceKind& kind);

// How much the test NLL of the main model is above its lowest value at the end, by seed.
[[nodiscard]] SeedValues nll_rise(const Results& results, const std::string& data,
                                  const std::string& method);

// The distances at the end with what chance among so few pictures does to them.
void distance_interval_table(const Results& results, report::Page& page);
// Autoencoders: pictures, errors on them, processor time.
void autoencoder_table(const Results& results, report::Page& page);
// Of each method and data set: log zeta with its interval and how far it can be trusted.
void importance_table(const Results& results, report::Page& page);
// Time of a step and memory of the process.
void image_cost_table(const Results& results, report::Page& page);
// Samples against training pictures: whether they are copies.
void copies_table(const Results& results, report::Page& page);

// Where the sheets are that the page does not show.
void note_sheets(const std::string& experiment, report::Page& page);

}  // namespace jeffreys::experiment
