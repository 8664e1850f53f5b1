"""The experiment of the paper's network, in small."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "src" / "ritz" / "experiments" / "network.py"


@pytest.fixture(scope="module")
def experiment():
    spec = importlib.util.spec_from_file_location("network_experiment", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["network_experiment"] = module
    spec.loader.exec_module(module)
    return module


class OneByOne:
    def map(self, function, tasks):
        return [record for task in tasks for record in function(**task)]


def test_records_are_plain_and_repeat_themselves(experiment):
    config = experiment.Config(n_rows=1000, steps=40)
    records = experiment.run(config, OneByOne())
    again = json.loads(json.dumps(experiment.run(config)))
    for one, two in zip(records, again, strict=True):
        same = {name for name in one if not name.endswith("seconds")}
        assert {n: one[n] for n in same} == {n: two[n] for n in same}
    assert records[0]["worst"] < records[0]["worst_before"]
    assert experiment.numbers(records)[0]["n_parameters"] == 18_959
    assert len(experiment.plot(records).axes) == 2


def test_the_network_of_the_paper_has_its_layers(experiment):
    model = experiment.model("paper", 10, 0)
    widths = [layer.out_features for layer in model.module() if hasattr(layer, "out_features")]
    assert widths == [200, 200, 2000, 200, 16]
    assert [round(model.schedule(t), 3) for t in (0.0, 0.34, 0.67, 0.99)] == [
        1,
        0.333,
        0.111,
        0.111,
    ]
