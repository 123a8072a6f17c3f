// Inception-v3 on tensors: the layers by name, and the steps from a picture to its features. Names
// are those of torchvision, which pytorch-fid's file has too.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/storage/array.h"
#include "jeffreys/torch/image_batch.h"

namespace jeffreys::inception {

// A convolution without bias, batch normalisation with running moments, and a ReLU.
struct Convolution {
  std::string name;
  std::int64_t inputs;
  std::int64_t outputs;
  std::array<std::int64_t, 2> kernel;  // height, width
  std::int64_t stride = 1;
  std::array<std::int64_t, 2> padding = {0, 0};
};

// All 94, in the order of the network.
std::vector<Convolution> convolutions();

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// The tensors of pytorch-fid's file, without the counters that it may have.
Shapes expected_shapes();
// Which tensor says that these are the weights of another network; "" if none does.
std::string difference(const Shapes& shapes);

enum class Kind {
  layer,     // one convolution
  max_pool,  // 3 x 3, stride 2
  a,         // as the letters of torchvision's blocks
  b,
  c,
  d,
  e_average,
  e_max,  // the last block pools by the maximum
  mean,   // over all places
};

struct Step {
  std::string name;
  Kind kind;
};

const std::vector<Step>& steps();

// Every 3 x 3 average is over what is inside of the picture: the padding does not count.
torch::Tensor average_pool(const torch::Tensor& x);

// Bytes to numbers in [0, 1], [images, 3, height, width].
torch::Tensor to_unit_range(const ImageBatch& images);
// From there to 299 x 299 in [-1, 1].
torch::Tensor to_input(const torch::Tensor& unit);

class Network {
 public:
  // Throws std::invalid_argument unless the tensors are those of the network, and finite.
  explicit Network(const storage::Arrays& tensors);

  torch::Tensor layer(const std::string& name, const torch::Tensor& x) const;
  torch::Tensor apply(const Step& step, const torch::Tensor& x) const;
  // [images, 3, 299, 299] to [images, 2048].
  torch::Tensor features(const torch::Tensor& input) const;

 private:
  // With the normalisation inside.
  struct Layer {
    torch::Tensor weight;
    torch::Tensor bias;
    std::int64_t stride;
    std::array<std::int64_t, 2> padding;
  };
  using Names = std::vector<std::string_view>;

  void add(const Convolution& convolution, const storage::Arrays& tensors);
  // The layers prefix.first, prefix.second, ... one after the other.
  torch::Tensor chain(const std::string& prefix, const Names& names, torch::Tensor x) const;
  torch::Tensor block_a(const std::string& name, const torch::Tensor& x) const;
  torch::Tensor block_b(const std::string& name, const torch::Tensor& x) const;
  torch::Tensor block_c(const std::string& name, const torch::Tensor& x) const;
  torch::Tensor block_d(const std::string& name, const torch::Tensor& x) const;
  torch::Tensor block_e(const std::string& name, const torch::Tensor& x, bool by_maximum) const;

  std::map<std::string, Layer> layers_;
};

}  // namespace jeffreys::inception
