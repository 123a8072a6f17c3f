// The arithmetic of autoencoders by libtorch.
#pragma once

#include <memory>

#include "jeffreys/image/autoencoder.h"

namespace jeffreys {

[[nodiscard]] std::unique_ptr<AutoencoderNetwork> make_autoencoder_network(
    const AutoencoderOptions& options);

}  // namespace jeffreys
