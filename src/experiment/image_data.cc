#include "experiment/image_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/image/image_set.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys::experiment {
namespace {

namespace fs = std::filesystem;

// What split_images() draws is of iteration 0.
constexpr std::uint64_t kMixed = 1;

struct PictureSource {
  const char* name;
  std::vector<const char*> places;  // below images/: files or folders, the first that is there
  std::size_t size;                 // of the squares that pictures are brought to
  std::size_t channels;
  const char* array;   // of the archive
  const char* labels;  // likewise; empty: there are none
  const char* where;   // to get it
};

const PictureSource& picture_source(const std::string& name) {
  static const std::vector<PictureSource> kSources = {
      {"celeba",
       {"celeba64_train10k.npz", "celeba", "img_align_celeba"},
       64,
       3,
       "",
       "",
       "Get img_align_celeba.zip from mmlab.ie.cuhk.edu.hk/projects/CelebA.html and put its folder "
       "of JPEG files"},
      {"mnist",
       {"mnist_20k.npz"},
       32,
       1,
       "train_images",
       "train_labels",
       "Put an NPZ archive of the MNIST training set with the arrays train_images (bytes, [count, "
       "28, 28]) and train_labels"},
      {"fashion-mnist",
       {"fashion_mnist_5k.npz"},
       32,
       1,
       "images",
       "labels",
       "Put an NPZ archive of Fashion-MNIST (github.com/zalandoresearch/fashion-mnist) with the "
       "arrays images (bytes, [count, 28, 28]) and labels"},
  };
  for (const PictureSource& source : kSources) {
    if (source.name == name) return source;
  }
  throw std::invalid_argument(
      fmt::format("images: expected celeba, mnist or fashion-mnist, got '{}'", name));
}

fs::path find_pictures(const PictureSource& source, const fs::path& data) {
  for (const char* place : source.places) {
    if (!data.empty() && fs::exists(data / "images" / place)) return data / "images" / place;
  }
  throw MissingData(
      (data / "images" / source.places.front()).string(),
      fmt::format("these pictures are missing. {} into a folder images/, under the name {}, and "
                  "name the folder that holds images/ with --data or in JEFFREYS_DATA",
                  source.where, fmt::join(source.places, " or ")));
}

std::vector<std::int64_t> read_labels(const PictureSource& source, const fs::path& path,
                                      std::size_t pictures) {
  if (*source.labels == '\0') return {};
  const storage::Arrays arrays = storage::read_npz(path);
  const auto found = arrays.find(source.labels);
  if (found == arrays.end()) {
    throw InputError(path.string(), fmt::format("has no array '{}'", source.labels));
  }
  std::vector<std::int64_t> labels = found->second.values<std::int64_t>();
  if (labels.size() < pictures) {
    throw InputError(path.string(), fmt::format("array '{}': expected a label for each of {} "
                                                "pictures, got {}",
                                                source.labels, pictures, labels.size()));
  }
  return labels;
}

// These places of a random order.
Images taken(const Images& all, std::span<const std::size_t> order, std::size_t first,
             std::size_t count) {
  return take_images(all, order.subspan(first, count));
}

}  // namespace

Pictures read_pictures(const Job& job, const JobContext& context) {
  const PictureSource& source = picture_source(job.source);
  const fs::path path = find_pictures(source, context.data);
  const ImageSet set = read_images(path, {.size = source.size,
                                          .channels = source.channels,
                                          .array = source.array,
                                          .most = job.autoencoder.most,
                                          .should_stop = context.should_stop});
  const std::size_t all = set.images.count;
  const auto training = static_cast<std::size_t>(job.rows);
  const auto held_out = static_cast<std::size_t>(job.test_rows);
  if (all < training + held_out) {
    throw InputError(path.string(), fmt::format("expected at least {} pictures, got {}. {}",
                                                training + held_out, all, set.refusals()));
  }
  // Some sets are sorted, by class or by who wrote.
  std::vector<std::size_t> order(all);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, {0, kHeldOutImages, kMixed});
  Pictures pictures{.training = taken(set.images, order, held_out, training),
                    .held_out = taken(set.images, order, 0, held_out),
                    .others = {}};
  // From the end, so that they are the same for any number of training pictures.
  const std::size_t others = std::min(job.autoencoder.others, all - training - held_out);
  pictures.others.images = taken(set.images, order, all - others, others);
  const std::vector<std::int64_t> labels = read_labels(source, path, all);
  for (std::size_t i = all - others; i < all && !labels.empty(); ++i) {
    pictures.others.labels.push_back(labels[order[i]]);
  }
  return pictures;
}

}  // namespace jeffreys::experiment
