"""Results are those in the file of golden results, up to rounding."""

import pytest

from tests.golden.case import TOLERANCE, difference
from tests.golden.cases import CASES, PATH, read

GOLDEN = read()


def test_the_file_holds_these_cases_and_is_small():
    assert list(GOLDEN) == list(CASES)
    assert PATH.stat().st_size < 500_000


def test_every_other_tolerance_has_a_reason():
    for case in CASES.values():
        assert case.reason or (case.tolerance == TOLERANCE and not case.loose), case.name
        assert set(case.loose) <= set(GOLDEN[case.name]), case.name


@pytest.mark.parametrize("name", CASES)
def test_results_are_as_before(name):
    case, then = CASES[name], GOLDEN[name]
    now = case.run()
    assert list(now) == list(then)
    moved = {key: difference(now[key], then[key]) for key in then}
    assert {key: m for key, m in moved.items() if not m <= case.allowed(key)} == {}
