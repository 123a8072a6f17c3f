"""The Python that README and docs show, block after block, as a reader pastes it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jeffreys as jf

PROJECT = Path(__file__).parent.parent.parent
SMALL = {"iterations": 20, "flow.hidden": 8, "flow.transforms": 1, "members": 1}

# Not what is done, only how long it takes; a cluster is a matter of test_spreading.py.
SHORTER = [
    (r"jf\.Density\(", "jf.Density(settings=SMALL, verbose=False, "),
    (r"jf\.NPE\(", "jf.NPE(settings=SMALL, verbose=False, prior="),
    (r"jf\.compare\(df, ", "jf.compare(df, splits=2, settings=SMALL, verbose=False, methods="),
    (r"\b(20_000|2000|1000|500)\b", "200"),
    (r'"dask"', '"threading"'),
]


def blocks(document):
    text = (PROJECT / document).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(block, names):
    for pattern, shorter in SHORTER:
        block = re.sub(pattern, shorter, block)
    # Of Zuko, which is no dependency.
    lines = [line for line in block.splitlines() if "zuko_flow" not in line]
    exec(compile("\n".join(lines), block.splitlines()[0], "exec"), names)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What a reader has: a table, a simulator, an observation."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 120)
    table = pd.DataFrame({"age": age, "site": rng.choice(["north", "south"], 120), "price": (age + rng.normal(size=120)).round(2)})
    for name in ("table.csv", "patients.csv"):
        table.to_csv(name, index=False)
    import joblib

    return {"np": np, "joblib": joblib, "SMALL": SMALL, "new": table[:5], "sites": pd.DataFrame({"site": ["north", "south"]}), "w": np.ones(120)}


def test_readme(names):
    names["simulator"] = lambda theta, rng: theta + 0.1 * rng.normal(size=theta.shape)
    names["x_o"] = np.array([1.0])
    (block,) = blocks("README.md")
    run(block, names)
    assert len(names["theta"]) == 200 and names["df"].shape == (120, 3)


def test_the_page_about_python(names):
    names["x_o"] = np.array([0.8, 0.6, 0.4, 0.1])
    for block in blocks("docs/python.md"):
        if "flow.add_scores" in block:
            x = np.random.default_rng(2).normal(size=(50, 3)).astype(np.float32)
            small = {"features": 3, "transforms": 1, "hidden": [8]}
            names.update(x=x, weights=np.ones(50, np.float32), main=jf.SplineFlow(**small), proxy=jf.SplineFlow(**small, seed=1))
        if "exact" in block:
            names["exact"] = names["s"]
        names["f"] = names.get("simulator")
        run(block, names)
    assert names["record"]["iteration"] == 1
    assert names["found"].verdict and names["c"].verdict
