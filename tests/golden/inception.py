#!/usr/bin/env python3
"""Writes inception.npz: what Inception-v3 for FID gives, by PyTorch's own modules in double precision.

  tests/golden/inception.py            needs PyTorch and NumPy (on Debian /usr/bin/python3 with python3-torch)
  tests/golden/inception.py --state F  writes the weights to F as torch.save does, to try tools/convert_inception

The weights are 24 million numbers, so both sides make them from a hash. The network is written here a second time, from its
description, with the normalisation as a layer of its own.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn

IMAGES, HEIGHT, WIDTH = 2, 24, 31


def uniforms(size, stream):
    """Murmur3's finaliser of a counter: 24 bits in [0, 1), the same in inception_weights.h."""
    h = (np.arange(size, dtype=np.uint64) + 0x9E3779B9 * (stream + 1)).astype(np.uint32)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(np.float64) / 2**24


def conv(inputs, outputs, kernel, stride=1, padding=0):
    module = nn.Sequential()
    module.add_module("conv", nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False))
    module.add_module("bn", nn.BatchNorm2d(outputs, eps=1e-3))
    module.add_module("relu", nn.ReLU())
    return module


INSIDE_AVERAGE = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
HALF_MAXIMUM = nn.MaxPool2d(3, 2)


class Block(nn.Module):
    """layers: name -> module; paths: lists of names; a list inside a path stands for branches side by side."""

    def __init__(self, layers, paths, pool):
        super().__init__()
        for name, module in layers.items():
            self.add_module(name, module)
        self.paths, self.pool = paths, [pool]  # a list, so that it is no part of the state

    def follow(self, x, path):
        for step in path:
            if isinstance(step, list):
                x = torch.cat([self.follow(x, [name]) for name in step], 1)
            else:
                x = self.pool[0](x) if step == "pool" else getattr(self, step)(x)
        return x

    def forward(self, x):
        return torch.cat([self.follow(x, path) for path in self.paths], 1)


TALL, FLAT = ((7, 1), 1, (3, 0)), ((1, 7), 1, (0, 3))


def block_a(n, pooled):
    return Block(
        {"branch1x1": conv(n, 64, 1), "branch5x5_1": conv(n, 48, 1), "branch5x5_2": conv(48, 64, 5, 1, 2),
         "branch3x3dbl_1": conv(n, 64, 1), "branch3x3dbl_2": conv(64, 96, 3, 1, 1),
         "branch3x3dbl_3": conv(96, 96, 3, 1, 1), "branch_pool": conv(n, pooled, 1)},
        [["branch1x1"], ["branch5x5_1", "branch5x5_2"], ["branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"],
         ["pool", "branch_pool"]], INSIDE_AVERAGE)


def block_b(n):
    return Block(
        {"branch3x3": conv(n, 384, 3, 2), "branch3x3dbl_1": conv(n, 64, 1), "branch3x3dbl_2": conv(64, 96, 3, 1, 1),
         "branch3x3dbl_3": conv(96, 96, 3, 2)},
        [["branch3x3"], ["branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"], ["pool"]], HALF_MAXIMUM)


def block_c(n, c):
    return Block(
        {"branch1x1": conv(n, 192, 1), "branch7x7_1": conv(n, c, 1), "branch7x7_2": conv(c, c, *FLAT),
         "branch7x7_3": conv(c, 192, *TALL), "branch7x7dbl_1": conv(n, c, 1), "branch7x7dbl_2": conv(c, c, *TALL),
         "branch7x7dbl_3": conv(c, c, *FLAT), "branch7x7dbl_4": conv(c, c, *TALL),
         "branch7x7dbl_5": conv(c, 192, *FLAT), "branch_pool": conv(n, 192, 1)},
        [["branch1x1"], ["branch7x7_1", "branch7x7_2", "branch7x7_3"], [f"branch7x7dbl_{i}" for i in range(1, 6)],
         ["pool", "branch_pool"]], INSIDE_AVERAGE)


def block_d(n):
    return Block(
        {"branch3x3_1": conv(n, 192, 1), "branch3x3_2": conv(192, 320, 3, 2), "branch7x7x3_1": conv(n, 192, 1),
         "branch7x7x3_2": conv(192, 192, *FLAT), "branch7x7x3_3": conv(192, 192, *TALL),
         "branch7x7x3_4": conv(192, 192, 3, 2)},
        [["branch3x3_1", "branch3x3_2"], [f"branch7x7x3_{i}" for i in range(1, 5)], ["pool"]], HALF_MAXIMUM)


def block_e(n, pool):
    return Block(
        {"branch1x1": conv(n, 320, 1), "branch3x3_1": conv(n, 384, 1),
         "branch3x3_2a": conv(384, 384, (1, 3), 1, (0, 1)), "branch3x3_2b": conv(384, 384, (3, 1), 1, (1, 0)),
         "branch3x3dbl_1": conv(n, 448, 1), "branch3x3dbl_2": conv(448, 384, 3, 1, 1),
         "branch3x3dbl_3a": conv(384, 384, (1, 3), 1, (0, 1)), "branch3x3dbl_3b": conv(384, 384, (3, 1), 1, (1, 0)),
         "branch_pool": conv(n, 192, 1)},
        [["branch1x1"], ["branch3x3_1", ["branch3x3_2a", "branch3x3_2b"]],
         ["branch3x3dbl_1", "branch3x3dbl_2", ["branch3x3dbl_3a", "branch3x3dbl_3b"]], ["pool", "branch_pool"]], pool)


def network():
    return nn.ModuleDict({
        "Conv2d_1a_3x3": conv(3, 32, 3, 2), "Conv2d_2a_3x3": conv(32, 32, 3), "Conv2d_2b_3x3": conv(32, 64, 3, 1, 1),
        "maxpool1": HALF_MAXIMUM, "Conv2d_3b_1x1": conv(64, 80, 1), "Conv2d_4a_3x3": conv(80, 192, 3),
        "maxpool2": HALF_MAXIMUM, "Mixed_5b": block_a(192, 32), "Mixed_5c": block_a(256, 64),
        "Mixed_5d": block_a(288, 64), "Mixed_6a": block_b(288), "Mixed_6b": block_c(768, 128),
        "Mixed_6c": block_c(768, 160), "Mixed_6d": block_c(768, 160), "Mixed_6e": block_c(768, 192),
        "Mixed_7a": block_d(768), "Mixed_7b": block_e(1280, INSIDE_AVERAGE),
        "Mixed_7c": block_e(2048, nn.MaxPool2d(3, 1, 1)), "avgpool": nn.AdaptiveAvgPool2d(1),
        "fc": nn.Linear(2048, 1008)})


def fill(model):
    """Each tensor by its place in the order of names."""
    state = {name: t for name, t in model.state_dict().items() if not name.endswith("num_batches_tracked")}
    for stream, name in enumerate(sorted(state)):
        u = uniforms(state[name].numel(), stream)
        if name.endswith(("bn.weight", "bn.running_var")):
            values = 0.5 + u
        elif name.endswith("conv.weight"):
            values = (2 * u - 1) * np.sqrt(6 / state[name][0].numel())
        else:
            values = 0.1 * (2 * u - 1)
        state[name].copy_(torch.from_numpy(values.astype(np.float32)).view(state[name].shape))


def images():
    """[images, height, width, channels], bytes."""
    size = IMAGES * HEIGHT * WIDTH * 3
    return (uniforms(size, 1000) * 256).astype(np.uint8).reshape(IMAGES, HEIGHT, WIDTH, 3)


def numbers(model):
    found = {}
    x = torch.from_numpy(images()).permute(0, 3, 1, 2).double() / 255
    x = 2 * nn.functional.interpolate(x, size=(299, 299), mode="bilinear", align_corners=False) - 1
    for name, module in [("input", nn.Identity()), *model.items()]:
        if name == "fc":
            break
        x = module(x)
        flat = x.reshape(-1)
        places = torch.arange(16) * (flat.numel() - 1) // 15
        found[f"shape.{name}"] = np.array(x.shape, dtype=np.int64)
        found[f"moments.{name}"] = np.array([flat.mean(), flat.square().mean()])
        found[f"items.{name}"] = flat[places].numpy()
    found["features"] = x.reshape(IMAGES, 2048)[:, ::32].numpy()
    return found


def main(arguments):
    with torch.no_grad():
        model = network().double().eval()
        fill(model)
        if arguments[:1] == ["--state"]:
            torch.save(model.float().state_dict(), arguments[1])
            return
        np.savez(pathlib.Path(__file__).parent / "inception.npz", **numbers(model))


if __name__ == "__main__":
    main(sys.argv[1:])
