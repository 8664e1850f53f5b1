"""A check that every figure must pass."""

import pytest


@pytest.fixture(scope="session")
def complete():
    """Return a check that each panel of a figure has two axis labels and is not empty."""

    def check(figure):
        # The layout takes most of the time and is not what is tested.
        figure.set_layout_engine("none")
        figure.draw_without_rendering()
        panels = [*figure.axes, *(axes for part in figure.subfigs for axes in part.axes)]
        assert panels
        for axes in panels:
            assert labeled(axes, "x")
            assert labeled(axes, "y")
            assert axes.lines or axes.collections

    return check


def labeled(axes, which):
    """Return whether an axes, one that shares its scale, or its figure has the label."""
    shared = getattr(axes, f"get_shared_{which}_axes")().get_siblings(axes)
    figure = axes.get_figure(root=False)
    return any(getattr(one, f"get_{which}label")() for one in shared) or bool(
        getattr(figure, f"get_sup{which}label")()
    )
