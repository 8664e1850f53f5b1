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

  const known = (values) => values.filter((value) => value !== null && Number.isFinite(value));

  function short(value) {
    return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "";
  }

  function start(source, figure) {
    const column = (field) => Array.from(source.data[field], (v) => (v === null ? NaN : Number(v)));

    function draw() {
      const [x, y, field] = ["x-axis", "y-axis", "color"].map((id) => byId(id).value);
      const fill = color(field);
      source.data = { ...source.data, x: source.data[x], y_: source.data[y], fill };
      figure.below[0].axis_label = settings.names[x];
      figure.left[0].axis_label = settings.names[y];
    }

    function color(field) {
      const values = column(field);
      const legend = byId("legend");
      legend.replaceChildren();
      const gray = "#9aa0a6";
      const add = (text, background, kind) => {
        const item = element("li");
        item.append(element("span", "", { class: kind, style: `background:${background}` }), text);
        legend.append(item);
      };
      const labels = settings.labels[field];
      if (labels) {
        labels.forEach((label, code) => add(label, settings.colors[code % settings.colors.length], "swatch"));
        if (values.some((code) => !(code >= 0))) add("no label", gray, "swatch");
        return values.map((code) => (code >= 0 ? settings.colors[code % settings.colors.length] : gray));
      }
      const sorted = known(values).sort((a, b) => a - b);
      const low = sorted[Math.floor(0.01 * (sorted.length - 1))];
      const high = sorted[Math.ceil(0.99 * (sorted.length - 1))];
      const last = settings.shades.length - 1;
      const shade = (value) => {
        if (!Number.isFinite(value)) return gray;
        const part = high > low ? (value - low) / (high - low) : 0.5;
        return settings.shades[Math.round(last * Math.min(1, Math.max(0, part)))];
      };
      legend.append(element("li", short(low)));
      add("", `linear-gradient(to right,${settings.shades.join(",")})`, "bar");
      legend.append(element("li", short(high)));
      return values.map(shade);
    }

    function mean(values) {
      const some = known(values);
      return some.reduce((sum, value) => sum + value, 0) / some.length;
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
        : "No samples selected: draw a box in the picture, or select a range of its color.";
      if (!chosen.length) return;
      const rows = settings.columns.map((field) => {
        const all = column(field);
        const inside = mean(chosen.map((index) => all[index]));
        const center = mean(all);
        const deviation = Math.sqrt(mean(all.map((value) => (value - center) ** 2)));
        return [settings.names[field], inside, center, deviation > 0 ? (inside - center) / deviation : 0];
      });
      rows.sort((a, b) => Math.abs(b[3]) - Math.abs(a[3]));
      for (const [name, ...numbers] of rows.slice(0, 8)) {
        const line = element("tr");
        line.append(element("th", name, { scope: "row" }));
        numbers.forEach((number) => line.append(element("td", short(number))));
        body.append(line);
      }
    }

    function selectRange() {
      const values = column(byId("color").value);
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
    byId("range").addEventListener("submit", (event) => {
      event.preventDefault();
      selectRange();
    });
    byId("clear").addEventListener("click", () => {
      source.selected.indices = [];
    });
    source.selected.properties.indices.change.connect(describe);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(theme));
    theme();
    draw();
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
