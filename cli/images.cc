#include "cli/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/progress.h"

namespace jeffreys::cli {

ImageSet ImageArguments::read(const Globals& globals, std::size_t size,
                              std::size_t channels) const {
  ProgressLine line(globals);
  ImageSet set =
      read_images(pictures, {.size = size,
                             .channels = channels,
                             .array = array,
                             .most = limit,
                             .threads = std::max(1U, std::thread::hardware_concurrency()),
                             .should_stop = StopOnSignal::requested,
                             .progress = [&](std::size_t done, std::size_t all) {
                               line.draw_if_due(fmt::format("reading pictures {}/{}", done, all));
                             }});
  line.clear();
  if (!set.refused.empty()) say(globals, "warning: " + set.refusals());
  return set;
}

void add_image_options(CLI::App& command, ImageArguments& a) {
  command
      .add_option("pictures", a.pictures,
                  "Folder of JPEG or PNG files, one such file, or an NPZ or NPY array")
      ->required();
  command.add_option("--array", a.array, "Of an NPZ file: the array with the pictures");
  command.add_option("--limit", a.limit, "Read so many at most (default: all)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
}

void add_images(CLI::App& app, Globals& globals) {
  CLI::App* images =
      app.add_subcommand("images", "Densities over pictures: fit, sample, find unusual ones");
  images->require_subcommand(1);
  images->fallthrough();
  add_images_fit(*images, globals);
  add_images_sample(*images, globals);
  add_images_score(*images, globals);
  images->footer(
      "An autoencoder makes a few numbers of each picture, and a density is fitted to these.\n"
      "Needs libtorch. Examples:\n"
      "  jeffreys images fit photos/ -o photos.model\n"
      "  jeffreys images sample photos.model -n 64 -o grid.png\n"
      "  jeffreys images score photos.model new/ --sheet unusual.png -o scores.csv");
}

}  // namespace jeffreys::cli
