"""What the tests share: small data, quick settings, and the program to compare with."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import jeffreys as jf

QUICK = {"iterations": 60, "flow.transforms": 1, "flow.hidden": [8]}


def quick(**options):
    """A density that is fitted in a moment."""
    return jf.Density(**{"settings": QUICK, "members": 1, "verbose": False, "n_jobs": 1, **options})


def make_frame(rows=120, seed=0):
    """A frame with a column of every kind that frames have."""
    random = np.random.default_rng(seed)
    height = random.normal(170, 10, rows)
    return pd.DataFrame(
        {
            "height": height,
            "weight": (height - 100 + random.normal(0, 8, rows)).astype(np.float32),
            "age": random.integers(18, 90, rows),
            "children": pd.array(random.poisson(1.5, rows), dtype="Int64"),
            "smoker": random.random(rows) < 0.3,
            "site": pd.Categorical(random.choice(["north", "south"], rows), ["south", "east", "north"]),
            "group": random.choice(["a", "b", "c"], rows),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, rows), unit="D"),
        }
    )


@pytest.fixture(scope="session")
def frame():
    return make_frame()


@pytest.fixture(scope="session")
def plane():
    """200 rows of two numbers that depend on each other."""
    random = np.random.default_rng(1)
    x = random.normal(size=200)
    return np.column_stack([x, x**2 + 0.3 * random.normal(size=200)])


@pytest.fixture(scope="session")
def fitted(frame):
    return quick().fit(frame)


@pytest.fixture
def program(tmp_path):
    """Runs the program in a scratch folder; its standard output."""

    def run(*arguments):
        done = subprocess.run(
            [os.environ["JEFFREYS_PROGRAM"], *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.folder = tmp_path
    return run


def set_options(settings={**QUICK, "members": 1}):
    """The same settings as options of the program."""
    from jeffreys.estimator import setting_text

    return [part for key, value in settings.items() for part in ("--set", f"{key}={setting_text(value)}")]
