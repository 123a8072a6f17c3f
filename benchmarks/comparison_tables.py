"""The tables of `benchmarks/tables`, `benchmarks/members` and `benchmarks/energy_tables`, made from the data folder, and how they are compared.

Needs python3-numpy.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

import numpy as np

HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope".split()
HEART_LABELS = "sex,cp,fbs,restecg,exang,slope"
# Name: table, training rows (0: four fifths of all), further options of `compare`, whether something was chosen on it.
COMPARISONS = {
    "wine-200": ("wine", 200, [], True),
    "wine-500": ("wine", 500, [], False),
    "wine-all": ("wine", 0, [], False),
    "heart": ("heart", 0, ["--categorical", HEART_LABELS], True),
    "cancer": ("cancer", 0, [], True),
    "miniboone-200": ("miniboone", 200, [], True),
    "miniboone-500": ("miniboone", 500, [], False),
    "miniboone-1200": ("miniboone", 1200, [], False),
    "power-200": ("power", 200, ["--group", "day"], False),
    "power-500": ("power", 500, ["--group", "day"], False),
    "power-1000": ("power", 1000, ["--group", "day"], False),
    "power-2000": ("power", 2000, ["--group", "day"], False),
    "patches-166": ("patches60", 166, [], True),
    "patches-200": ("patches", 200, [], False),
    "patches-500": ("patches", 500, [], True),
    "patches-2000": ("patches", 2000, [], False),
}


def read_wine(data: Path):
    lines = [(data / "uci" / f"winequality-{kind}.csv").read_text().splitlines() for kind in ("red", "white")]
    names = [name.strip('"').replace(" ", "_") for name in lines[0][0].split(";")[:11]]
    rows = dict.fromkeys(tuple(line.split(";")[:11]) for part in lines for line in part[1:])
    return names, list(rows)


def read_power(data: Path):
    archive = np.load(data / "flows" / "power_first_month.npz")
    rows = archive["data"].astype(float)
    day = np.concatenate([[0], np.cumsum(np.diff(rows[:, 5]) < 0)])
    names = [str(name) for name in archive["columns"]] + ["day"]
    cells = [[f"{v:.3f}" if j == 0 else f"{v:.2f}" if j == 1 else f"{v:.0f}" for j, v in enumerate(row)] for row in rows]
    return names, [cell + [f"d{d}"] for cell, d in zip(cells, day)]


def numbered(rows):
    return [f"x{i}" for i in range(rows.shape[1])], [[repr(float(v)) for v in row] for row in rows]


def read(table: str, data: Path):
    """Names of the columns, and rows of texts."""
    if table == "wine":
        return read_wine(data)
    if table == "heart":
        lines = (data / "uci" / "processed.cleveland.data").read_text().split()
        return HEART, [line.split(",")[:11] for line in lines]
    if table == "cancer":
        lines = (data / "uci" / "wdbc.data").read_text().split()
        return [f"x{i}" for i in range(30)], [line.split(",")[2:] for line in lines]
    if table == "power":
        return read_power(data)
    if table == "miniboone":
        return numbered(np.load(data / "flows" / "miniboone_first1523.npy"))
    patches = np.load(data / "flows" / "bsds300_patches63.npz")["train"]
    return numbered(patches[:, :60] if table == "patches60" else patches)


def write_table(name: str, folder: Path, data: Path):
    """The path of the comparison's table, which is written if it is not there."""
    table = COMPARISONS[name][0]
    path = folder / f"{table}.csv"
    if not path.exists():
        names, cells = read(table, data)
        path.write_text("\n".join(",".join(row) for row in [names, *cells]) + "\n")
    return path


def compare(program: str, name: str, table: Path, folder: Path, methods, jobs: int, splits: int = 5, settings=()):
    """Runs what is missing of a comparison, and returns what `jeffreys compare` says of it."""
    _, rows, options, _ = COMPARISONS[name]
    command = [program, "compare", table, "-o", folder, "--methods", ",".join(methods), "--splits", str(splits), "--seed", "1",
               "--test-rows", "1500", "--jobs", str(jobs), "--json", *options, *(["--rows", str(rows)] if rows else []),
               *(part for setting in settings for part in ("--set", setting))]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def finished(program: str, name: str, folder: Path, methods, splits: int = 5):
    """What `jeffreys compare` says of a comparison whose runs are all there; otherwise nothing."""
    if not folder.is_dir():
        return None
    made = subprocess.run([program, "compare", "--no-training", "-o", folder, "--methods", ",".join(methods), "--json"],
                          capture_output=True, text=True, check=False)
    result = json.loads(made.stdout) if made.returncode == 0 else {"methods": []}
    if len(result["methods"]) != len(methods) or any(m["splits"] != splits for m in result["methods"]):
        return None
    kept = {key: value for key, value in result.items() if key not in ("folder", "report")}
    return {**kept, "chosen_on": COMPARISONS[name][3]}


def label(name: str, result) -> str:
    return f"{name.rsplit('-', 1)[0]}, {result['training_rows']}" + (" (chosen on)" if result["chosen_on"] else "")


def interval(difference) -> str:
    return f"{difference['mean']:+.2f} [{difference['lower']:+.2f}, {difference['upper']:+.2f}]"


def arguments(text: str, names, add_more=lambda parser: None):
    """Of a script that compares tables: program, folder, results, jobs, settings, and names and data of what is to be run."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="names of comparisons, with commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of all fits, for a quick try")
    parser.add_argument("--no-training", action="store_true")
    add_more(parser)
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    a.names = [] if a.no_training else a.only.split(",") if a.only else list(names)
    if unknown := [name for name in a.names if name not in names]:
        parser.error(f"--only: there is no table {', '.join(unknown)}; known: {', '.join(names)}")
    if a.names and not os.environ.get("JEFFREYS_DATA"):
        parser.error("set JEFFREYS_DATA to the folder that holds uci/ and flows/")
    a.data = Path(os.environ.get("JEFFREYS_DATA", ""))
    return a
