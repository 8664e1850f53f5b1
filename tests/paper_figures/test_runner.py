"""Tasks run once, also after interruptions, and their records keep the order of tasks."""

import json
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import ritz
from paper import runner as runner_module
from paper.figures import jacobian_variance
from paper.records import read_records, without_timings
from paper.runner import Runner, seeds

CALLS = []


def square(x, fail=False):
    CALLS.append(x)
    if fail:
        raise RuntimeError("stopped")
    return [{"x": x, "square": np.float64(x) ** 2, "list": (x, np.arange(2))}]


def sleepy(x, pause):
    time.sleep(pause)
    return [{"x": x}, {"x": -x}]


def threads(pause):
    time.sleep(pause)
    return [{"threads": most_threads()}]


def most_threads():
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def unfit(value):
    return [{"value": float("nan") if value == "nan" else object()}]


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def test_finished_tasks_are_not_run_again(tmp_path):
    runner = Runner(folder=tmp_path / "deep" / "folder")
    first = runner.map(square, [{"x": 1}, {"x": 2}])
    again = runner.map(square, [{"x": 2}, {"x": 3}, {"x": 1}])
    assert CALLS == [1, 2, 3]
    assert first == [{"x": x, "square": x**2, "list": [x, [0, 1]]} for x in (1, 2)]
    assert [record["x"] for record in again] == [2, 3, 1]
    assert read_records(tmp_path / "deep" / "folder" / "records.jsonl") == [*first, again[1]]


def test_without_a_folder_records_are_the_same_and_nothing_is_kept(tmp_path):
    kept = Runner(folder=tmp_path).map(square, [{"x": 3}])
    assert Runner().map(square, [{"x": 3}]) == kept
    assert CALLS == [3, 3]


def test_tasks_finished_before_an_interruption_are_kept(tmp_path):
    runner = Runner(folder=tmp_path)
    tasks = [{"x": 1}, {"x": 2}, {"x": 3, "fail": True}, {"x": 4}]
    with pytest.raises(RuntimeError, match="stopped"):
        runner.map(square, tasks)
    tasks[2] = {"x": 3, "fail": False}
    assert [record["x"] for record in runner.map(square, tasks)] == [1, 2, 3, 4]
    assert CALLS == [1, 2, 3, 3, 4]


def test_an_unfinished_line_is_computed_again(tmp_path):
    runner, file = Runner(folder=tmp_path), tmp_path / "records.jsonl"
    records = runner.map(square, [{"x": 1}, {"x": 2}])
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert runner.map(square, [{"x": 1}, {"x": 2}]) == records
    assert CALLS == [1, 2, 2]
    assert file.read_bytes() == whole


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "records.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="line 1, is not a task"):
        Runner(folder=tmp_path).map(square, [{"x": 1}])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_each_task_has_one_thread_of_linear_algebra(backend):
    with threadpool_limits(2, "blas"):
        tasks = [{"pause": pause} for pause in (0.0, 0.3, 0.0, 0.1)]
        found = Runner(n_jobs=2, backend=backend).map(threads, tasks)
        assert [record["threads"] for record in found] == [1, 1, 1, 1]
        assert most_threads() == 2


def test_another_version_or_argument_is_another_task(tmp_path, monkeypatch):
    runner = Runner(folder=tmp_path)
    runner.map(square, [{"x": 1}])
    runner.map(square, [{"x": 1, "fail": False}])
    monkeypatch.setattr(ritz, "__version__", "999")
    runner.map(square, [{"x": 1}])
    assert CALLS == [1, 1, 1]
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["key"]["ritz"] == "999"


def test_records_are_in_the_order_of_tasks():
    tasks = [{"x": x, "pause": 0.2 * (x == 1)} for x in (1, 2, 3)]
    found = Runner(n_jobs=2, backend="threading").map(sleepy, tasks)
    assert [record["x"] for record in found] == [1, -1, 2, -2, 3, -3]


@pytest.mark.parametrize("value", ["nan", "object"])
def test_values_that_json_cannot_hold_are_refused(value):
    with pytest.raises(ValueError, match="Records must be dictionaries of finite numbers"):
        Runner().map(unfit, [{"value": value}])


def test_two_processes_return_the_records_of_one(tmp_path):
    config = jacobian_variance.Config(dimensions=(2, 3, 4), directions=100, batches=3, n=50)
    one = jacobian_variance.run(config, Runner(n_jobs=1))
    two = jacobian_variance.run(config, Runner(n_jobs=2, folder=tmp_path))
    assert without_timings(one) == without_timings(two)


def test_seeds_depend_on_their_place_only():
    assert seeds(0, 5)[:3] == seeds(0, 3)
    child = np.random.SeedSequence(7).spawn(3)[2]
    assert seeds(7, 3)[2] == child.generate_state(1)[0]
    every = seeds(0, 100) + seeds(1, 100) + seeds(0, 100, 1) + seeds(0, 100, 1, 2)
    assert len(set(every)) == 400
    assert max(every) < 2**32


def test_measured_names_are_left_out():
    record = {"d": 3, "seconds": 1.0, "fit_seconds": 2.0, "peak_megabytes": 3.0, "seconds_hand": 4}
    assert without_timings([record]) == [{"d": 3, "seconds_hand": 4}]


def test_dask_needs_its_library(monkeypatch):
    monkeypatch.setattr(runner_module, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'dask\[distributed\]'"):
        Runner(backend="dask")
