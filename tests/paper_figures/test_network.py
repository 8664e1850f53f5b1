"""The networks of the paper's appendix at a small size."""

from paper.figures import network
from paper.records import without_timings
from paper.runner import Runner


def test_records_are_reproducible(complete):
    config = network.Config(n_rows=300, steps=8)
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
