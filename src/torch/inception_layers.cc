// What Inception-v3 consists of, as data: no tensors here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch/inception.h"

namespace jeffreys::inception {
namespace {

constexpr std::int64_t kClasses = 1008;
constexpr std::int64_t kFeatures = 2048;

// Collects the layers of one block.
class Block {
 public:
  Block(std::vector<Convolution>& all, std::string prefix, std::int64_t inputs)
      : all_(all), prefix_(std::move(prefix)), inputs_(inputs) {}

  // A branch begins at the block's input: outputs, kernel, stride of each layer.
  void point(const char* name, std::int64_t outputs) const { add(name, inputs_, outputs, {1, 1}); }
  // Padded so that the size stays.
  void same(const char* name, std::int64_t inputs, std::int64_t outputs, std::int64_t height,
            std::int64_t width) const {
    all_.push_back({.name = prefix_ + name,
                    .inputs = inputs,
                    .outputs = outputs,
                    .kernel = {height, width},
                    .padding = {height / 2, width / 2}});
  }
  // 3 x 3 with stride 2 and no padding.
  void halve(const char* name, std::int64_t inputs, std::int64_t outputs) const {
    add(name, inputs, outputs, {3, 3}, 2);
  }

 private:
  void add(const char* name, std::int64_t inputs, std::int64_t outputs,
           std::array<std::int64_t, 2> kernel, std::int64_t stride = 1) const {
    all_.push_back({.name = prefix_ + name,
                    .inputs = inputs,
                    .outputs = outputs,
                    .kernel = kernel,
                    .stride = stride});
  }

  std::vector<Convolution>& all_;
  std::string prefix_;
  std::int64_t inputs_;
};

void add_a(const Block& block, std::int64_t pooled) {
  block.point("branch1x1", 64);
  block.point("branch5x5_1", 48);
  block.same("branch5x5_2", 48, 64, 5, 5);
  block.point("branch3x3dbl_1", 64);
  block.same("branch3x3dbl_2", 64, 96, 3, 3);
  block.same("branch3x3dbl_3", 96, 96, 3, 3);
  block.point("branch_pool", pooled);
}

void add_b(const Block& block, std::int64_t inputs) {
  block.halve("branch3x3", inputs, 384);
  block.point("branch3x3dbl_1", 64);
  block.same("branch3x3dbl_2", 64, 96, 3, 3);
  block.halve("branch3x3dbl_3", 96, 96);
}

void add_c(const Block& block, std::int64_t middle) {
  block.point("branch1x1", 192);
  block.point("branch7x7_1", middle);
  block.same("branch7x7_2", middle, middle, 1, 7);
  block.same("branch7x7_3", middle, 192, 7, 1);
  block.point("branch7x7dbl_1", middle);
  block.same("branch7x7dbl_2", middle, middle, 7, 1);
  block.same("branch7x7dbl_3", middle, middle, 1, 7);
  block.same("branch7x7dbl_4", middle, middle, 7, 1);
  block.same("branch7x7dbl_5", middle, 192, 1, 7);
  block.point("branch_pool", 192);
}

void add_d(const Block& block) {
  block.point("branch3x3_1", 192);
  block.halve("branch3x3_2", 192, 320);
  block.point("branch7x7x3_1", 192);
  block.same("branch7x7x3_2", 192, 192, 1, 7);
  block.same("branch7x7x3_3", 192, 192, 7, 1);
  block.halve("branch7x7x3_4", 192, 192);
}

void add_e(const Block& block) {
  block.point("branch1x1", 320);
  block.point("branch3x3_1", 384);
  block.same("branch3x3_2a", 384, 384, 1, 3);
  block.same("branch3x3_2b", 384, 384, 3, 1);
  block.point("branch3x3dbl_1", 448);
  block.same("branch3x3dbl_2", 448, 384, 3, 3);
  block.same("branch3x3dbl_3a", 384, 384, 1, 3);
  block.same("branch3x3dbl_3b", 384, 384, 3, 1);
  block.point("branch_pool", 192);
}

bool is_counter(std::string_view name) { return name.ends_with(".bn.num_batches_tracked"); }

}  // namespace

std::vector<Convolution> convolutions() {
  std::vector<Convolution> all = {
      {.name = "Conv2d_1a_3x3", .inputs = 3, .outputs = 32, .kernel = {3, 3}, .stride = 2},
      {.name = "Conv2d_2a_3x3", .inputs = 32, .outputs = 32, .kernel = {3, 3}},
      {.name = "Conv2d_2b_3x3", .inputs = 32, .outputs = 64, .kernel = {3, 3}, .padding = {1, 1}},
      {.name = "Conv2d_3b_1x1", .inputs = 64, .outputs = 80, .kernel = {1, 1}},
      {.name = "Conv2d_4a_3x3", .inputs = 80, .outputs = 192, .kernel = {3, 3}}};
  add_a({all, "Mixed_5b.", 192}, 32);
  add_a({all, "Mixed_5c.", 256}, 64);
  add_a({all, "Mixed_5d.", 288}, 64);
  add_b({all, "Mixed_6a.", 288}, 288);
  add_c({all, "Mixed_6b.", 768}, 128);
  add_c({all, "Mixed_6c.", 768}, 160);
  add_c({all, "Mixed_6d.", 768}, 160);
  add_c({all, "Mixed_6e.", 768}, 192);
  add_d({all, "Mixed_7a.", 768});
  add_e({all, "Mixed_7b.", 1280});
  add_e({all, "Mixed_7c.", 2048});
  return all;
}

const std::vector<Step>& steps() {
  static const std::vector<Step> kSteps = {
      {"Conv2d_1a_3x3", Kind::layer}, {"Conv2d_2a_3x3", Kind::layer},
      {"Conv2d_2b_3x3", Kind::layer}, {"maxpool1", Kind::max_pool},
      {"Conv2d_3b_1x1", Kind::layer}, {"Conv2d_4a_3x3", Kind::layer},
      {"maxpool2", Kind::max_pool},   {"Mixed_5b", Kind::a},
      {"Mixed_5c", Kind::a},          {"Mixed_5d", Kind::a},
      {"Mixed_6a", Kind::b},          {"Mixed_6b", Kind::c},
      {"Mixed_6c", Kind::c},          {"Mixed_6d", Kind::c},
      {"Mixed_6e", Kind::c},          {"Mixed_7a", Kind::d},
      {"Mixed_7b", Kind::e_average},  {"Mixed_7c", Kind::e_max},
      {"avgpool", Kind::mean}};
  return kSteps;
}

Shapes expected_shapes() {
  // The classifier on top is not used; that it has 1008 classes tells TensorFlow's weights from
  // torchvision's, whose network has the same layers and pools otherwise.
  Shapes shapes = {{"fc.weight", {kClasses, kFeatures}}, {"fc.bias", {kClasses}}};
  for (const Convolution& layer : convolutions()) {
    shapes[layer.name + ".conv.weight"] = {layer.outputs, layer.inputs, layer.kernel[0],
                                           layer.kernel[1]};
    for (const char* part : {"weight", "bias", "running_mean", "running_var"}) {
      shapes[fmt::format("{}.bn.{}", layer.name, part)] = {layer.outputs};
    }
  }
  return shapes;
}

std::string difference(const Shapes& shapes) {
  const Shapes expected = expected_shapes();
  for (const auto& [name, shape] : expected) {
    const auto found = shapes.find(name);
    if (found == shapes.end()) return fmt::format("tensor '{}' is missing", name);
    if (found->second != shape) {
      return fmt::format("tensor '{}' has the shape [{}] instead of [{}]", name,
                         fmt::join(found->second, ", "), fmt::join(shape, ", "));
    }
  }
  for (const auto& [name, shape] : shapes) {
    if (!expected.contains(name) && !is_counter(name)) {
      return fmt::format("tensor '{}' does not belong there", name);
    }
  }
  return "";
}

}  // namespace jeffreys::inception
