// What the commands about pictures share.
#pragma once

#include <string>

#include "cli/command.h"
#include "jeffreys/image/image_set.h"

namespace jeffreys::cli {

// How pictures are read: --array, --limit.
struct ImageArguments {
  std::string pictures;
  std::string array;
  std::size_t limit = 0;

  // With progress, and what could not be used named. size, channels: as ImageSetOptions.
  [[nodiscard]] ImageSet read(const Globals& globals, std::size_t size, std::size_t channels) const;
};
void add_image_options(CLI::App& command, ImageArguments& a);

void add_images_fit(CLI::App& images, Globals& globals);
void add_images_sample(CLI::App& images, Globals& globals);
void add_images_score(CLI::App& images, Globals& globals);

}  // namespace jeffreys::cli
