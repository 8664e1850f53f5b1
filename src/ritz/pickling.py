"""What pickles leave out."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class WithoutCaches:
    """A value whose pickles hold its fields, and no cached property: these follow from the fields.

    A basis of p centers caches p by p distances, which would be most of a pickled model.
    """

    def __getstate__(self) -> dict[str, Any]:
        cls = type(self)
        return {
            name: part
            for name, part in vars(self).items()
            if not isinstance(getattr(cls, name, None), cached_property)
        }
