"""Finds a Python with PyTorch and Zuko. Imports neither, so that any python3 can run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

NEEDED = ("numpy", "torch", "zuko")

HOW_TO_INSTALL = (
    "PyTorch: Debian packages python3-torch, python3-numpy and libopenblas0-pthread (a fast BLAS). "
    "Zuko 1.6.0: unpack github.com/probabilists/zuko and set the environment variable ZUKO to the "
    "directory that contains the folder zuko/."
)

_PROBE = (
    "import importlib.util, json, sys; "
    "print(json.dumps([m for m in sys.argv[1:] if importlib.util.find_spec(m) is None]))"
)


class Interpreter(NamedTuple):
    path: str
    missing: list[str]  # of NEEDED


def environment_with_zuko() -> dict[str, str]:
    """The environment for a child process: ZUKO becomes part of PYTHONPATH."""
    environment = dict(os.environ)
    paths = [environment.get("ZUKO", ""), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


def add_zuko_to_path() -> None:
    """Makes `import zuko` work in this process if ZUKO names a directory."""
    directory = os.environ.get("ZUKO", "")
    if directory and directory not in sys.path:
        sys.path.insert(0, directory)


def find_interpreter(preferred: str | None = None) -> Interpreter:
    """The Python that lacks the fewest of NEEDED.

    Debian's torch is seen by /usr/bin/python3 only, and another python3 may come first on PATH.
    """
    candidates = [preferred] if preferred else [sys.executable, shutil.which("python3"), "/usr/bin/python3"]
    found = [_probe(path) for path in dict.fromkeys(candidates) if path and shutil.which(path)]
    return min(found, key=lambda interpreter: len(interpreter.missing), default=Interpreter("", list(NEEDED)))


def run_with_torch(script: Path) -> None:
    """Continues the script in a Python that has NEEDED, if this one lacks some; else returns."""
    add_zuko_to_path()
    if not _probe(sys.executable).missing:
        return
    interpreter = find_interpreter()
    if interpreter.missing:
        sys.exit(f"{script.name}: no python3 here has {', '.join(interpreter.missing)}.\n{HOW_TO_INSTALL}")
    os.execve(interpreter.path, [interpreter.path, str(script), *sys.argv[1:]], environment_with_zuko())


def _probe(path: str) -> Interpreter:
    # find_spec does not import: importing torch takes seconds.
    result = subprocess.run(
        [path, "-c", _PROBE, *NEEDED],
        env=environment_with_zuko(), capture_output=True, text=True, check=False,
    )
    missing = json.loads(result.stdout) if result.returncode == 0 else list(NEEDED)
    return Interpreter(path, missing)
