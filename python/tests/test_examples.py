"""What the documentation shows is run: examples of docstrings, and the notebooks."""

import doctest
import importlib
from pathlib import Path

import pytest

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
