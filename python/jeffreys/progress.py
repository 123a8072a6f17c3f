"""Progress of what takes long: a bar by tqdm, a line without it, a function of the user's own."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, Callable


def is_watched() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None:
        current = shell.get_ipython()
        if current is not None and "IPKernelApp" in current.config:
            return True
    return bool(getattr(sys.stderr, "isatty", lambda: False)())


class Progress:
    """Shows what fits and simulations tell, and hands it on to the callback.

    verbose: "auto" shows a bar in a terminal or notebook, True always, False never.
    """

    def __init__(self, verbose: Any, callback: Callable[[dict], Any] | None):
        if verbose not in ("auto", True, False, 0, 1):
            raise ValueError(f"verbose: expected 'auto', True or False, got {verbose!r}")
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: expected a function, got {type(callback).__name__}")
        self._shown = is_watched() if verbose == "auto" else bool(verbose)
        self._callback = callback
        self._bar = None
        self._label = None

    @property
    def tell(self) -> Callable[[dict], None] | None:
        return self._tell if self._shown or self._callback is not None else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *problem: Any) -> None:
        self._close()

    def _tell(self, progress: dict) -> None:
        if self._shown:
            self._show(progress)
        if self._callback is not None:
            self._callback(progress)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _show(self, progress: dict) -> None:
        if self._bar is None or progress["label"] != self._label:
            self._close()
            self._label = progress["label"]
            self._bar = _new_bar(self._label, progress["iterations"])
        numbers = {
            name.replace("validation_proxy", "proxy"): f"{progress[name]:.3f}"
            for name in ("nll", "validation", "validation_proxy", "balance")
            if name in progress and not math.isnan(progress[name])
        }
        self._bar.set_postfix(numbers, refresh=False)
        self._bar.update(progress["iteration"] - self._bar.n)


def _new_bar(label: str, total: int) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # In a notebook without widgets it is a line of text, which is no reason to worry.
            from tqdm.auto import tqdm
    except ImportError:
        return _Line(label, total)
    return tqdm(desc=label, total=total, leave=False)


class _Line:
    """The little of tqdm's bar that is needed here, as a line on stderr."""

    def __init__(self, label: str, total: int):
        self.n = 0
        self._label, self._total, self._numbers = label, total, {}

    def set_postfix(self, numbers: dict, refresh: bool = False) -> None:
        self._numbers = numbers

    def update(self, steps: int) -> None:
        self.n += steps
        rest = "  ".join(f"{name} {value}" for name, value in self._numbers.items())
        print(f"\r{self._label} {self.n}/{self._total}  {rest}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
