"""Tables that are odd but valid, and what must be true of whatever the program makes of them: for tools/attack."""
import csv
import io
import math
import re

LABELS = [["red", "blue"], ["a", "b", "c", "d"], ["only"], ["ja", "nein", "vielleicht"], ["\u6771\u4eac", "\u041c\u043e\u0441\u043a\u0432\u0430", "\u0627\u0644\u0642\u0627\u0647\u0631\u0629"],
          ["a,b", "c;d", "e\tf"], ["say \"no\"", "it's", "two\nlines"], [" left", "right ", "plain"], ["x" * 300, "y" * 300],
          ["#1", "=1+1", "-x"], ["e\u0301", "\u00e9"]]
NAMES = ["x%d", "price (\u20ac) %d", "\u540d\u524d%d", "a,b %d", "\"quoted\" %d", "201%d", "a  b %d", "x=%d", "%d%%", "a:b%d", "two\nlines %d"]


class OddColumn:
    """cells: the texts, '' where missing; fits: whether another text may be a cell of the same column."""

    def __init__(self, cells, fits):
        self.cells, self.fits = cells, fits


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def like(pattern):
    return re.compile(pattern).fullmatch


def numbers(rng, rows, make):
    return OddColumn([make(rng) for _ in range(rows)], is_number)


def scaled(rng, exponent):
    text = "%.5fe%d" % (rng.gauss(0, 1), exponent)
    return text if math.isfinite(float(text)) else "1.7976931348623157e308"


def number_column(rng, rows, kind):
    exponent = rng.choice([308, 98, 90, 38, 20, 9, -9, -20, -45, -90, -100, -155, -300, -320])
    makers = {
        "number": lambda r: "%.6g" % r.gauss(0, 10 ** r.randint(-2, 2)),
        "scaled": lambda r: scaled(r, exponent),
        "wild": lambda r: scaled(r, r.randint(-300, 98)),
        "ends": lambda r: r.choice(["1e308", "-1e308", "1.7976931348623157e308", "0", "5e-324"]),
        "constant": lambda r: "5",
        "nearly constant": lambda r: "5" if r.random() < 0.95 else "6",
        "far from zero": lambda r: "1e9" if r.random() < 0.1 else "%d" % (10 ** 15 + r.randint(0, 3)),
        "whole": lambda r: str(r.randint(0, 9)),
        "large": lambda r: str(r.randint(2 ** 53, 2 ** 63)),
        "binary": lambda r: r.choice("01"),
        "zeros": lambda r: "0" if r.random() < 0.7 else "%.4f" % r.expovariate(1),
        "rounded": lambda r: "%.1f" % r.gauss(20, 2),
        "exponents": lambda r: "%.3e" % r.gauss(0, 1e-6),
        "signs": lambda r: r.choice(["-0", "+1", "-1", "0.", ".5"]),
    }
    return numbers(rng, rows, makers[kind])


def text_column(rng, rows, kind):
    if kind == "label":
        labels = rng.choice(LABELS)
        return OddColumn([rng.choice(labels) for _ in range(rows)], lambda text: text.strip() in [label.strip() for label in labels])
    if kind == "identity":
        return OddColumn(["name %d" % i for i in range(rows)], lambda text: True)
    if kind == "missing":
        return OddColumn(["" if rng.random() < 0.9 else "%.3f" % rng.gauss(0, 1) for _ in range(rows)], is_number)
    if kind == "empty":
        return OddColumn([""] * rows, lambda text: True)
    makers = {
        "date": (lambda: "20%02d-%02d-%02d" % (rng.randint(0, 30), rng.randint(1, 12), rng.randint(1, 28)), r"\d{4}-\d\d-\d\d"),
        "german date": (lambda: "%02d.%02d.20%02d" % (rng.randint(1, 28), rng.randint(1, 12), rng.randint(0, 30)), r"\d\d\.\d\d\.\d{4}"),
        "moment": (lambda: "2021-03-%02d %02d:%02d:%02d" % (rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59)),
                   r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
        "time": (lambda: "%02d:%02d" % (rng.randint(0, 23), rng.randint(0, 59)), r"\d\d:\d\d"),
        "percent": (lambda: "%.1f%%" % rng.uniform(0, 100), r"-?[\d.]+%"),
        "money": (lambda: "$%s" % format(rng.lognormvariate(7, 1), ",.2f"), r"-?\$[\d.,]+"),
        "comma": (lambda: ("%.3f" % rng.gauss(0, 9)).replace(".", ","), r"-?[\d,]+"),
        "unit": (lambda: "%.2f kg" % rng.gauss(70, 9), r"-?[\d.]+ kg"),
    }
    make, pattern = makers[kind]
    return OddColumn([make() for _ in range(rows)], like(pattern))


NUMBER_KINDS = [*["number"] * 8, *["scaled"] * 3, "wild", "ends", "whole", "rounded", "zeros", "constant", "nearly constant", "far from zero", "whole", "large", "binary",
                "zeros", "rounded", "exponents", "signs"]
TEXT_KINDS = [*["label"] * 5, *["date", "german date", "moment", "time", "percent", "money", "comma", "unit"] * 2, "identity", "missing", "empty"]


class OddTable:
    def __init__(self, rng):
        self.rows = rng.choice([3, 9, 10, 12, 20, 39, 40, 41, 60, 60, 60, 100])
        count = rng.choice([1, 2, 2, 3, 3, 4, 5, 8, 20])
        wide = rng.random() < 0.01
        if wide:
            self.rows, count = 12, 1000
        self.delimiter = rng.choice([",", ",", ";", "\t", "|"])
        names = rng.choice([NAMES[:1]] * 3 + [NAMES])
        self.names, self.columns = [], []
        for i in range(count):
            kind = "number" if wide else rng.choice(NUMBER_KINDS + TEXT_KINDS)
            column = (number_column if kind in NUMBER_KINDS else text_column)(rng, self.rows, kind)
            if self.columns and not wide and rng.random() < 0.08:
                column = rng.choice(self.columns)
            self.names.append(rng.choice(names) % i)
            self.columns.append(column)
        self.plain_names = all(re.fullmatch(r"x\d+", name) for name in self.names)
        if rng.random() < 0.15:
            self._repeat_rows(rng)
        if rng.random() < 0.2:
            self._lose_cells(rng)
        self.data = self._text(rng)

    def _repeat_rows(self, rng):
        few = [rng.randrange(self.rows) for _ in range(max(2, self.rows // 10))]
        order = [rng.choice(few) for _ in range(self.rows)]
        self.columns = [OddColumn([c.cells[r] for r in order], c.fits) for c in self.columns]

    def _lose_cells(self, rng):
        marks = ["", "NA", "n/a", "NULL", "#N/A", "-", "."]
        self.columns = [OddColumn([rng.choice(marks) if rng.random() < 0.1 else cell for cell in c.cells], c.fits) for c in self.columns]

    def _text(self, rng):
        text = io.StringIO()
        style = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        end = rng.choice(["\n", "\n", "\r\n"])
        writer = csv.writer(text, delimiter=self.delimiter, quoting=style, lineterminator="\n")
        writer.writerow(self.names)
        for row in zip(*(c.cells for c in self.columns)):
            # A row of one empty cell would be a blank line.
            writer.writerow(["NA"] if list(row) == [""] else row)
        lines = text.getvalue()
        if end != "\n" and "two\nlines" not in lines:
            lines = lines.replace("\n", end)
        elif rng.random() < 0.1 and "two\nlines" not in lines:
            lines = "".join(line + rng.choice(["\n", "\r\n"]) for line in lines.splitlines())
        return (rng.choice([""] * 9 + ["\ufeff"]) + lines).encode()

    def column(self, name):
        return self.columns[self.names.index(name)]

    def present(self, name):
        """A cell of the column that is not missing; None without one."""
        return next((c for c in self.column(name).cells if c not in ("", "NA", "n/a", "NULL", "#N/A", "-", ".")), None)


def cells_of(text, delimiter):
    """The records of a CSV text."""
    return list(csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter))


def problem_of_samples(text, table, rows):
    """What is wrong with synthetic rows of a table; None if nothing is."""
    records = cells_of(text, table.delimiter)
    if not records or any(name not in table.names for name in records[0]):
        return "columns %r of %r" % (records[:1], table.names[:20])
    if len(records) != rows + 1:
        return "%d rows instead of %d" % (len(records) - 1, rows)
    for record in records[1:]:
        if len(record) != len(records[0]):
            return "a row of %d cells among %d columns" % (len(record), len(records[0]))
        for name, cell in zip(records[0], record):
            if cell.lower() in ("nan", "inf", "-inf"):
                return "column %r has %r" % (name, cell)
            if cell and not table.column(name).fits(cell) and cell not in table.column(name).cells:
                return "column %r has %r, unlike its cells %r" % (name, cell, table.column(name).cells[:3])
    return None


def problem_of_scores(text, rows):
    """What is wrong with the output of log_prob; None if nothing is."""
    records = cells_of(text, ",")
    if not records or "log_prob" not in records[0] or len(records) != rows + 1:
        return "%d lines of scores for %d rows" % (len(records), rows)
    place = records[0].index("log_prob")
    for record in records[1:]:
        cell = record[place] if len(record) > place else ""
        if cell not in ("", "NA", "-inf") and not is_number(cell):
            return "a log_prob of %r" % cell
    return None


def problem_of_json(value, path=""):
    """A number in it that JSON does not know; None without one."""
    if isinstance(value, dict):
        return next((p for k, v in value.items() if (p := problem_of_json(v, "%s.%s" % (path, k)))), None)
    if isinstance(value, list):
        return next((p for v in value if (p := problem_of_json(v, path))), None)
    if isinstance(value, float) and not math.isfinite(value):
        return "%s is %r" % (path, value)
    return None
