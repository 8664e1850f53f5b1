"use strict";
(() => {
  const settings = JSON.parse(document.getElementById("settings").textContent);
  const byId = (id) => document.getElementById(id);

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  const gray = "#9aa0a6";
  const known = (values) => values.filter((value) => value !== null && Number.isFinite(value));

  function mean(values) {
    const some = known(values);
    return some.reduce((sum, value) => sum + value, 0) / some.length;
  }

  function deviation(values) {
    const center = mean(values);
    return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
  }

  // Three digits of the spread around a number, so that years are not all 2020.
  function short(value, spread) {
    if (!value || !Number.isFinite(value)) return value === 0 ? "0" : "";
    const [size, step] = [Math.abs(value), spread].map((x) => Math.floor(Math.log10(x)));
    return String(Number(value.toPrecision(Math.min(12, Math.max(3, 3 + size - step)))));
  }

  function start(source, figure) {
    const column = (field) => Array.from(source.data[field], (v) => (v === null ? NaN : Number(v)));

    function draw() {
      const [x, y, field] = ["x-axis", "y-axis", "color"].map((id) => byId(id).value);
      const looks = settings.labels[field] ? label(field) : shade(field);
      const [fill, mark] = [0, 1].map((part) => looks.map((look) => look[part]));
      source.data = { ...source.data, x: source.data[x], y_: source.data[y], fill, mark };
      figure.below[0].axis_label = settings.names[x];
      figure.left[0].axis_label = settings.names[y];
    }

    function legend(text, background, kind) {
      const item = element("li");
      if (kind) item.append(element("span", "", { class: kind, style: `background:${background}` }));
      item.append(text);
      byId("legend").append(item);
    }

    // Each returns the color and the mark of every sample, and writes the legend.
    function label(field) {
      const [labels, codes] = [settings.labels[field], column(field)];
      const look = (code) => (code >= 0 ? settings.looks[code % settings.looks.length] : [gray, "circle"]);
      const add = (text, [background, mark]) => legend(text, background, `swatch ${mark}`);
      byId("legend").replaceChildren();
      labels.slice(0, settings.most_named).forEach((text, code) => add(text, look(code)));
      const more = labels.length - settings.most_named;
      if (more > 0) legend(`and ${more} more`);
      if (codes.some((code) => !(code >= 0))) add("no label", look(-1));
      return codes.map(look);
    }

    function shade(field) {
      const values = column(field);
      const sorted = known(values).sort((a, b) => a - b);
      const low = sorted[Math.floor(0.01 * (sorted.length - 1))];
      const high = sorted[Math.ceil(0.99 * (sorted.length - 1))];
      const last = settings.shades.length - 1;
      const look = (value) => {
        if (!Number.isFinite(value)) return gray;
        const part = high > low ? (value - low) / (high - low) : 0.5;
        return settings.shades[Math.round(last * Math.min(1, Math.max(0, part)))];
      };
      byId("legend").replaceChildren();
      legend(short(low, deviation(values)));
      legend("", `linear-gradient(to right,${settings.shades.join(",")})`, "bar");
      legend(short(high, deviation(values)));
      return values.map((value) => [look(value), "circle"]);
    }

    // Labels are selected by name, numbers by a range.
    function offer() {
      const labels = settings.labels[byId("color").value];
      for (const id of ["low", "high"]) byId(id).parentElement.hidden = Boolean(labels);
      byId("label").parentElement.hidden = !labels;
      const options = (labels ?? []).map((text, code) => element("option", text, { value: code }));
      if (labels && column(byId("color").value).some((code) => !(code >= 0))) {
        options.push(element("option", "no label", { value: -1 }));
      }
      byId("label").replaceChildren(...options);
      byId("select").textContent = labels ? "Select this label" : "Select this range of the color";
    }

    function describe() {
      const chosen = source.selected.indices;
      const n = source.data.row.length;
      const status = byId("selected");
      const body = byId("means");
      body.replaceChildren();
      byId("means-table").hidden = !chosen.length;
      status.textContent = chosen.length
        ? `${chosen.length.toLocaleString("en")} of ${n.toLocaleString("en")} samples selected.`
        : "No samples selected: draw a box in the picture, or select by its color below it.";
      if (!chosen.length) return;
      const rows = settings.columns.map((field) => {
        const all = column(field);
        const inside = mean(chosen.map((index) => all[index]));
        const center = mean(all);
        const spread = deviation(all);
        const difference = spread > 0 ? (inside - center) / spread : 0;
        const texts = [short(inside, spread), short(center, spread), short(difference, 1)];
        return [Math.abs(difference), settings.names[field], ...texts];
      });
      rows.sort((a, b) => b[0] - a[0]);
      for (const [, name, ...texts] of rows.slice(0, 8)) {
        const line = element("tr");
        line.append(element("th", name, { scope: "row" }));
        texts.forEach((text) => line.append(element("td", text)));
        body.append(line);
      }
    }

    function select() {
      const field = byId("color").value;
      const values = column(field);
      if (settings.labels[field]) {
        const code = Number(byId("label").value);
        source.selected.indices = values.flatMap((v, index) => ((v >= 0 ? v : -1) === code ? [index] : []));
        return;
      }
      const [low, high] = ["low", "high"].map((id) => byId(id).value);
      const from = low === "" ? -Infinity : Number(low);
      const to = high === "" ? Infinity : Number(high);
      source.selected.indices = values.flatMap((v, index) => (v >= from && v <= to ? [index] : []));
    }

    function theme() {
      const ink = getComputedStyle(document.body).color;
      for (const axis of [...figure.below, ...figure.left]) {
        axis.axis_label_text_color = ink;
        axis.major_label_text_color = ink;
        axis.axis_line_color = ink;
        axis.major_tick_line_color = ink;
        axis.minor_tick_line_color = ink;
      }
    }

    for (const id of ["x-axis", "y-axis", "color"]) byId(id).addEventListener("change", draw);
    byId("color").addEventListener("change", offer);
    byId("range").addEventListener("submit", (event) => {
      event.preventDefault();
      select();
    });
    byId("clear").addEventListener("click", () => {
      source.selected.indices = [];
    });
    source.selected.properties.indices.change.connect(describe);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(theme));
    theme();
    draw();
    offer();
    describe();
    document.documentElement.dataset.ready = "yes";
  }

  // Bokeh draws once the page is read, a moment after this script.
  const wait = setInterval(() => {
    const drawn = window.Bokeh && Bokeh.documents[0];
    const source = drawn && drawn.get_model_by_name("samples");
    if (!source) return;
    clearInterval(wait);
    start(source, drawn.get_model_by_name("scatter"));
  }, 30);
})();
