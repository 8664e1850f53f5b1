"""A function of each chunk of dask collections, and the merge of its results where they are."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ritz.progress import counting, showing

# Results that one task merges after each worker has merged its own: they cross the wire together.
MERGED_AT_ONCE = 4
# The key of dask's configuration that says from which size on graphs cause a warning.
LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"

Merge = Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk of dask collections.

    Parameters
    ----------
    name
        What errors call it.
    n_rows
        Its number of rows.
    arguments
        What a function of the chunk is called with; dask computes what is delayed.
    """

    name: str
    n_rows: int
    arguments: tuple[Any, ...]


def reduce_chunks(
    function: Callable[..., Any],
    chunks: Sequence[Chunk],
    merge: Merge,
    progress: bool | None = None,
) -> Any:
    """Return the merged results of a function of each chunk, by the scheduler that dask would use.

    The function and `merge` must not change their arguments: what a lost worker held is computed
    again from them. Results are merged in pairs as soon as two are in one place. With a cluster
    nothing reaches this process but the last result, and a worker holds about three results for
    each of its threads.

    Parameters
    ----------
    function
        What to call with the arguments of each chunk.
    chunks
        The chunks, at least one.
    merge
        A function of two results that returns one, in any order.
    progress
        Whether to show how many rows are done; None leaves it to `ritz.progress.showing`.
    """
    scheduler = import_module("dask.base").get_scheduler(cls=import_module("dask.delayed").Delayed)
    client = getattr(scheduler, "__self__", None)
    given = nullcontext() if progress is None else showing(progress)
    with given, counting("adding up chunks", "rows") as count:

        def done(chunk: Chunk) -> None:
            count(chunk.n_rows)

        if hasattr(client, "who_has"):
            return _on_cluster(client, function, chunks, merge, done)
        return _in_one_graph(scheduler, function, chunks, merge, done)


def _on_cluster(
    client: Any,
    function: Callable[..., Any],
    chunks: Sequence[Chunk],
    merge: Merge,
    done: Callable[[Chunk], None],
) -> Any:
    """Merge first the results that one worker holds, then those of different workers."""
    # The function is sent once, as a task: with it may go a basis and a sample of some megabytes.
    with import_module("dask.config").set({LARGE_GRAPH: "1 TB"}):
        shared = client.submit(_identity, function, pure=False)
    results = client.compute([_delayed_call(shared, chunk) for chunk in chunks])
    unfinished: dict[str, tuple[Any, Chunk | None]] = {
        result.key: (result, chunk) for result, chunk in zip(results, chunks, strict=True)
    }
    arrived = import_module("distributed").as_completed(results)
    # Results are freed on the workers as soon as nothing here refers to them.
    del results
    here: dict[str, list[Any]] = defaultdict(list)
    try:
        for batch in arrived.batches():
            workers = client.who_has(batch)
            for result in batch:
                chunk = unfinished.pop(result.key)[1]
                require_finished(result, chunk)
                if chunk is not None:
                    done(chunk)
                here[next(iter(workers.get(result.key, ())), "")].append(result)
            del batch, result
            for some in here.values():
                if len(some) > 1:
                    merged = _submit_merge(client, merge, some)
                    unfinished[merged.key] = merged, None
                    arrived.add(merged)
                    some.clear()
        rest = [result for some in here.values() for result in some]
        here.clear()
        while len(rest) > 1:
            groups = [rest[i : i + MERGED_AT_ONCE] for i in range(0, len(rest), MERGED_AT_ONCE)]
            rest = [_submit_merge(client, merge, group) for group in groups]
        return rest[0].result()
    finally:
        if unfinished:
            client.cancel([result for result, _ in unfinished.values()])


def require_finished(result: Any, chunk: Chunk | None) -> None:
    """Raise the error of a result, or wait until it is there.

    A result is not there if its worker was lost after it arrived: it is computed again.
    """
    if result.status == "finished":
        return
    error = result.exception()
    if error is not None:
        raise chunk_error(error, chunk) from error
    if result.cancelled():
        raise chunk_error(RuntimeError("It was cancelled"), chunk)


def _submit_merge(client: Any, merge: Merge, results: Sequence[Any]) -> Any:
    # Before other chunks, so that results do not pile up.
    return client.submit(_merge_all, merge, list(results), priority=1, pure=False)


def _in_one_graph(
    scheduler: Any,
    function: Callable[..., Any],
    chunks: Sequence[Chunk],
    merge: Merge,
    done: Callable[[Chunk], None],
) -> Any:
    """Merge results in a tree of pairs, in threads or processes of this machine."""
    delayed = import_module("dask").delayed
    leaves = [_delayed_call(function, chunk) for chunk in chunks]
    waiting = {leaf.key: chunk for leaf, chunk in zip(leaves, chunks, strict=True)}

    def after(key: Any, *_: Any) -> None:
        if key in waiting:
            done(waiting.pop(key))

    tree = leaves
    while len(tree) > 1:
        pairs = [tree[i : i + 2] for i in range(0, len(tree), 2)]
        tree = [delayed(_merge_all, pure=False)(merge, pair) for pair in pairs]
    try:
        with import_module("dask.callbacks").Callback(posttask=after):
            return tree[0].compute(scheduler=scheduler)
    except Exception:
        # These schedulers do not say which task failed: try the chunks that are not done.
        for leaf in leaves:
            if leaf.key in waiting:
                try:
                    leaf.compute(scheduler="synchronous")
                except Exception as error:
                    raise chunk_error(error, waiting[leaf.key]) from error
        raise


def _delayed_call(function: Any, chunk: Chunk) -> Any:
    delayed = import_module("dask").delayed
    return delayed(_call, pure=False)(function, *chunk.arguments)


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _identity(value: Any) -> Any:
    return value


def _merge_all(merge: Merge, results: Sequence[Any]) -> Any:
    return functools.reduce(merge, results)


def chunk_error(error: BaseException, chunk: Chunk | None) -> BaseException:
    """Return an error that names the chunk that failed, of the same kind where that is common."""
    if chunk is None or not isinstance(error, Exception):
        return error
    kind = type(error) if type(error) in (TypeError, ValueError) else RuntimeError
    text = str(error) if kind is not RuntimeError else f"{type(error).__name__}: {error}"
    return kind(f"{text} (in {chunk.name})")
