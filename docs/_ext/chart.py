"""Draw the chart of docs/choose.md: `python docs/_ext/chart.py` writes docs/_static/choose.svg."""

from pathlib import Path

# What one has: each want with the name to call and its page.
QUESTIONS = {
    "rows of numbers": [
        ("no labels: embed", "SpectralEmbedding", "start.html"),
        ("no labels: cluster", "SpectralClustering", "tutorials/table.html"),
        ("few labels", "LaplacianClassifier", "tutorials/few_labels.html"),
        ("few numbers", "LaplacianRegressor", "tutorials/few_labels.html"),
    ],
    "values, gradients": [("a surrogate", "HermiteRegressor", "tutorials/surrogate.html")],
    "two views of objects": [("what they share", "SingularEmbedding", "tutorials/two_views.html")],
    "a simulation": [
        ("its trajectories", "implied_timescales", "tutorials/molecule.html"),
        ("its equilibrium", "DiffusionModes", "tutorials/molecule.html"),
    ],
    "an operator of your own": [
        ("functions: kernels", "decompose", "tutorials/operator.html"),
        ("functions: a network", "SpectralNetwork", "tutorials/network.html"),
    ],
}
ROW, LEFT, MIDDLE, RIGHT = 40, 2, 236, 486
WIDTH, BOX_WIDTH = 690, 200


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x}" y="{y + 5}" class="{kind}">{words}</text>'


def box(x: float, y: float, corner: int, kind: str) -> str:
    size = f'width="{BOX_WIDTH}" height="30" rx="{corner}"'
    return f'<rect x="{x}" y="{y - 15}" {size} class="{kind}"/>'


def line(path: str) -> str:
    return f'<path d="{path}" class="line"/>'


def chart() -> str:
    """Return the chart as SVG that takes its colors from the page."""
    parts, y = [], 24
    for have, answers in QUESTIONS.items():
        middle = y + ROW * (len(answers) - 1) / 2
        parts += [box(LEFT, middle, 6, "have"), text(LEFT + 12, middle, have, "word")]
        start, bend = LEFT + BOX_WIDTH, MIDDLE - 14
        for want, name, page in answers:
            parts.append(line(f"M{start},{middle} C{bend},{middle} {start},{y} {MIDDLE},{y}"))
            parts.append(text(MIDDLE + 8, y, want, "word"))
            parts.append(line(f"M{MIDDLE + 176},{y} H{RIGHT - 8}"))
            label = text(RIGHT + BOX_WIDTH / 2, y, name, "name")
            parts.append(f'<a href="{page}">{box(RIGHT, y, 15, "use")}{label}</a>')
            y += ROW
        y += 8
    shape = f'class="choose" viewBox="0 0 {WIDTH} {y - 20}" role="img"'
    title = "<title>From what you have, by what you want, to the name to call</title>"
    body = "\n".join([title, *parts])
    return f'<svg {shape} xmlns="http://www.w3.org/2000/svg">\n{body}\n</svg>\n'


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "_static" / "choose.svg"
    path.write_text(chart(), encoding="utf-8")
