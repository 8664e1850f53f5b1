"""Values at the rows of files, written to a file in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.checks import checked_rows, checked_stream, names_of
from ritz.progress import showing, tracked
from ritz.streams import ArrayStream, Stream, is_streamed
from ritz.streams.write import with_kept, write_rows


class TransformToMixin:
    """Write what `transform` returns to a file."""

    _n_features_out: int

    def transform_to(self, X: Any, path: str | PathLike[str], *, keep: Sequence[str] = ()) -> int:
        """Write what `transform` returns to a file, block by block, and return how many rows.

        The columns are `spectral0`, `spectral1` and so on. The file takes its place once it is
        complete, and memory holds one block of rows.

        Parameters
        ----------
        X
            A stream such as `ritz.open` returns, or an array (n, d).
        path
            A file whose name ends in .parquet, .csv, .csv.gz, .feather or .npy.
        keep
            The names of other columns of the files opened, which are written first.
        """
        check_is_fitted(self, "_n_features_out")
        names = [f"spectral{j}" for j in range(self._n_features_out)]
        function = self._transformed  # type: ignore[attr-defined]
        return write_values(self, X, path, function, names, keep)


class PredictToMixin:
    """Write what `predict` returns to a file."""

    # The name of the column, followed by a number where there are several.
    _predicted_name = "prediction"

    def predict_to(self, X: Any, path: str | PathLike[str], *, keep: Sequence[str] = ()) -> int:
        """Write what `predict` returns to a file, block by block, and return how many rows.

        The file takes its place once it is complete, and memory holds one block of rows.

        Parameters
        ----------
        X
            A stream such as `ritz.open` returns, or an array (n, d).
        path
            A file whose name ends in .parquet, .csv, .csv.gz, .feather or .npy.
        keep
            The names of other columns of the files opened, which are written first.
        """
        check_is_fitted(self)

        def predicted(rows: Any) -> NDArray[Any]:
            # Names of columns are checked already.
            block = ArrayStream((rows,), column_names=(names_of(self),))
            return self.predict(block)  # type: ignore[attr-defined,no-any-return]

        return write_values(self, X, path, predicted, [self._predicted_name], keep)


def write_values(
    estimator: Any,
    X: Any,
    path: str | PathLike[str],
    function: Callable[[Any], NDArray[Any]],
    names: list[str],
    keep: Sequence[str],
) -> int:
    """Write the values of a function at rows to a file, next to some columns of the rows."""
    stream: Stream
    if is_streamed(X):
        stream = checked_stream(estimator, X, reset=False)
    else:
        stream = ArrayStream((checked_rows(estimator, X, reset=False),))

    def parts() -> Iterator[tuple[NDArray[Any], Any]]:
        blocks = with_kept(stream, keep)
        for block, kept in tracked(
            blocks, "writing rows", stream.n_rows, lambda pair: len(pair[0]), "rows"
        ):
            values = function(block.views[0])
            yield values[:, None] if values.ndim == 1 else values, kept

    with showing(getattr(estimator, "verbose", None)):
        return write_rows(path, parts(), names)
