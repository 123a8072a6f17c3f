#!/usr/bin/env python3
"""Times PyTorch + Zuko in float32; a child process of `compare`, which interleaves it with ours.

The first line on stdout is a JSON object that describes this side. Then, for each line
`WORK CALLS` or `WORK SECONDSs` (an s at the end) on stdin, it answers with one JSON line: a list of
times in milliseconds, one for each call. The first request for a work builds and warms it up.

  echo "flow2d_score 0.5s" | peer.py --threads 1
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "golden"))

import torch_environment  # noqa: E402

torch_environment.add_zuko_to_path()

import torch  # noqa: E402
import zuko  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from zuko.flows import NSF  # noqa: E402

from energy_models import FilmEnergy, ResidualEnergy  # noqa: E402

Call = Callable[[], object]


# --- what is timed ------------------------------------------------------------------------------


def score(model: nn.Module, value: Callable[[], Tensor], rows: int) -> Call:
    """Value of each row, and the gradient of their weighted sum with respect to the parameters."""
    weights = torch.randn(rows)

    def call() -> None:
        model.zero_grad(set_to_none=True)
        value().backward(weights)  # cheaper than (weights * value).sum().backward()

    return call


def flow_score(flow: NSF, rows: int, features: int, context: int = 0) -> Call:
    x = torch.randn(rows, features)
    c = torch.randn(rows, context) if context else None
    return score(flow, lambda: flow(c).log_prob(x), rows)


def flow_sample(flow: NSF, rows: int) -> Call:
    @torch.inference_mode()
    def call() -> object:
        return flow().rsample_and_log_prob((rows,))

    return call


def flow_log_prob(flow: NSF, rows: int, features: int) -> Call:
    x = torch.randn(rows, features)

    @torch.inference_mode()
    def call() -> Tensor:
        return flow().log_prob(x)

    return call


def energy_score(model: nn.Module, rows: int, *columns: int) -> Call:
    inputs = [torch.randn(rows, n) for n in columns]
    return score(model, lambda: model(*inputs), rows)


def energy_value(model: nn.Module, rows: int, features: int) -> Call:
    x = torch.randn(rows, features)

    @torch.inference_mode()
    def call() -> Tensor:
        return model(x)

    return call


def dual_iteration(
    main: NSF, proxy: nn.Module, rows: int, features: int, zeta_samples: int, shared: bool = False
) -> Call:
    """One training step of the dual method. zeta_samples: 0 keeps log zeta as it is, and a flow
    proxy has none. shared: zeta comes from the samples of the reverse KL."""
    x = torch.randn(rows, features)
    energy = not isinstance(proxy, NSF)
    kl = torch.full((3,), 0.01, requires_grad=True)
    zeta = torch.zeros(2, requires_grad=True)
    adamw = {"betas": (0.0, 0.9), "eps": 1e-8}
    models = torch.optim.AdamW([*main.parameters(), *proxy.parameters()], lr=1e-3, **adamw)
    multipliers = torch.optim.AdamW([kl, zeta], lr=1e-4, weight_decay=0.0, maximize=True, **adamw)
    log_zeta = torch.zeros(())

    def value(z: Tensor) -> Tensor:
        return proxy(z) if energy else proxy().log_prob(z)

    def call() -> None:
        nonlocal log_zeta
        with torch.no_grad():
            y = main().sample((rows,))
            if zeta_samples and not shared:
                z, log_p = main().rsample_and_log_prob((zeta_samples,))
                log_zeta = torch.logsumexp(value(z) - log_p, 0) - math.log(zeta_samples)
        both = torch.cat([x, y])
        log_p_x, log_p_y = main().log_prob(both).split(rows)
        f_x, f_y = value(both).split(rows)
        with torch.no_grad():
            if shared:
                log_zeta = torch.logsumexp(f_y - log_p_y, 0) - math.log(rows)
            forward, reverse, prx = kl
            ratio = log_p_y - f_y + log_zeta
            weight = -reverse
            if energy:
                log_w = f_y - log_p_y
                weight = (reverse + prx) * torch.exp(log_w - log_zeta) - reverse
                weight = weight + (zeta[1] - zeta[0]) * torch.exp(log_w)
            levels = torch.stack([-log_p_x.mean(), ratio.mean(), -f_x.mean() + log_zeta])
            slack = kl / 2 - 1 / (4 * kl.clamp(min=1e-3) ** 2)
            z = torch.exp(log_zeta)
        loss_main = -forward * log_p_x.mean() + reverse * (ratio * log_p_y).mean()
        loss_proxy = -prx * f_x.mean() + (weight * f_y).mean()
        models.zero_grad(set_to_none=True)
        (loss_main + loss_proxy).backward()
        models.step()
        kl.grad = levels - slack
        zeta.grad = torch.stack([1 - z, z - 1.1]) if energy else torch.zeros(2)
        multipliers.step()
        with torch.no_grad():
            kl.clamp_(min=0)
            zeta.clamp_(min=0)

    return call


def likelihood_iteration(
    flow: NSF, rows: int, features: int, context: int = 0, entropy: bool = False
) -> Call:
    """One training step of maximum likelihood, with the entropy term by its score function."""
    x = torch.randn(rows, features)
    c = torch.randn(rows, context) if context else None
    adamw = torch.optim.AdamW(flow.parameters(), lr=1e-4, betas=(0.0, 0.9), eps=1e-8)

    def call() -> None:
        if entropy:
            with torch.no_grad():
                y = flow().sample((rows,))
            log_p_x, log_p_y = flow().log_prob(torch.cat([x, y])).split(rows)
            loss = -log_p_x.mean() + 0.1 * (log_p_y.detach() * log_p_y).mean()
        else:
            loss = -flow(c).log_prob(x).mean()
        adamw.zero_grad(set_to_none=True)
        loss.backward()
        adamw.step()

    return call


def conditional_dual_iteration(
    main: NSF, proxy: nn.Module, rows: int, features: int, context: int, zeta_samples: int
) -> Call:
    """One step of the conditional dual method: zeta for each condition from so many samples."""
    x = torch.randn(rows, features)
    c = torch.randn(rows, context)
    adamw = torch.optim.AdamW([*main.parameters(), *proxy.parameters()], lr=1e-4, betas=(0.0, 0.9), eps=1e-8)

    def call() -> None:
        with torch.no_grad():
            y = main(c).sample()
            z, log_p = main(c).rsample_and_log_prob((zeta_samples,))
            many = c.expand(zeta_samples, rows, context).reshape(-1, context)
            f = proxy(z.reshape(-1, features), many).reshape(zeta_samples, rows)
            log_zeta = torch.logsumexp(f - log_p, 0) - math.log(zeta_samples)
        both, conditions = torch.cat([x, y]), torch.cat([c, c])
        log_p_x, log_p_y = main(conditions).log_prob(both).split(rows)
        f_x, f_y = proxy(both, conditions).split(rows)
        with torch.no_grad():
            ratio = log_p_y - f_y + log_zeta
            weight = torch.exp(f_y - log_p_y - log_zeta)
        loss = -log_p_x.mean() + (ratio * log_p_y).mean() - f_x.mean() + (weight * f_y).mean()
        adamw.zero_grad(set_to_none=True)
        loss.backward()
        adamw.step()

    return call


def flow_2d(context: int = 0) -> NSF:
    return NSF(2, context, transforms=4, bins=8, hidden_features=(64, 64))


def flow_30d() -> NSF:
    return NSF(30, transforms=2, bins=8, hidden_features=(64, 64))


def flow_100d() -> NSF:
    return NSF(100, transforms=6, bins=16, hidden_features=(64, 64))


def energy_128() -> ResidualEnergy:
    return ResidualEnergy(features=2, hidden=128, blocks=2)


def energy_1024() -> ResidualEnergy:
    return ResidualEnergy(features=100, hidden=1024, blocks=5)


def film() -> FilmEnergy:
    return FilmEnergy(features=2, context=2, hidden=128, blocks=3, film_layers=2)


# A model is in training mode unless eval() is called: then each forward does one power iteration.
WORKS: dict[str, Callable[[], Call]] = {
    "flow2d_score": lambda: flow_score(flow_2d(), 1000, 2),
    "flow2d_sample": lambda: flow_sample(flow_2d(), 1000),
    "flow30d_sample": lambda: flow_sample(flow_30d(), 1000),
    "flow100d_sample": lambda: flow_sample(flow_100d(), 500),
    "energy128_score": lambda: energy_score(energy_128(), 1000, 2),
    "energy1024_score": lambda: energy_score(energy_1024(), 256, 100),
    "flow2d_log_prob": lambda: flow_log_prob(flow_2d(), 1000, 2),
    "flow_cond_score": lambda: flow_score(flow_2d(context=2), 1000, 2, context=2),
    "flow30d_score": lambda: flow_score(flow_30d(), 1000, 30),
    "flow100d_score": lambda: flow_score(flow_100d(), 128, 100),
    "film_score": lambda: energy_score(film(), 1000, 2, 2),
    "energy128_value": lambda: energy_value(energy_128().eval(), 1000, 2),
    "energy1024_score_eval": lambda: energy_score(energy_1024().eval(), 256, 100),
    "dual2d_energy": lambda: dual_iteration(flow_2d(), energy_128(), 1000, 2, 1000),
    "dual2d_energy_shared": lambda: dual_iteration(flow_2d(), energy_128(), 1000, 2, 1000, shared=True),
    "dual30d_flow": lambda: dual_iteration(flow_30d(), flow_30d(), 455, 30, 0),
    "dual100d_energy": lambda: dual_iteration(flow_100d(), energy_1024(), 128, 100, 0),
}

# A call takes many seconds: what a first call costs more is lost in it.
WITHOUT_WARM_UP = {"flow100d_sample", "dual100d_energy"}
WARM_UP_CALLS = 3


# --- the child process --------------------------------------------------------------------------


def prepare(work: str) -> Call:
    torch.manual_seed(0)
    call = WORKS[work]()
    for _ in range(0 if work in WITHOUT_WARM_UP else WARM_UP_CALLS):
        call()
    return call


def measure(call: Call, amount: str) -> list[float]:
    """Amount: a number of calls, or seconds with an s at the end (then at least one call)."""
    seconds = float(amount[:-1]) if amount.endswith("s") else float("inf")
    calls = sys.maxsize if amount.endswith("s") else int(amount)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < calls and (not times or time.perf_counter() < end):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def blas() -> str:
    """The library behind torch's matrix products."""
    if torch.backends.mkl.is_available():  # linked statically in PyTorch's own packages
        return "mkl"
    torch.ones(64, 64) @ torch.ones(64, 64)
    try:
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    # NumPy's own packages bring an OpenBLAS that torch does not use.
    files = {line.split()[-1] for line in mapped.splitlines() if ".so" in line and "numpy" not in line}
    for name in ("openblas", "blis", "atlas"):
        # Either libopenblas.so.0 or, on Debian, openblas-pthread/libblas.so.3.
        if any(name in file for file in files):
            return name
    return "reference" if any("libblas" in file for file in files) else "unknown"


def describe() -> dict[str, object]:
    return {
        "torch": torch.__version__,
        "zuko": getattr(zuko, "__version__", "unknown"),
        "threads": torch.get_num_threads(),
        "blas": blas(),
        "works": list(WORKS),
    }


def answer(value: object) -> None:
    print(json.dumps(value), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)
    answer(describe())
    prepared: dict[str, Call] = {}
    for line in sys.stdin:
        work, amount = line.split()
        if work not in prepared:
            prepared.clear()  # one work at a time keeps the memory small
            prepared[work] = prepare(work)
        answer(measure(prepared[work], amount))
    return 0


if __name__ == "__main__":
    sys.exit(main())
