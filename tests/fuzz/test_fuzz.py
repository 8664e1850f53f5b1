"""Generated calls of every public entry: the right answer, or an error that names the argument."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import ritz
from ritz import neural
from tests.fuzz.case import outcome
from tests.fuzz.entries import ENTRIES

NAMES = {entry.name for entry in ENTRIES}
# Each entry has as many cases; `make fuzz` runs more, with any seed.
ROUNDS, SEED = 6, 0
PUBLIC = {
    "": ritz,
    "datasets.": ritz.datasets,
    "neural.": neural,
}
# Modules are no entries, and these classes are what other entries return.
NO_ENTRIES = {
    "Comparison",
    "Displacements",
    "ImpliedTimescales",
    "Plan",
    "Selection",
    "Summary",
    "datasets",
    "datasets.Problem",
    "datasets.SingularProblem",
    "datasets.Cloud",
}


@pytest.mark.parametrize("round", range(ROUNDS))
def test_every_outcome_is_right_or_names_the_argument(round):
    cases = range(round * len(ENTRIES), (round + 1) * len(ENTRIES))
    failures = [(number, text) for number in cases if (text := outcome(SEED, number)[3])]
    repeat = f"python -m tests.fuzz --seed {SEED} --number"
    assert not failures, "".join(f"\n{text}\n    {repeat} {n}" for n, text in failures)


def test_every_public_name_is_an_entry():
    for prefix, module in PUBLIC.items():
        names = {prefix + name for name in module.__all__} - NO_ENTRIES
        assert names <= NAMES | {name.rpartition(".")[0] for name in NAMES}


def test_every_method_of_an_estimator_is_an_entry():
    for prefix, module in PUBLIC.items():
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, BaseEstimator):
                for method, function in inspect.getmembers(cls, inspect.isfunction):
                    if function.__module__.startswith("ritz.") and not method.startswith("_"):
                        assert f"{prefix}{name}.{method}" in NAMES


def test_every_parameter_of_an_estimator_is_an_argument():
    arguments = {entry.name: entry.parameters for entry in ENTRIES}
    for prefix, module in PUBLIC.items():
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, BaseEstimator):
                parameters = {*cls._get_param_names(), *inspect.signature(cls.fit).parameters}
                assert parameters - {"self"} <= arguments[f"{prefix}{name}.fit"]
