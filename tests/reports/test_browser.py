"""The report in a real browser, offline: it draws, colors and brushes, and fetches nothing."""

import numpy as np
import pandas as pd
import pytest

import ritz
from tests.displays import models

pytest.importorskip("selenium")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.reports.browser import CHROMIUM, DRIVER, browser, requests, screen

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no Chromium: apt-get install chromium chromium-driver",
)
MOONS = models.MOONS
LABELS = np.where(MOONS.labels > 0, "right", "left")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    frame = pd.DataFrame(MOONS.X, columns=["east", "north"])
    model = ritz.SpectralEmbedding(3, operator="laplacian", **models.FEW).fit(frame)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return ritz.report(model, frame, path, y=pd.Series(LABELS, name="moon"))


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def report_of_labels(tmp_path_factory):
    """A report of samples with twenty labels, or none, and of years."""
    kinds = np.array([f"kind {j:02}" for j in np.arange(400) % 20], dtype=object)
    kinds[:7] = None
    frame = pd.DataFrame(MOONS.X, columns=["east", "north"])
    frame["year"] = 2015.0 + np.random.default_rng(0).permutation(400) % 10
    model = ritz.SpectralEmbedding(2, operator="laplacian", scale="standard", **models.FEW)
    path = tmp_path_factory.mktemp("labels") / "report.html"
    return ritz.report(model.fit(frame), frame, path, y=kinds)


@pytest.fixture
def page(driver, report):
    yield from opened(driver, report)


@pytest.fixture
def page_of_labels(driver, report_of_labels):
    yield from opened(driver, report_of_labels)


def opened(driver, path):
    driver.get_log("browser")
    requests(driver)
    screen(driver, 1280, 900, "light")
    driver.get(path.as_uri())
    ready = "return document.documentElement.dataset.ready === 'yes'"
    WebDriverWait(driver, 60).until(lambda d: d.execute_script(ready))
    yield driver
    # Nothing was asked of a network, and the console has nothing to say.
    assert {url.split(":")[0] for url in requests(driver)} <= {"file", "data", "blob"}
    assert not driver.get_log("browser")


def find(page, place):
    return page.find_element(By.ID, place)


def data(page, field):
    script = "return Array.from(Bokeh.documents[0].get_model_by_name('samples').data[arguments[0]])"
    return page.execute_script(script, field)


def selected(page):
    script = "return Array.from(Bokeh.documents[0].get_model_by_name('samples').selected.indices)"
    return page.execute_script(script)


def test_the_page_has_its_parts(page):
    assert page.title == "SpectralEmbedding report"
    headings = [h.text for h in page.find_elements(By.TAG_NAME, "h2")]
    assert headings[:5] == ["In short", "Data at a glance", "Spectrum", "Functions", "Embedding"]
    assert "as asked" in find(page, "main").text
    size = page.execute_script(
        "const c = Bokeh.index.roots[0].el.getBoundingClientRect(); return [c.width, c.height]"
    )
    assert size[0] > 600
    assert size[1] > 300


def test_a_column_colors_the_samples(page):
    before = data(page, "fill")
    assert len(set(before)) == 2
    legend = find(page, "legend")
    assert legend.text.split() == ["left", "right"]
    Select(find(page, "color")).select_by_visible_text("north")
    after = data(page, "fill")
    assert len(set(after)) > 20
    north = np.array(data(page, "c1"))
    assert after[int(north.argmax())] != after[int(north.argmin())]
    assert legend.text.split() != ["left", "right"]


def test_other_functions_can_be_drawn(page):
    Select(find(page, "y-axis")).select_by_index(2)
    assert data(page, "y_") == data(page, "f2")
    label = page.execute_script(
        "return Bokeh.documents[0].get_model_by_name('scatter').left[0].axis_label"
    )
    assert label.startswith("function 3: λ₃ = ")


def test_a_box_selects_samples_and_tells_how_they_differ(page):
    assert find(page, "selected").text.startswith("No samples selected")
    place = page.execute_script(
        "const el = Bokeh.index.roots[0].el;"
        "el.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const frame = Bokeh.index.roots[0].frame.bbox, box = el.getBoundingClientRect();"
        "return [box.left + frame.left, box.top + frame.top, frame.width, frame.height]"
    )
    left, top, width, height = place
    # The left half of the picture: one of the moons.
    actions = ActionChains(page, duration=20)
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(int(left + 3), int(top + 3))
    pointer.pointer_down()
    pointer.move_to_location(int(left + width / 4), int(top + height / 2))
    pointer.move_to_location(int(left + width / 2), int(top + height - 3))
    pointer.pointer_up()
    actions.perform()
    WebDriverWait(page, 20).until(lambda d: selected(d))
    chosen, x = selected(page), np.array(data(page, "x"))
    middle = (x.min() + x.max()) / 2
    assert {x[j] < middle for j in chosen} == {True}
    assert abs(len(chosen) - (x < middle).sum()) < 5
    status = find(page, "selected").text
    assert status == f"{len(chosen)} of {len(x)} samples selected."
    rows = find(page, "means").text.splitlines()
    assert {row.split()[0] for row in rows} == {"east", "north"}
    for row in rows:
        name, inside, everywhere, _ = row.split()
        column = np.array(data(page, {"east": "c0", "north": "c1"}[name]))
        assert float(inside) == pytest.approx(column[chosen].mean(), rel=0.01, abs=0.006)
        assert float(everywhere) == pytest.approx(column.mean(), rel=0.01, abs=0.006)


def test_the_keyboard_selects_a_range_and_clears_it(page):
    Select(find(page, "color")).select_by_visible_text("north")
    find(page, "low").send_keys("1.5")
    find(page, "high").send_keys("9" + Keys.ENTER)
    expected = np.flatnonzero(np.array(data(page, "c1")) >= 1.5).tolist()
    assert selected(page) == expected
    assert find(page, "means-table").is_displayed()
    find(page, "clear").send_keys(Keys.SPACE)
    assert selected(page) == []
    assert not find(page, "means-table").is_displayed()


def test_the_keyboard_selects_a_label(page_of_labels):
    page = page_of_labels
    codes = np.array(data(page, "y"))
    assert not find(page, "low").is_displayed()
    find(page, "label").send_keys("kind 15")
    find(page, "select").send_keys(Keys.ENTER)
    assert find(page, "select").text == "Select this label"
    assert selected(page) == np.flatnonzero(codes == 15).tolist()
    assert find(page, "means-table").is_displayed()
    find(page, "label").send_keys("no label")
    find(page, "select").send_keys(Keys.ENTER)
    assert selected(page) == np.flatnonzero(codes < 0).tolist() == list(range(7))
    Select(find(page, "color")).select_by_visible_text("year")
    assert not find(page, "label").is_displayed()
    find(page, "low").send_keys("2024" + Keys.ENTER)
    assert selected(page) == np.flatnonzero(np.array(data(page, "c2")) == 2024).tolist()


def test_labels_differ_in_color_or_mark_and_a_long_legend_ends(page_of_labels):
    page = page_of_labels
    looks = list(zip(data(page, "fill"), data(page, "mark"), strict=True))
    by_label = dict(zip(data(page, "y"), looks, strict=True))
    assert len(set(by_label.values())) == len(by_label) == 21
    items = find(page, "legend").find_elements(By.TAG_NAME, "li")
    texts = [item.text for item in items]
    assert texts == [*(f"kind {j:02}" for j in range(14)), "and 6 more", "no label"]
    shapes = "return Array.from(arguments[0].querySelectorAll('.swatch'), (e) => {"
    shapes += "const s = getComputedStyle(e); return s.backgroundColor + s.clipPath;})"
    assert len(set(page.execute_script(shapes, find(page, "legend")))) == 15


def test_years_keep_their_digits(page_of_labels):
    page = page_of_labels
    Select(find(page, "color")).select_by_visible_text("year")
    assert find(page, "legend").text.split() == ["2015", "2024"]
    assert set(data(page, "mark")) == {"circle"}
    find(page, "high").send_keys("2016" + Keys.ENTER)
    (row,) = [line for line in find(page, "means").text.splitlines() if "year" in line]
    assert float(row.split()[1]) == 2015.5
    assert float(row.split()[2]) == 2019.5


def test_the_first_key_leads_past_the_contents(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the report"
    outline = [skip.value_of_css_property(f"outline-{part}") for part in ("style", "width")]
    assert outline == ["solid", "3px"]
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"


CONTRAST = """
const channel = (c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const over = (below, color) => {
  for (const [how, fill] of [["copy", below], ["source-over", color]]) {
    canvas.globalCompositeOperation = how;
    canvas.fillStyle = fill;
    canvas.fillRect(0, 0, 1, 1);
  }
  return Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3));
};
const ground = (element) => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.unshift(getComputedStyle(e).backgroundColor);
  return layers.reduce((below, color) => `rgb(${over(below, color).join(",")})`, "white");
};
const poor = [];
for (const element of document.querySelectorAll("body *")) {
  const own = Array.from(element.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim());
  const shown = element.getClientRects().length && !element.closest("script,style");
  if (!own || !shown) continue;
  const style = getComputedStyle(element), below = ground(element);
  const color = element.closest("svg") ? style.fill : style.color;
  if (color === "none") continue;
  const [a, b] = [light(over(below, color)), light(over(below, below))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) poor.push([element.tagName, element.textContent.trim().slice(0, 40), ratio]);
}
return poor;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_pages_are_legible_wide_and_narrow_light_and_dark(page, width, scheme):
    screen(page, width, 800, scheme)
    page.execute_async_script("setTimeout(arguments[0], 300)")
    # Nothing makes the page wider than the screen; wide tables scroll by themselves.
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert page.execute_script(CONTRAST) == []
    ink = page.execute_script("return getComputedStyle(document.body).color")
    axis = page.execute_script(
        "return Bokeh.documents[0].get_model_by_name('scatter').below[0].axis_label_text_color"
    )
    assert axis == ink
    # Whatever scrolls can be reached by keys, and whatever is pressed is large enough to be hit.
    pressed = "select, input, button"
    parts = "return Array.from(document.querySelectorAll(arguments[0]), e => e[arguments[1]])"
    assert min(page.execute_script(parts, ".scroll, pre", "tabIndex")) >= 0
    assert min(page.execute_script(parts, f":is({pressed}):not([hidden] *)", "offsetHeight")) >= 24
