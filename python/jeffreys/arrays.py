"""Numbers of NumPy, pandas and torch as arrays, and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._core import InputError


def is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def like(result: np.ndarray, *given: Any) -> Any:
    """The result as a torch tensor if one of the givens is one."""
    if any(is_tensor(values) for values in given):
        import torch

        return torch.from_numpy(np.ascontiguousarray(result, dtype=np.float32))
    return result


def names_of(values: Any) -> list[str] | None:
    """The columns of a frame."""
    return [str(name) for name in values.columns] if hasattr(values, "columns") else None


def rows_of(values: Any, columns: int | None, what: str) -> np.ndarray:
    """Finite numbers as [rows, columns]; one dimension is one row, or a column where one is expected."""
    if is_tensor(values):
        values = values.detach().cpu().numpy()
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers, got {type(values).__name__}") from None
    if array.ndim <= 1:
        array = array.reshape(-1, 1) if columns == 1 else array.reshape(1, -1)
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        raise InputError(f"{what}: expected rows of {columns if columns is not None else 'some'} numbers, got the shape {np.shape(values)}")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise InputError(f"{what}, row {row}: a value is not finite; leave the row out")
    return array
