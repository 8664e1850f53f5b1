"""Additive sufficient statistics of a fit, kept apart for each fold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz import tables
from ritz.assembly.packing import packed, unpacked
from ritz.bases import Centered
from ritz.files import write
from ritz.forms import Form
from ritz.namespaces import to_host
from ritz.validation import Array, as_count, parameter_error, require_names

Folds = tuple[Array, ...]
Homes = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Matrices:
    """The matrices of a form and of the scalar products, sums or averages, the function 1 first.

    Parameters
    ----------
    L
        E[H(f_i, g_j, X)], (1 + p, 1 + q).
    Phi, Psi
        E[f_i f_j] and E[g_i g_j]; the same matrix where both sides share their functions.
    """

    L: Array
    Phi: Array
    Psi: Array

    def __add__(self, other: Matrices) -> Matrices:
        Phi = self.Phi + other.Phi
        shared = self.Psi is self.Phi
        return Matrices(self.L + other.L, Phi, Phi if shared else self.Psi + other.Psi)

    def on_host(self) -> Matrices:
        """Return the matrices as arrays of NumPy."""
        L, Phi = to_host(self.L), to_host(self.Phi)
        return Matrices(L, Phi, Phi if self.Psi is self.Phi else to_host(self.Psi))

    def pick(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Matrices:
        """Return the matrices of some of the functions of each side, and of the function 1."""
        rows, columns = np.append(0, 1 + left), np.append(0, 1 + right)
        L, Phi = self.L[np.ix_(rows, columns)], self.Phi[np.ix_(rows, rows)]
        shared = self.Psi is self.Phi and left is right
        return Matrices(L, Phi, Phi if shared else self.Psi[np.ix_(columns, columns)])


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """Sums over rows of H(f_i, g_j, x), f_i f_j and g_i g_j, for each fold.

    Sums of disjoint data over the same functions can be added; subtraction removes data again, from
    the folds it was in if its `first_row` is the same.

    Parameters
    ----------
    form
        The operator.
    left, right
        The functions f and g, without the function 1, which comes first in the matrices.
    weight, count
        Total weight and number of rows (folds,).
    L, Phi, Psi
        Sums (1 + p, 1 + q), (1 + p, 1 + p) and (1 + q, 1 + q) of each fold; Psi is Phi where both
        sides share functions.
    homes
        The fold (p,) and (q,) of the row that is the center of each function, or -1; None where no
        function has a center.
    grouped
        Whether groups decided the folds of some rows.
    """

    form: Form
    left: Centered
    right: Centered
    weight: Array
    count: NDArray[np.int64]
    L: Folds
    Phi: Folds
    Psi: Folds
    homes: Homes | None = None
    grouped: bool = False

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sums to a file of arrays and JSON, to be read by `ritz.load`.

        Symmetric matrices are written as triangles. Arrays of the operator with one entry for each
        row of the data stay behind, as in a pickle.
        """
        write(self, path)

    def to_file(self) -> PackedSums:
        """Return the sums with their matrices packed."""
        return PackedSums.of(self)

    def __reduce__(self) -> Any:
        return PackedSums.from_file, (PackedSums.of(self),)

    def __repr__(self) -> str:
        sizes = f"{self.left.size} by {self.right.size}"
        return f"<Sums of {self.form}: {self.n_rows:,} rows, {sizes} functions>"

    def _repr_html_(self) -> str:
        sides = [("functions", f"{self.left.size:,}")]
        if self.right is not self.left:
            sides = [("left functions", sides[0][1]), ("right functions", f"{self.right.size:,}")]
        arrays = {id(a): a.nbytes for part in (self.L, self.Phi, self.Psi) for a in part}
        rows = [
            ("operator", str(self.form)),
            ("rows", f"{self.n_rows:,}"),
            ("weight", f"{self.weight.sum():,.6g}"),
            *sides,
            ("folds", str(self.n_folds)),
            ("rows in a fold", f"{self.count.min():,} to {self.count.max():,}"),
            ("folds of groups", "yes" if self.grouped else "no"),
            ("memory", f"{sum(arrays.values()) / 1e6:,.1f} MB"),
        ]
        return tables.face(tables.table("Sums over rows", ("", ""), rows, text=(0, 1)))

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.weight)

    @property
    def n_rows(self) -> int:
        """The number of rows of positive weight."""
        return int(self.count.sum())

    def __add__(self, other: Sums) -> Sums:
        return self._combine(other, 1) if isinstance(other, Sums) else NotImplemented

    def __radd__(self, other: object) -> Sums:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Sums) -> Sums:
        return self._combine(other, -1) if isinstance(other, Sums) else NotImplemented

    def _combine(self, other: Sums, sign: int) -> Sums:
        if self.form.needs_all_rows:
            raise ValueError(f"Sums of {self.form} belong to all rows together and do not add up.")
        difference = self.form.difference(other.form)
        if difference:
            raise ValueError(f"Sums of different operators do not add up: {difference}.")
        if self.n_folds != other.n_folds:
            requirement = f"the same, {self.n_folds}"
            raise parameter_error("n_folds", requirement, other.n_folds)
        for side in ("left", "right"):
            require_names(getattr(other, side).names, getattr(self, side).names, "sums")
            if not same_functions(getattr(self, side), getattr(other, side)):
                raise ValueError(
                    "Sums add only over the same functions, fixed by the same sample. Pass those "
                    "of the first sums to the second: `assemble(form, sums.left, X)`, or "
                    "(sums.left, sums.right)."
                )

        def combined(ours: Folds, theirs: Folds) -> Folds:
            return tuple(a + sign * b for a, b in zip(ours, theirs, strict=True))

        L, Phi = combined(self.L, other.L), combined(self.Phi, other.Phi)
        Psi = Phi if self.Psi is self.Phi else combined(self.Psi, other.Psi)
        weight = self.weight + sign * other.weight
        count = self.count + sign * other.count
        if (count < 0).any():
            raise ValueError("Sums can be subtracted only from sums that contain them.")
        homes = merged_homes(self.homes, other.homes)
        grouped = self.grouped or other.grouped
        return Sums(self.form, self.left, self.right, weight, count, L, Phi, Psi, homes, grouped)

    def of(self, folds: Iterable[int]) -> Sums:
        """Return the sums over some of the folds."""
        if not isinstance(folds, Iterable):
            raise parameter_error("folds", "numbers of folds", repr(folds), kind=TypeError)
        some = [as_count(fold, "folds", "numbers of folds", lowest=0) for fold in folds]
        if len(set(some)) < len(some) or max(some, default=0) >= self.n_folds:
            raise parameter_error("folds", f"different numbers below {self.n_folds}", some)
        L, Phi = (tuple(sums[fold] for fold in some) for sums in (self.L, self.Phi))
        Psi = Phi if self.Psi is self.Phi else tuple(self.Psi[fold] for fold in some)
        weight, count = self.weight[some], self.count[some]
        return replace(self, weight=weight, count=count, L=L, Phi=Phi, Psi=Psi)

    def joined(self, n_folds: int) -> Sums:
        """Return the same sums in so many folds, each of which joins some of these."""
        if n_folds >= self.n_folds:
            return self

        def join(parts: Any) -> tuple[Any, ...]:
            return tuple(
                sum(parts[fold + n_folds :: n_folds], parts[fold]) for fold in range(n_folds)
            )

        L, Phi = join(self.L), join(self.Phi)
        Psi = Phi if self.Psi is self.Phi else join(self.Psi)
        weight, count = np.array(join(self.weight)), np.array(join(self.count))
        homes = self.homes
        if homes is not None:
            left, right = (np.where(home < 0, home, home % n_folds) for home in homes)
            homes = left, right
        return replace(self, weight=weight, count=count, L=L, Phi=Phi, Psi=Psi, homes=homes)

    def pick(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Sums:
        """Return the sums over some of the functions of each side, given by their numbers."""
        folds = [
            Matrices(*matrices).pick(left, right)
            for matrices in zip(self.L, self.Phi, self.Psi, strict=True)
        ]
        L, Phi, Psi = zip(*[(fold.L, fold.Phi, fold.Psi) for fold in folds], strict=True)
        shared = self.Psi is self.Phi and left is right
        f = self.left.pick(left)
        g = f if self.right is self.left and left is right else self.right.pick(right)
        homes = None if self.homes is None else (self.homes[0][left], self.homes[1][right])
        return replace(self, left=f, right=g, L=L, Phi=Phi, Psi=Phi if shared else Psi, homes=homes)

    def mean(self, without: int | None = None) -> Matrices:
        """Return the averages over all rows, or over all but those of one fold."""
        if without is not None and without not in range(self.n_folds):
            raise parameter_error("without", f"None or a fold below {self.n_folds}", repr(without))
        folds = [fold for fold in range(self.n_folds) if fold != without]
        total = self.weight[folds].sum()
        if total <= 0:
            raise ValueError("There is no weight left to average over.")

        def average(sums: Folds, symmetric: bool) -> Array:
            matrix = sums[folds[0]] / total
            for fold in folds[1:]:
                matrix += sums[fold] / total
            if symmetric:
                matrix += matrix.T
                matrix /= 2
            return np.asarray(matrix)

        L, Phi = average(self.L, self.form.symmetric), average(self.Phi, True)
        return Matrices(L, Phi, Phi if self.Psi is self.Phi else average(self.Psi, True))


@dataclass(frozen=True, eq=False)
class PackedSums:
    """Sums as they are pickled and saved: no rows, and symmetric matrices as triangles.

    The fields are those of `Sums`; `right` is None where it is `left`, and `Psi` where it is `Phi`.
    """

    file_tag: ClassVar[str] = "Sums"

    form: Form
    left: Centered
    right: Centered | None
    weight: Array
    count: NDArray[np.int64]
    L: Folds
    Phi: Folds
    Psi: Folds | None
    homes: Homes | None = None
    grouped: bool = False

    @classmethod
    def of(cls, sums: Sums) -> PackedSums:
        """Pack sums."""
        return cls(
            sums.form.without_rows(),
            sums.left,
            None if sums.right is sums.left else sums.right,
            sums.weight,
            sums.count,
            packed(sums.L),
            packed(sums.Phi),
            None if sums.Psi is sums.Phi else packed(sums.Psi),
            sums.homes,
            sums.grouped,
        )

    def __post_init__(self) -> None:
        n_folds = len(self.weight)
        for name in ("weight", "count"):
            array = getattr(self, name)
            if not n_folds or array.shape != (n_folds,) or array.min(initial=0) < 0:
                raise parameter_error(name, "a nonnegative number for each fold", array)
        for name in ("L", "Phi", "Psi"):
            folds = getattr(self, name)
            if folds is not None and len(folds) != n_folds:
                raise parameter_error(name, f"{n_folds} matrices", f"{len(folds)}")
        for home, side in zip(self.homes or (), (self.left, self.right or self.left), strict=False):
            if home.shape != (side.size,) or home.max(initial=-1) >= n_folds:
                raise parameter_error("homes", f"{side.size} numbers of folds", home)

    def from_file(self) -> Sums:
        """Return the sums; raise unless the matrices have the shapes that the functions require."""
        left, right = self.left, self.left if self.right is None else self.right
        p, q = 1 + left.size, 1 + right.size

        def matrices(name: str, shape: tuple[int, int]) -> Folds:
            return tuple(unpacked(rows, shape, name) for rows in getattr(self, name))

        L, Phi = matrices("L", (p, q)), matrices("Phi", (p, p))
        Psi = Phi if self.Psi is None else matrices("Psi", (q, q))
        if len(Psi[0]) != q:
            raise parameter_error("Psi", f"matrices of shape {(q, q)}", "none")
        rest = (self.homes, self.grouped)
        return Sums(self.form, left, right, self.weight, self.count, L, Phi, Psi, *rest)


def merged_homes(ours: Homes | None, theirs: Homes | None) -> Homes | None:
    """Return the folds of centers over two parts of the data, only one of which holds a center."""
    if ours is None or theirs is None:
        return ours or theirs
    left, right = map(np.maximum, ours, theirs)
    return left, right


def same_functions(a: Centered, b: Centered) -> bool:
    """Return whether two bases are equal in all their numbers, and agree at some points.

    What they know of repeated rows must not differ, either: it decides the folds of rows.
    """
    if a is b:
        return True
    if None not in (a.repeats, b.repeats) and a.repeats != b.repeats:
        return False
    if not (equal_numbers(a.offset, b.offset) and equal_numbers(a.basis, b.basis)):
        return False
    points = np.random.default_rng(0).normal(size=(4, a.dimension or 1))
    return bool(np.array_equal(a.at_rows(points), b.at_rows(points)))


def equal_numbers(a: Any, b: Any) -> bool:
    """Return whether two values have equal fields, but for functions and other opaque objects."""
    if isinstance(a, np.ndarray) or type(a) is not type(b):
        return bool(np.array_equal(a, b)) if isinstance(b, np.ndarray) else False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal_numbers, a, b))
    if is_dataclass(a):
        return all(equal_numbers(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b) if isinstance(a, bool | int | float | str) else True
