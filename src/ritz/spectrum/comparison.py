"""What a comparison of two spectra finds, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz import tables
from ritz.validation import Array


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `ritz.compare` finds: the modes of two spectra, side by side.

    Attributes
    ----------
    modes
        The numbers (m,) of the modes compared.
    groups
        Numbers (m,) of what is compared at once: values that either spectrum puts in one group, or
        a single value.
    values_a, values_b
        The values (m,) of both spectra, a group's mean for each of its members.
    errors_a, errors_b
        Their standard errors (m,).
    p_values
        The p-values (m,) of the differences, each taken alone.
    adjusted
        The p-values (m,) adjusted by Holm's method for the number of values compared.
    may_be_basis
        Which modes (m,) differ, but no longer do so once the basis error is subtracted.
    overlaps
        Cosines (m,) of the largest angle between the functions of both groups, or None.
    left_out
        The modes that are not compared, each with the reason.
    sizes, n_rows
        The numbers of values and of samples of both spectra.
    operator
        The operator's name.
    alpha
        The level of the test.
    """

    modes: NDArray[np.intp]
    groups: NDArray[np.intp]
    values_a: Array
    values_b: Array
    errors_a: Array
    errors_b: Array
    p_values: Array
    adjusted: Array
    may_be_basis: NDArray[np.bool_]
    overlaps: Array | None
    left_out: dict[int, str]
    sizes: tuple[int, int]
    n_rows: tuple[int, int]
    operator: str
    alpha: float

    @property
    def differences(self) -> Array:
        """The values of the first spectrum minus those of the second, (m,)."""
        return np.asarray(self.values_a - self.values_b)

    @property
    def errors(self) -> Array:
        """The standard errors (m,) of the differences, the samples being independent."""
        return np.asarray(np.hypot(self.errors_a, self.errors_b))

    @property
    def p_value(self) -> float:
        """The p-value of all modes together: the smallest adjusted one."""
        return float(self.adjusted.min())

    @property
    def differ(self) -> NDArray[np.intp]:
        """The numbers of the modes that differ at level alpha."""
        return self.modes[self.adjusted <= self.alpha]

    @property
    def same(self) -> bool:
        """Whether no mode differs at level alpha."""
        return not len(self.differ)

    def __str__(self) -> str:
        headers, rows = self._cells
        lines = [self._head]
        for row in (headers, *rows):
            *columns, word = (
                f"{cell:>{width}}" for cell, width in zip(row, self._widths, strict=True)
            )
            lines.append(f"{''.join(columns)}{'  ' * bool(word)}{word}")
        return "\n".join([*lines, *self._notes])

    def _repr_html_(self) -> str:
        headers, rows = self._cells
        headers = (*headers[:-1], "verdict")
        marked = np.flatnonzero(self.adjusted <= self.alpha).tolist()
        found = tables.table(self._head, headers, rows, text=(len(headers) - 1,), marked=marked)
        return tables.face(found, tables.paragraphs(self._notes))

    @property
    def _head(self) -> str:
        return f"Two spectra of {self.operator}: {self.n_rows[0]:,} and {self.n_rows[1]:,} rows"

    @property
    def _widths(self) -> tuple[int, ...]:
        return (4, 14, 12, 14, 12, 13, 12, *(() if self.overlaps is None else (10,)), 0)

    @property
    def _cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The headers and the rows of the table."""
        overlap = () if self.overlaps is None else ("overlap",)
        sides = ("first", "std. error", "second", "std. error")
        headers = ("mode", *sides, "difference", "adjusted p", *overlap, "")
        rows = []
        for j, mode in enumerate(self.modes):
            word = "differs" if self.adjusted[j] <= self.alpha else "agrees"
            basis = ", may be the basis" if self.may_be_basis[j] else ""
            rows.append(
                (
                    str(mode),
                    f"{self.values_a[j]:.6g}",
                    f"{self.errors_a[j]:.1e}",
                    f"{self.values_b[j]:.6g}",
                    f"{self.errors_b[j]:.1e}",
                    f"{self.differences[j]:.2g}",
                    f"{self.adjusted[j]:.2g}",
                    *(() if self.overlaps is None else (f"{self.overlaps[j]:.3f}",)),
                    word + basis,
                )
            )
        return headers, rows

    @property
    def _notes(self) -> list[str]:
        """What was not compared, and the verdict."""
        lines = []
        if self.sizes[0] != self.sizes[1]:
            first, second = self.sizes
            lines.append(f"Only the first {min(self.sizes)} of {first} and {second} values.")
        if self.left_out:
            texts = (f"{mode} ({reason})" for mode, reason in self.left_out.items())
            lines.append(f"Left out: {', '.join(texts)}.")
        verdict = "The same within errors"
        if not self.same:
            verdict = f"Different in {', '.join(map(str, self.differ))}"
        return [*lines, f"{verdict}: p = {self.p_value:.2g}, level {self.alpha:g}."]

    def __repr__(self) -> str:
        verdict = "same" if self.same else f"{len(self.differ)} differ"
        return f"<Comparison of {len(self.modes)} modes of {self.operator}: {verdict}>"
