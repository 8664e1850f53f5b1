"""How many functions fit."""

import pytest

from ritz.hermite.settings import require_memory


@pytest.mark.parametrize(("p", "held"), [(200, 0), (200, 5000), (50, 10**5)])
def test_the_number_that_fits_is_the_largest(p, held, monkeypatch):
    def available(pages):
        monkeypatch.setattr("os.sysconf", lambda name: {"SC_PHYS_PAGES": pages}.get(name, 1))

    # Eight folds: 22 matrices. Memory for p functions to the byte, and not for one more.
    available(10 * p * (22 * p + held))
    require_memory(p, 8, held)
    with pytest.raises(ValueError, match=rf"at most {p:,} on this machine.*{p + 1:,}"):
        require_memory(p + 1, 8, held)
