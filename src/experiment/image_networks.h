// Networks that all runs on the same pictures share. They are made once, by the run that comes
// first, and kept in files; stopped at any moment, the next run goes on with them.
#pragma once

#include <vector>

#include "experiment/image_data.h"
#include "jeffreys/image/train_autoencoder.h"

namespace jeffreys::experiment {

// A network whose numbers distances are measured in.
struct Judge {
  std::string name;  // encoder, second_encoder or classifier: belongs to the name of the distance
  std::function<Matrix<double>(const Images&)> features;
};

struct ImageNetworks {
  std::shared_ptr<const AutoencoderFit> autoencoder;  // whose numbers densities are fitted to
  // Its own encoder, and a network that is no part of the model: the classifier where pictures have
  // labels, else the encoder of a second autoencoder with another seed.
  std::vector<Judge> judges;
  double judge_seconds = 0;  // of processor time, for the second autoencoder
};

// In FOLDER/networks. Where another run makes one of them, this one waits for it. Throws
// Interrupted, and InputError for a file of other pictures or another network.
[[nodiscard]] ImageNetworks make_image_networks(const Pictures& pictures, const Job& job,
                                                const JobContext& context);

}  // namespace jeffreys::experiment
