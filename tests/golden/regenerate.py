#!/usr/bin/env python3
"""Recomputes the golden numbers of this directory with PyTorch and Zuko.

The weights and inputs (param.*, x, c, z) stored in a file are its input; all other numbers are
derived from them. A file that does not exist gets new weights and inputs from a fixed seed.

  regenerate.py --check          compare all stored files with recomputed numbers, write nothing
  regenerate.py                  write the files that are missing or disagree
  regenerate.py nsf_1d ebm_2d    only these files
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch_environment  # noqa: E402

if __name__ == "__main__":
    torch_environment.run_with_torch(Path(__file__).resolve())

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from zuko.flows import NSF  # noqa: E402
from zuko.flows.autoregressive import MaskedAutoregressiveTransform  # noqa: E402

from energy_models import FilmEnergy, ResidualEnergy  # noqa: E402

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class FlowFile:
    features: int
    context: int = 0
    transforms: int = 3
    bins: int = 8
    hidden: tuple[int, ...] = (64, 64)
    random_order: bool = False
    rows: int = 32
    seed: int = 0
    # Fresh weights give almost equal bins; these factors make the splines bend.
    weight_scale: float = 1.0
    output_scale: float = 4.0
    x_limit: float | None = None  # x uniform in [-x_limit, x_limit]; default: normal with std 2
    context_gradient: bool = True


@dataclass(frozen=True)
class EnergyFile:
    features: int
    hidden: int
    blocks: int
    context: int = 0
    film_layers: int = 2
    rows: int = 64
    seed: int = 0


FILES: dict[str, FlowFile | EnergyFile] = {
    "nsf_2d": FlowFile(2, transforms=4, rows=64),
    "nsf_2d_gmm40": FlowFile(2, transforms=4, bins=6, hidden=(32, 32), rows=64),
    "nsf_30d": FlowFile(30, transforms=2),
    "nsf_cond": FlowFile(2, context=2, transforms=4, rows=64, context_gradient=False),
    "nsf_1d": FlowFile(1, bins=5, seed=11, output_scale=2.0),
    "nsf_1d_cond": FlowFile(1, context=3, transforms=2, hidden=(16, 8), seed=12),
    "nsf_2d_one_bin": FlowFile(2, transforms=2, bins=1, hidden=(8, 8), rows=16, seed=13),
    "nsf_3d_wide_tails": FlowFile(
        3, hidden=(16, 16), rows=64, seed=14, weight_scale=3.0, output_scale=1.0, x_limit=8.0
    ),
    "nsf_5d_random": FlowFile(5, bins=4, hidden=(24, 16, 20), random_order=True, seed=15, output_scale=8.0),
    "nsf_5d_cond_random": FlowFile(
        5, context=2, transforms=2, hidden=(7,), random_order=True, seed=16, output_scale=8.0
    ),
    "nsf_6d_narrow": FlowFile(6, bins=3, hidden=(3, 4), random_order=True, seed=17, output_scale=8.0),
    "ebm_2d": EnergyFile(2, hidden=64, blocks=2),
    "ebm_cond": EnergyFile(2, hidden=32, blocks=3, context=2),
}


# --- inputs: stored, or new from the seed -------------------------------------------------------


def new_inputs(spec: FlowFile | EnergyFile) -> Arrays:
    generator = torch.Generator().manual_seed(spec.seed + 1000)

    def normal(columns: int) -> Tensor:
        return torch.randn(spec.rows, columns, generator=generator, dtype=torch.float64)

    x, z = 2 * normal(spec.features), normal(spec.features)
    inputs = {"x": x}
    if isinstance(spec, FlowFile):
        if spec.x_limit is not None:
            x.uniform_(-spec.x_limit, spec.x_limit, generator=generator)
        # Rows at the centre, on the (excluded) lower bound of the spline, and in both tails.
        for row, value in enumerate((0.0, -5.0, 7.5, -7.5)):
            x[row] = value
        z[0], z[1] = 0.0, 6.0
        inputs["z"] = z
    if spec.context > 0:
        inputs["c"] = normal(spec.context)
    return {key: value.numpy() for key, value in inputs.items()}


def load_parameters(model: nn.Module, stored: Arrays) -> None:
    """Copies what is trained, and the u and v of the power iterations; masks stay as constructed."""
    state = dict(model.named_parameters())
    state.update((key, value) for key, value in model.named_buffers() if key.endswith(("._u", "._v")))
    with torch.no_grad():
        for key, value in state.items():
            value.copy_(torch.from_numpy(stored[f"param.{key}"]))


def tensors(inputs: Arrays, dtype: torch.dtype) -> dict[str, Tensor]:
    return {key: torch.from_numpy(inputs[key]).to(dtype) for key in ("x", "c", "z") if key in inputs}


# --- flows --------------------------------------------------------------------------------------


def build_flow(spec: FlowFile, stored: Arrays | None) -> nn.Module:
    torch.manual_seed(spec.seed)
    flow = NSF(
        spec.features, spec.context, transforms=spec.transforms, bins=spec.bins,
        hidden_features=spec.hidden, randperm=spec.random_order,
    )
    if stored is None:
        scale_weights(flow, spec)
    else:
        if spec.random_order:
            restore_orders(flow, spec, stored)
        load_parameters(flow, stored)
    return flow


def restore_orders(flow: nn.Module, spec: FlowFile, stored: Arrays) -> None:
    """Rebuilds the transforms for the stored orders, so that Zuko derives the masks from them."""
    transforms = flow.transform.transforms
    for i, old in enumerate(transforms):
        order = torch.from_numpy(stored[f"param.transform.transforms.{i}.order"])
        transforms[i] = MaskedAutoregressiveTransform(
            spec.features, spec.context, order=order,
            univariate=old.univariate, shapes=old.shapes, hidden_features=spec.hidden,
        )


@torch.no_grad()
def scale_weights(flow: nn.Module, spec: FlowFile) -> None:
    last = f".hyper.{2 * len(spec.hidden)}."
    for name, parameter in flow.named_parameters():
        parameter *= spec.weight_scale
        if last in name or ".phi." in name:
            parameter *= spec.output_scale


def flow_numbers(spec: FlowFile, stored: Arrays | None) -> Arrays:
    inputs = new_inputs(spec) if stored is None else stored
    flow = build_flow(spec, stored)
    parameters = stored_form(flow)
    with torch.no_grad():
        single = tensors(inputs, torch.float32)
        log_prob_f32 = flow(single.get("c")).log_prob(single["x"]).numpy()

    flow.double()
    data = tensors(inputs, torch.float64)
    arrays = {key: value.numpy().copy() for key, value in data.items()}
    arrays.update(flow_log_prob(spec, flow, data))
    arrays.update(flow_steps(flow, data))
    arrays.update(flow_samples(flow, data))
    arrays["log_prob_f32"] = log_prob_f32
    arrays.update(gradients(flow))
    arrays.update(parameters)
    return arrays


def flow_log_prob(spec: FlowFile, flow: nn.Module, data: dict[str, Tensor]) -> Arrays:
    """Log densities; leaves d mean(log_prob) / d parameter in the flow."""
    x = data["x"].clone().requires_grad_()
    c = data["c"].clone().requires_grad_() if "c" in data else None
    log_prob = flow(c).log_prob(x)
    log_prob.mean().backward()
    arrays = {"log_prob": log_prob.detach().numpy(), "grad_x_of_mean_log_prob": x.grad.numpy()}
    if c is not None and spec.context_gradient:
        arrays["grad_c_of_mean_log_prob"] = c.grad.numpy()
    return arrays


@torch.no_grad()
def flow_steps(flow: nn.Module, data: dict[str, Tensor]) -> Arrays:
    arrays: Arrays = {}
    x = data["x"]
    for i, transform in enumerate(flow(data.get("c")).transform.transforms):
        x, ladj = transform.call_and_ladj(x)
        arrays[f"forward_value_{i}"] = x.numpy()
        arrays[f"forward_ladj_{i}"] = ladj.numpy()
    return arrays


@torch.no_grad()
def flow_samples(flow: nn.Module, data: dict[str, Tensor]) -> Arrays:
    density = flow(data.get("c"))
    sample = density.transform.inv(data["z"])
    return {"sample_from_z": sample.numpy(), "log_prob_of_sample": density.log_prob(sample).numpy()}


# --- energy models ------------------------------------------------------------------------------


def build_energy(spec: EnergyFile, stored: Arrays | None) -> nn.Module:
    torch.manual_seed(spec.seed)
    if spec.context > 0:
        model: nn.Module = FilmEnergy(spec.features, spec.context, spec.hidden, spec.blocks, spec.film_layers)
    else:
        model = ResidualEnergy(spec.features, spec.hidden, spec.blocks)
    if stored is None:
        perturb_constants(model)
    model.double()  # before loading: u and v are stored in double precision
    if stored is not None:
        load_parameters(model, stored)
    return model


@torch.no_grad()
def perturb_constants(model: nn.Module) -> None:
    """Alphas of 1 and unit layer norms would hide mistakes."""
    for name, parameter in model.named_parameters():
        if name.endswith(".alpha"):
            parameter += 0.3 * torch.randn(())
        elif ".ln" in name:
            parameter += 0.1 * torch.randn_like(parameter)


def energy_numbers(spec: EnergyFile, stored: Arrays | None) -> Arrays:
    inputs = new_inputs(spec) if stored is None else stored
    model = build_energy(spec, stored)
    data = tensors(inputs, torch.float64)
    arrays = {key: value.numpy().copy() for key, value in data.items()}
    arrays.update(stored_form(model))

    model.eval()
    arrays.update(energy_values(model, data))
    arrays.update(gradients(model))
    with torch.no_grad():
        arrays.update(effective_weights(model))
        model.train()
        arrays["f_after_1_power_iteration"] = model(*data.values()).numpy()
    arrays.update(
        (f"after1.{key}", value.numpy().copy())
        for key, value in model.named_buffers() if key.endswith(("._u", "._v"))
    )
    return arrays


def energy_values(model: nn.Module, data: dict[str, Tensor]) -> Arrays:
    x = data["x"].clone().requires_grad_()
    f = model(x, *([data["c"]] if "c" in data else []))
    f.mean().backward()
    return {"f_eval": f.detach().numpy(), "grad_x_of_mean_f": x.grad.numpy()}


def effective_weights(model: nn.Module) -> Arrays:
    return {
        f"effective.{name}.weight": module.weight.numpy().copy()
        for name, module in model.named_modules() if hasattr(module, "parametrizations")
    }


# --- files --------------------------------------------------------------------------------------


def stored_form(model: nn.Module) -> Arrays:
    """The state as param.*; weights are float32 values, u and v keep their precision."""
    arrays: Arrays = {}
    for key, value in model.state_dict().items():
        array = value.detach().cpu().numpy().copy()
        if array.dtype == bool:
            array = array.astype(np.uint8)
        elif array.dtype.kind == "f" and not key.endswith(("._u", "._v")):
            array = array.astype(np.float32)
        arrays[f"param.{key}"] = array
    return arrays


def gradients(model: nn.Module) -> Arrays:
    return {f"grad.{name}": parameter.grad.numpy() for name, parameter in model.named_parameters()}


def numbers(spec: FlowFile | EnergyFile, stored: Arrays | None) -> Arrays:
    if isinstance(spec, FlowFile):
        return flow_numbers(spec, stored)
    return energy_numbers(spec, stored)


def tolerance(key: str) -> float:
    """Relative to max(1, |number|)."""
    if key.endswith("_f32"):
        return 3e-4  # computed in float32: depends on the BLAS
    return 1e-10


def differences(stored: Arrays, computed: Arrays) -> list[str]:
    found = [f"{key}: only in the stored file" for key in stored.keys() - computed.keys()]
    found += [f"{key}: missing in the stored file" for key in computed.keys() - stored.keys()]
    for key in stored.keys() & computed.keys():
        old, new = (defined_rows(key, arrays[key], stored["x"]) for arrays in (stored, computed))
        if old.shape != new.shape or old.dtype != new.dtype:
            found.append(f"{key}: stored {old.dtype}{old.shape}, computed {new.dtype}{new.shape}")
        elif (error := relative_error(old, new)) > tolerance(key):
            found.append(f"{key}: differs by {error:.3g}")
    return sorted(found)


def defined_rows(key: str, array: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Leaves out d log p / dx of rows at the upper bound 5 of the splines.

    The derivative jumps there, and rounding of the last knot decides on which side x lies.
    """
    if key == "grad_x_of_mean_log_prob":
        return array[~(x == 5.0).any(axis=1)]
    return array


def relative_error(old: np.ndarray, new: np.ndarray) -> float:
    if old.size == 0:
        return 0.0
    a, b = old.astype(np.float64), new.astype(np.float64)
    error = np.abs(a - b) / np.maximum(1.0, np.abs(a))
    return float("inf") if np.isnan(error).any() else float(error.max())


def load(path: Path) -> Arrays | None:
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def process(name: str, check: bool, say: Callable[[str], None]) -> bool:
    """Returns whether the stored file agrees, or has been written."""
    path = HERE / f"{name}.npz"
    stored = load(path)
    if stored is None and check:
        say(f"{name}: the file is missing")
        return False
    computed = numbers(FILES[name], stored)
    found = ["new"] if stored is None else differences(stored, computed)
    if not found:
        say(f"{name}: {len(computed)} arrays agree")
        return True
    for line in found:
        say(f"{name}: {line}")
    if not check:
        np.savez(path, **computed)
        say(f"{name}: written, {path.stat().st_size} bytes")
    return not check


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="files without .npz; default: all")
    parser.add_argument("--check", action="store_true", help="compare only; exit code 1 on a difference")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - FILES.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(FILES)}")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    torch.set_num_threads(1)
    results = [process(name, arguments.check, print) for name in arguments.names or FILES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
