"""Properties computed once, by several threads at a time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from ritz.cached import cached_property


class Slow:
    def __init__(self, barrier):
        self.barrier, self.calls = barrier, 0

    @cached_property
    def thing(self):
        """What it is."""
        self.calls += 1
        self.barrier.wait(timeout=30)
        return object()


def test_it_is_computed_once():
    one = Slow(Barrier(1))
    assert one.thing is one.thing
    assert one.calls == 1
    assert Slow.thing.__doc__ == "What it is."


def test_threads_with_objects_of_their_own_do_not_wait_for_each_other():
    """Each waits for the other in the midst of it, which a common lock would make forever."""
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda slow: slow.thing, [Slow(barrier), Slow(barrier)])
    assert first is not second


def test_threads_that_compute_the_same_get_the_same():
    slow = Slow(Barrier(2))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda slow: slow.thing, [slow, slow])
    assert first is second is slow.thing


class Base:
    @cached_property
    def things(self):
        return [1]


class Override(Base):
    @cached_property
    def things(self):
        return [*super().things, 2]


def test_an_override_may_call_what_it_overrides():
    one = Override()
    assert one.things == [1, 2]
    assert one.things is one.things
