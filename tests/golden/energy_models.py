"""The energy models of the paper in PyTorch: the reference for golden files and benchmarks.

Attribute names are part of the format: they become the keys `param.*` of ebm_*.npz.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import silu
from torch.nn.utils.parametrizations import spectral_norm


def spectral_linear(inputs: int, outputs: int) -> nn.Linear:
    """One power iteration for each forward in training mode, 15 at construction."""
    return spectral_norm(nn.Linear(inputs, outputs), n_power_iterations=1, eps=1e-12)


class ResidualBlock(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(()))
        self.ln1 = nn.LayerNorm(hidden)
        self.lin1 = spectral_linear(hidden, hidden)
        self.ln2 = nn.LayerNorm(hidden)
        self.lin2 = spectral_linear(hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        h = self.lin1(silu(self.ln1(x)))
        h = self.lin2(silu(self.ln2(h)))
        return silu(self.alpha * x + h)


class ResidualEnergy(nn.Module):
    """f(x): [rows, features] -> [rows]."""

    def __init__(self, features: int, hidden: int, blocks: int) -> None:
        super().__init__()
        self.inp = spectral_linear(features, hidden)
        self.blocks = nn.ModuleList(ResidualBlock(hidden) for _ in range(blocks))
        self.out = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = silu(self.inp(x))
        for block in self.blocks:
            h = block(h)
        return self.out(h).squeeze(-1)


def mlp(inputs: int, hidden: int, layers: int) -> nn.Sequential:
    modules: list[nn.Module] = [nn.Linear(inputs, hidden)]
    for _ in range(layers - 1):
        modules += [nn.SiLU(), nn.Linear(hidden, hidden)]
    return nn.Sequential(*modules)


class FilmBlock(nn.Module):
    def __init__(self, context: int, hidden: int, film_layers: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(()))
        self.gamma = mlp(context, hidden, film_layers)
        self.beta = mlp(context, hidden, film_layers)
        self.body = mlp(hidden, hidden, 2)

    def forward(self, x: Tensor, c: Tensor) -> Tensor:
        return silu(self.alpha * x + self.gamma(c) * self.body(x) + self.beta(c))


class FilmEnergy(nn.Module):
    """f(x, c): [rows, features], [rows, context] -> [rows]."""

    def __init__(self, features: int, context: int, hidden: int, blocks: int, film_layers: int) -> None:
        super().__init__()
        self.inp = spectral_linear(features, hidden)
        self.blocks = nn.ModuleList(FilmBlock(context, hidden, film_layers) for _ in range(blocks))
        self.out = nn.Linear(hidden, 1)

    def forward(self, x: Tensor, c: Tensor) -> Tensor:
        h = silu(self.inp(x))
        for block in self.blocks:
            h = block(h, c)
        return self.out(h).squeeze(-1)
