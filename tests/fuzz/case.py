"""One case: an entry, a change of one of its arguments, and what must come out of it."""

import re
import resource
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from tests.fuzz.entries import ENTRIES, Draw
from tests.fuzz.inputs import ANY, KINDS, Constant
from tests.fuzz.oracles import ALIGNED

SECONDS, BYTES = 30, 3_000_000_000
# Other arguments that make an argument matter.
NEEDED = {"n_neighbors": {"operator": "neighbors"}, "max_clusters": {"n_clusters": "auto"}}
# Warnings of numbers that are not to be trusted, and of what the caller did not do.
WARNINGS = "(overflow|invalid value|divide by zero|Mean of empty|Degrees of|X does not have valid)"
# scikit-learn's own checks call X the array, its samples or its features.
SCIKIT_LEARN = (
    r"2D array|[Ff]ound array|sample\(s\)|feature\(s\)|[Ss]parse|[Cc]omplex data|features"
)
# What an error calls arguments that have another name here.
CALLED = {
    "points": "X",
    "path": r"a\.npz|PathLike",
    "batch": r"batch \d",
    "coefficients": "alpha|beta",
    "X": "Column 'c0",
}
# Training that diverges raises the last one.
REFUSALS = (ValueError, TypeError, FloatingPointError)
# Shares of the largest number: what rounding changes, and what solving amplifies it to. Hermite
# regression chooses its parameters by an optimizer, which amplifies it more.
EXACT, NEAR, CHOSEN = 1e-9, 1e-5, 1e-2


class Failure(AssertionError):
    """An outcome that is neither right nor a clear refusal."""


def run(seed, number):
    """Run a case; return its entry's name and the outcome, or raise a Failure."""
    entry = ENTRIES[number % len(ENTRIES)]
    rng = np.random.default_rng((seed, number))
    a = entry.good(Draw(rng))
    plans = ["bad"] * 4 + ["extreme"] * 3 + ["same"] * 2
    plans += ["oracle"] * 2 * (entry.oracle is not None) + ["twin"] * 2 * bool(entry.twins)
    plan = plans[rng.integers(len(plans))]
    try:
        with limits():
            if plan == "oracle":
                result = called(entry, a)
                expected = numbers(entry.oracle(a, result))
                require_close(expected, numbers(result), NEAR)
                return entry.name, "equal to the oracle"
            if plan == "twin":
                twin = entry.twins[rng.integers(len(entry.twins))]
                plan = f"twin {twin.__name__}"
                here, there, factors = twin(rng, a)
                results = [numbers(called(entry, each)) for each in (here, there)]
                require_twins(*results, factors)
                return entry.name, "equal to the twin"
            name, label, change = any_change(rng, entry, a, plan)
            plan = f"{plan} {name}: {label}"
            return entry.name, judge(entry, a, name, change, plan.split()[0])
    except Exception as error:
        kind = "" if isinstance(error, Failure) else f"{type(error).__name__}: "
        text = " ".join(str(error).split())[:300]
        raise Failure(f"{entry.name}, {plan}: {kind}{text}") from error


def outcome(seed, number):
    """Return the number, the entry, the outcome and the text of a failure."""
    try:
        return number, *run(seed, number), ""
    except Failure as failure:
        return number, str(failure).split(",")[0], "FAILED", str(failure)


def any_change(rng, entry, a, plan):
    """Choose an argument, and how to change it."""
    tables = {}
    for name, value in a.items():
        table = getattr(entry.kinds.get(name, KINDS.get(name, ANY)), plan)
        if value is None or isinstance(value, str):
            # There is no array or number to change, but another value can take its place.
            table = {k: f for k, f in table.items() if isinstance(f, Constant) and plan != "same"}
        if table:
            tables[name] = table
    if not tables:
        return "nothing", "", lambda value: value
    name = list(tables)[rng.integers(len(tables))]
    label = list(tables[name])[rng.integers(len(tables[name]))]
    return name, label, tables[name][label]


def judge(entry, a, name, change, plan):
    """Call with one argument changed, and return the outcome."""
    a = a | {key: value for key, value in NEEDED.get(name, {}).items() if key in a}
    b = a | ({name: change(a[name])} if name in a else {})
    if name == "X" and isinstance(b["X"], np.ndarray) and len(b["X"]) < len(a["X"]):
        b |= {key: a[key][: len(b["X"])] for key in ALIGNED[1:] if a.get(key) is not None}
    if plan == "same" or name == "nothing":
        require_close(numbers(called(entry, a)), numbers(called(entry, b)), EXACT)
        return "equal to the twin"
    model = entry.setup(a, fit=plan == "bad") if entry.setup else None
    before = state(model)
    try:
        result = numbers(entry.call(model, **b) if entry.setup else entry.call(**b))
    except REFUSALS as error:
        if isinstance(error, NotFittedError) and plan == "extreme":
            return "not fitted yet"
        others = {*a, *(model.get_params(deep=False) if model else ())}
        if not named({name, *(others if plan == "extreme" else ())}, str(error)):
            raise Failure(
                f"the error names no argument: {type(error).__name__}: {error}"
            ) from error
        if plan == "bad" and not unchanged(before, state(model)):
            raise Failure("the error left the estimator changed") from error
        return "refused by name"
    if plan == "bad":
        raise Failure("accepted")
    for key, value in result.items():
        if not np.isfinite(value).all():
            raise Failure(f"{key} is not finite")
    if isinstance(b.get("X"), np.ndarray):
        again = b | {"X": np.asfortranarray(b["X"])}
        require_close(result, numbers(called(entry, again)), EXACT)
    return "equal to the twin"


def called(entry, a):
    """Return the result of a call, and check that it left its arguments unchanged."""
    arrays = {key: value for key, value in a.items() if isinstance(value, np.ndarray)}
    copies = {key: value.copy() for key, value in arrays.items()}
    result = entry.call(entry.setup(a, fit=False), **a) if entry.setup else entry.call(**a)
    for key, value in arrays.items():
        if value.dtype != object and value.tobytes() != copies[key].tobytes():
            raise Failure(f"the call changed {key!r}")
    return result


def numbers(result):
    """Return a result as a dictionary of arrays."""
    if hasattr(result, "detach"):
        result = result.detach()
    if not isinstance(result, dict):
        parts = result if isinstance(result, tuple | list) else [result]
        result = {str(j): part for j, part in enumerate(parts)}
    kept = {k: v for k, v in result.items() if v is not None and not k.startswith("_")}
    return {key: np.asarray(value, dtype=float) for key, value in kept.items()}


def require_close(expected, found, tolerance):
    """Raise unless all expected arrays were found, up to a share of their largest entry."""
    for key, value in expected.items():
        if key not in found or found[key].shape != value.shape:
            raise Failure(f"{key} has another shape")
        gap = np.abs(found[key] - value).max(initial=0.0)
        size = np.abs(value).max(initial=0.0)
        if not gap <= (CHOSEN if key == "prediction" else tolerance) * size:
            raise Failure(f"{key} differs by {gap:.2g} where it reaches {size:.2g}")


def require_twins(here, there, factors):
    """Raise unless twins agree; errors depend on folds, functions have any sign."""
    skipped = {"errors", "labels", *(k for k, factor in factors.items() if factor is None)}
    here = {k: v * factors.get(k, 1.0) for k, v in here.items() if k not in skipped}
    if "functions" in here:
        here["functions"], there["functions"] = (
            np.abs(here["functions"]),
            np.abs(there["functions"]),
        )
    require_close(here, there, NEAR)


def named(names, message):
    """Return whether an error's message names one of the arguments."""
    words = [*names, *(CALLED[name] for name in names if name in CALLED)]
    pattern = "|".join(rf"\b{word}\b" for word in words)
    return bool(re.search(pattern, message) or ("X" in words and re.search(SCIKIT_LEARN, message)))


def state(model):
    """Return the fitted attributes of an estimator."""
    if model is None:
        return {}
    return {
        key: value for key, value in vars(model).items() if key not in model.get_params(deep=False)
    }


def unchanged(before, after):
    same = [
        before[k] is after[k] or np.array_equal(before[k], after[k]) for k in before.keys() & after
    ]
    return before.keys() == after.keys() and all(same)


@contextmanager
def limits():
    """Limit the time and memory of a case, and make some warnings errors."""

    def stop(*_):
        raise TimeoutError(f"more than {SECONDS} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = Path("/proc/self/statm")
    if pages.exists():
        used = int(pages.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, hard))
    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", WARNINGS)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
