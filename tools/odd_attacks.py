"""Attacks by what is odd but valid, whose models must be of use in every command: for tools/attack."""
import json
import zlib

from odd_tables import OddTable, cells_of, problem_of_json, problem_of_samples, problem_of_scores

SMALL = ["--set", "iterations=2", "flow.hidden=4", "energy.hidden=4", "flow.transforms=1", "members=1"]


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not data:
            break
        at = rng.randrange(len(data))
        what = rng.randrange(5)
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            del data[at:]
        elif what == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 8, 100])))
        elif what == 3:
            del data[at:at + rng.choice([1, 4, 64])]
        else:
            data[at:at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"9999", b"\x7f\xff\xff\xff"])
    return bytes(data)


# A density of an odd table, and all that can be made of it.
def attack_odd(case):
    rng = case.rng
    table = OddTable(rng)
    case.write("o.csv", table.data)
    first, last = table.names[0], table.names[-1]
    options = [[], [], [], ["--missing", "drop"], ["--proxy", "energy"], ["--ties", "keep"], ["--members", "2"], ["--calibration", "0.2"]]
    if table.plain_names and len(table.names) > 1:
        options += [["--condition", last], ["--categorical", first], ["--integer", first], ["--ignore", first], ["--bound", first + "=:1e9"], ["--weights", first]]
    words = SMALL if "--members" not in (chosen := rng.choice(options)) else SMALL[:-1]
    header = [] if table.plain_names else ["--header", "yes"]
    if case.run(["fit", "o.csv", "-o", "m", *words, *chosen, *header]) is None or case.code != 0:
        return
    given = ["--given", "%s=%s" % (last, table.present(last))] if "--condition" in chosen else []
    rows = rng.choice([1, 4, 30])
    samples = case.run(["sample", "m", "-n", str(rows), "-o", "s.csv", *given])
    if samples is not None:
        case.require(problem_of_samples((case.folder / "s.csv").read_bytes().decode(), table, rows))
        # What it writes it reads.
        scores = case.run(["log_prob", "m", "s.csv"])
        case.require("its own samples are refused" if scores is None else problem_of_scores(scores, rows))
    for use in rng.sample(USES, 3):
        use(case, table, given)


def use_scores(case, table, given):
    scores = case.run(["log_prob", "m", "o.csv", *case.rng.choice([[], ["--percentile"], ["--explain"], ["--precision", "double"]])])
    case.require("a fitted table is refused" if scores is None else problem_of_scores(scores, table.rows))


def use_evaluation(case, table, given):
    said = case.run(["evaluate", "m", "o.csv", "--json", *case.rng.choice([[], ["--synthetic", "s.csv"]])])
    case.require(said and problem_of_json(json.loads(said)))


def use_gaps(case, table, given):
    said = case.run(["impute", "m", "o.csv", *case.rng.choice([[], ["--fill", "mean"], ["--fill", "median"], ["--draws", "2"]])])
    if said is None:
        return
    records = cells_of(said, table.delimiter)
    copies = 2 if "--draws" in case.words else 1
    case.require(len(records) != copies * table.rows + 1 and "%d lines imputed of %d rows" % (len(records), table.rows))


def use_given(case, table, given):
    name = case.rng.choice(table.names)
    value = table.present(name)
    if given or value is None or "\n" in name + value or "=" in name:
        return
    out = case.run(["sample", "m", "-n", "3", "--given", "%s=%s" % (name, value)])
    if out is not None:
        case.require(problem_of_samples(out, table, 3))
    case.run(["log_prob", "m", "o.csv", "--columns", name])


def use_figures(case, table, given):
    words = case.rng.choice([["plot", "m", "o.csv", *given], ["plot", "m", *given], ["plot", "m", "--training"]])
    if case.run([*words, "-o", "p.svg"]) is not None:
        case.require(b"</svg>" not in (case.folder / "p.svg").read_bytes() and "half a figure")


def use_descriptions(case, table, given):
    said = case.run(["inspect", "m", "--json"])
    case.require("a model that it wrote is refused" if said is None else problem_of_json(json.loads(said)))
    case.require(problem_of_json(json.loads((case.folder / "m.run.json").read_text())))
    case.run(["export", "zuko", "m", "-o", "z.npz"])


def use_comparison(case, table, given):
    case.run(["compare", "o.csv", "--methods", case.rng.choice(["gaussian,kde", "mle,mixture"]), "--splits", "2", "--jobs", "1", "-o", "c", "-q",
              "--set", *SMALL[1:-1]])


def use_others(case, table, given):
    """Another table than that of the fit."""
    case.write("other.csv", OddTable(case.rng).data)
    case.run(case.rng.choice([["log_prob", "m", "other.csv"], ["evaluate", "m", "other.csv"], ["impute", "m", "other.csv"],
                              ["log_prob", "whole.model", "o.csv"], ["sample", "m", "-n", "2", "--given-file", "other.csv"]]))


def use_arrays(case, table, given):
    name = case.rng.choice(["s.npy", "s.npz"])
    if case.run(["sample", "m", "-n", "5", "-o", name, *given]) is not None:
        case.require(case.run(["fit", name, "-o", "n", *SMALL]) is None and case.code not in (3, 4) and "an array of its own is refused")


USES = [use_scores, use_evaluation, use_gaps, use_given, use_figures, use_descriptions, use_comparison, use_others, use_arrays]


# A posterior of an odd table of pairs.
def attack_posterior(case):
    rng = case.rng
    table = OddTable(rng)
    while not table.plain_names or len(table.names) < 2:
        table = OddTable(rng)
    case.write("o.csv", table.data)
    parameters, outcomes = table.names[:1], table.names[1:][:rng.choice([1, 2, 3])]
    if case.run(["sbi", "fit", "o.csv", "--parameters", *parameters, "--outcomes", *outcomes, "-o", "p", *SMALL]) is None or case.code != 0:
        return
    values = [table.present(name) for name in outcomes]
    observed = ["--observed", *("%s=%s" % pair for pair in zip(outcomes, values))]
    out = case.run(["sbi", "sample", "p", "-n", "5", "--extrapolate", *observed])
    if out is not None:
        case.require(len(cells_of(out, ",")) != 6 and "%r instead of 5 rows" % out[:200])
    out = case.run(["sbi", "check", "p", "o.csv", "--samples", "10", "--json"])
    case.require(out and problem_of_json(json.loads(out)))
    out = case.run(["sbi", "log_prob", "p", "o.csv"])
    case.require(out and problem_of_scores(out, table.rows))
    case.run(["sbi", "plot", "p", "-o", "p.svg", "--extrapolate", *observed])


def picture(rng, side, damage):
    """A PNG file of grey or coloured pixels."""
    channels = rng.choice([1, 3])
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(side * channels)) for _ in range(side))

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = side.to_bytes(4, "big") * 2 + bytes([8, 0 if channels == 1 else 2, 0, 0, 0])
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return damaged(data, rng) if damage else data


def attack_images(case):
    rng = case.rng
    (case.folder / "photos").mkdir()
    for i in range(rng.choice([1, 12, 30])):
        (case.folder / "photos" / ("%d.png" % i)).write_bytes(picture(rng, rng.choice([8, 8, 8, 9, 40, 1]), rng.random() < 0.2))
    if case.run(["images", "fit", "photos", "-o", "i", "--size", "8", "--latent", "2", "--epochs", "1", *SMALL]) is None or case.code != 0:
        return
    if case.run(["images", "sample", "i", "-n", "3", "-o", "grid.png"]) is not None:
        case.require((case.folder / "grid.png").read_bytes()[:4] != b"\x89PNG" and "no picture was written")
    case.run(["images", "score", "i", "photos", "-o", "scores.csv", "--sheet", "unusual.png"])
