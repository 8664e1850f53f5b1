"""All golden cases, and the file of results that the library gave when it was written.

python -m tests.golden.cases --write      compute all cases and write the file
python -m tests.golden.cases --compare    print how far the results are from those in the file
    --reverse                             with the rows in reversed order
    --jobs 2                              with two threads

Two settings of the environment show how far rounding alone moves a result: OPENBLAS_NUM_THREADS and
OPENBLAS_CORETYPE.
"""

import json
import sys
from argparse import ArgumentParser
from math import prod
from pathlib import Path

import numpy as np

from tests.golden import estimators, operators, regression, routes, sums
from tests.golden.case import Trial, difference

PATH = Path(__file__).with_name("golden.npz")
NOTEWORTHY = 1e-10
PARTS = (operators, routes, sums, estimators, regression)
CASES = {case.name: case for part in PARTS for case in part.CASES}


def write(results, path=PATH):
    """Write named arrays of all cases as one vector of numbers and an index of shapes."""
    index = {
        name: {key: [array.dtype.kind == "f", *array.shape] for key, array in found.items()}
        for name, found in results.items()
    }
    arrays = [array.ravel() for found in results.values() for array in found.values()]
    numbers = np.concatenate([array.astype(np.float64) for array in arrays])
    np.savez_compressed(path, index=json.dumps(index), numbers=numbers)
    return numbers.size


def read(path=PATH):
    """Read what `write` wrote."""
    with np.load(path, allow_pickle=False) as file:
        index, numbers = json.loads(str(file["index"])), file["numbers"]
    results, start = {}, 0
    for name, shapes in index.items():
        results[name] = {}
        for key, (is_float, *shape) in shapes.items():
            part = numbers[start : start + prod(shape)].reshape(shape)
            results[name][key] = part if is_float else part.astype(np.int64)
            start += prod(shape)
    return results


def compare(trial):
    """Print the arrays that differ from the file by more than rounding usually does."""
    then = read()
    for name, case in CASES.items():
        now = case.run(trial)
        for key in dict.fromkeys((*then[name], *now)):
            missing = key not in now or key not in then[name]
            moved = np.inf if missing else difference(now[key], then[name][key])
            if not moved <= NOTEWORTHY:
                verdict = "" if moved <= case.allowed(key) else "  NOT ALLOWED"
                print(f"{moved:8.1e} of {case.allowed(key):8.1e}  {name} / {key}{verdict}")


def main(arguments):
    """Run the command."""
    parser = ArgumentParser(prog="python -m tests.golden.cases")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    trial = Trial(options.reverse, options.jobs)
    if options.write:
        count = write({name: case.run(trial) for name, case in CASES.items()})
        print(f"Wrote {count:,} numbers of {len(CASES)} cases to {PATH}")
    if options.compare:
        compare(trial)


if __name__ == "__main__":
    main(sys.argv[1:])
