"""The experiment of the paper's network, in small."""

import importlib.util

from ritz import cli, experiments
from ritz.experiments import Runner, network, without_timings


def test_records_repeat_themselves(complete):
    config = network.Config(n_rows=500, steps=15)
    records, again = network.run(config), network.run(config, Runner(n_jobs=1))
    assert without_timings(records) == without_timings(again)
    assert records[0]["worst"] < records[0]["worst_before"]
    assert network.numbers(records)[0]["n_parameters"] == 18_959
    complete(network.plot(records))


def test_the_network_of_the_paper_has_its_layers():
    model = network.model("paper", 10, 0)
    widths = [layer.out_features for layer in model.module() if hasattr(layer, "out_features")]
    assert widths == [200, 200, 2000, 200, 16]
    rates = [round(model.schedule(t), 3) for t in (0.0, 0.34, 0.67, 0.99)]
    assert rates == [1, 0.333, 0.111, 0.111]


def test_without_torch_it_is_left_out_of_all_and_refused_alone(monkeypatch):
    from typer.testing import CliRunner

    def none(name):
        return None if name == "torch" else importlib.util.find_spec(name)

    monkeypatch.setattr(experiments, "find_spec", none)
    assert cli._ready("moons", alone=False)
    assert not cli._ready("network", alone=False)
    found = CliRunner().invoke(cli.app, ["reproduce", "network"])
    assert found.exit_code == 2
    assert "network needs torch: pip install 'ritz[torch]'." in found.output
