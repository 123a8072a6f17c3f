// What load_autoencoder_network() finds in the module jeffreys_images.
#include "jeffreys/torch/autoencoder_network.h"

extern "C" __attribute__((visibility("default"))) jeffreys::AutoencoderNetwork*
jeffreys_make_autoencoder_network(const jeffreys::AutoencoderOptions& options) {
  return jeffreys::make_autoencoder_network(options).release();
}
