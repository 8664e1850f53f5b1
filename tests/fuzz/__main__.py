"""Run many cases on two processes: python -m tests.fuzz --cases 10000 --seed 0."""

import argparse
import sys
from collections import Counter
from functools import partial
from multiprocessing import get_context

from tests.fuzz.case import outcome, run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="run this case alone")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.number is not None:
        print(*run(options.seed, options.number), sep=": ")
        return
    counts = Counter()
    with get_context("spawn").Pool(options.jobs) as pool:
        numbers = range(options.cases)
        for number, entry, result, text in pool.imap(partial(outcome, options.seed), numbers, 20):
            counts[entry, result] += 1
            if text:
                repeat = f"python -m tests.fuzz --seed {options.seed} --number {number}"
                print(f"{text}\n    {repeat}", flush=True)
    totals = Counter()
    for (entry, result), count in sorted(counts.items()):
        totals[result] += count
        print(f"{entry:40}{result:24}{count:6}")
    for result, count in sorted(totals.items()):
        print(f"{'all entries':40}{result:24}{count:6}")
    sys.exit(1 if totals["FAILED"] else 0)


if __name__ == "__main__":
    main()
