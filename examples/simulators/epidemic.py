#!/usr/bin/env python3
"""An epidemic in a town of 1000, told week by week.

  parameters: infection (per day), recovery (per day), reported (a share from 0 to 1)
  outcomes:   reported cases in each of the first eight weeks

The chance of a row depends on the seed and the row's number alone.
"""

import math
import os
import random
import sys

PEOPLE = 1000
WEEKS = 8


def count(rng, trials, chance):
    """How many of the trials succeed."""
    return sum(rng.random() < chance for _ in range(trials))


def epidemic(infection, recovery, reported, rng):
    susceptible, infected = PEOPLE - 5, 5
    weeks = []
    for _ in range(WEEKS):
        cases = 0
        for _ in range(7):
            new = count(rng, susceptible, 1 - math.exp(-infection * infected / PEOPLE))
            recovered = count(rng, infected, 1 - math.exp(-recovery))
            susceptible -= new
            infected += new - recovered
            cases += new
        weeks.append(count(rng, cases, reported))
    return weeks


def main():
    seed = os.environ.get("JEFFREYS_SEED", "0")
    first = int(os.environ.get("JEFFREYS_FIRST_ROW", "0"))
    for row, line in enumerate(sys.stdin, first):
        infection, recovery, reported = map(float, line.split(","))
        rng = random.Random(f"{seed} {row}")
        print(*epidemic(infection, recovery, reported, rng), sep=",", flush=True)


if __name__ == "__main__":
    main()
