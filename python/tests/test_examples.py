"""What the documentation shows is run: examples of docstrings, and the notebooks."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jeffreys as jf
from conftest import QUICK, quick

DOCUMENTS = Path(__file__).parent.parent.parent / "docs"
NOTEBOOKS = sorted((Path(__file__).parent.parent.parent / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", ["", ".density", ".diagnostics", ".models", ".npe", ".prior", ".simulation"])
def test_examples_of_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module("jeffreys" + name))
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=250, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


class OtherFlow:
    """What the document calls a flow of Zuko: something with a state dict."""

    def __init__(self):
        self._state = jf.SplineFlow(3, transforms=4).to_zuko()

    def state_dict(self):
        return self._state

    def load_state_dict(self, state):
        assert state.keys() == self._state.keys()


def patients(rows=80):
    random = np.random.default_rng(0)
    age = random.normal(55, 15, rows).clip(18, 95).round()
    return pd.DataFrame({
        "age": age, "price": (20 + age + random.normal(0, 9, rows)).round(1), "site": random.choice(["north", "south"], rows),
    })  # fmt: skip


def quick_settings(chosen):
    """The settings of a fit with few steps and members."""

    def fewer(owner, arguments):
        settings = [each for each in chosen(owner, arguments) if each[0] not in QUICK and each[0] != "members"]
        text = {**{key: str(value).strip("[]") for key, value in QUICK.items()}, "members": "1"}
        return settings + [(key, value, "settings") for key, value in text.items()]

    return fewer


def test_the_document_runs_from_its_first_to_its_last_line(tmp_path, monkeypatch):
    """docs/python.md, with small fits, and processes instead of Dask's."""
    from jeffreys import comparison, density, npe

    import joblib

    monkeypatch.chdir(tmp_path)
    df = patients()
    df.to_csv("patients.csv", index=False)
    monkeypatch.setattr(density, "chosen_settings", quick_settings(density.chosen_settings))
    monkeypatch.setattr(npe, "chosen_settings", quick_settings(npe.chosen_settings))
    compare = comparison.compare
    monkeypatch.setattr(jf, "compare", lambda X, *rest, **more: compare(X, *rest, settings=QUICK, splits=2, **more), raising=False)
    prior = jf.Prior(amplitude=jf.Uniform(0, 2), rate=jf.LogNormal(-1, 0.5))
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    known = {
        "new": df.head(), "sites": pd.DataFrame({"site": ["north", "south"]}), "w": np.ones(len(df)), "joblib": joblib, "np": np,
        "exact": prior.sample((100,)), "f": lambda theta, rng: theta + rng.normal(size=theta.shape), "weights": np.ones(60),
        "zuko_flow": OtherFlow(), "main": jf.SplineFlow(3), "proxy": jf.SplineFlow(3, seed=1),
    }  # fmt: skip
    blocks = re.findall(r"```python\n(.*?)```", (DOCUMENTS / "python.md").read_text(), re.DOTALL)
    assert len(blocks) > 8
    for block in blocks:
        if "SplineFlow" in block:
            known["x"] = x
        exec(block.replace('"dask"', '"loky"').replace("20_000", "400"), known)
