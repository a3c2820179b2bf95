// The map: what the model says over two features, the others open or at one level.

const FIELDS_DOWN = 30;
const FIELDS_ACROSS = 16;

function classMap(result, rules) {
  const body = byId("map-body");
  const { features, classes, view } = result;
  const [rows, columns] = mostTelling(result);
  const state = { rows, columns, fixed: features.map(() => null), top: 0, left: 0 };
  const levelName = (axis, level) => (axis === null ? "" : view.levels[axis][level]);

  const controls = () => {
    const named = features.map((feature, axis) => [axis, feature.name]);
    const axis = (name, key, other) =>
      choice(name, key === "columns" ? [["", "none"], ...named] : named, state[key] ?? "", (chosen) => {
        const value = chosen === "" ? null : Number(chosen);
        if (value !== null && state[other] === value) state[other] = state[key];
        if (state.rows === null) state.rows = value === 0 && features.length > 1 ? 1 : 0;
        state[key] = value;
        Object.assign(state, { top: 0, left: 0 });
        for (const own of [state.rows, state.columns]) if (own !== null) state.fixed[own] = null;
        refreshControls(name);
        draw();
      });
    const fields = [axis("Down", "rows", "columns")];
    if (features.length > 1) fields.push(axis("Across", "columns", "rows"));
    features.forEach((feature, i) => {
      if (i === state.rows || i === state.columns) return;
      fields.push(
        choice(feature.name, [["", "open"], ...view.levels[i].map((name, level) => [level, name])], state.fixed[i] ?? "", (chosen) => {
          state.fixed[i] = chosen === "" ? null : Number(chosen);
          draw();
        }),
      );
    });
    return fields;
  };
  const refreshControls = (focus) => {
    const box = byId("map-controls");
    box.replaceChildren(...controls());
    if (focus) [...box.children].find((field) => field.textContent.startsWith(focus))?.querySelector("select").focus();
  };

  const where = (field) => {
    const parts = [view.conditions[state.rows][field.row]];
    if (state.columns !== null) parts.push(view.conditions[state.columns][field.column]);
    return parts;
  };
  const what = (field) => {
    if (!field.total) return result.listed || field.unasked ? "No cell here was asked" : "No cell here occurs";
    const parts = classes.map((label, place) => [label, field.counts[place]]).filter(([, count]) => count);
    parts.sort((a, b) => b[1] - a[1]);
    const said = parts.map(([label, count]) => `${isolated(label)} ${count.toLocaleString("en")}`).join(", ");
    const speaking = field.speaking.length;
    const ruled = speaking ? `; ${plural(speaking, "rule")} speak${speaking === 1 ? "s" : ""} of ${field.marked === "all" ? "all of it" : "a part of it"}` : "";
    const left = field.unasked ? `; ${field.unasked.toLocaleString("en")} not asked` : "";
    return `${plural(field.total, "cell")}: ${said}${left}${ruled}`;
  };

  /** Whether a rule speaks of all cells behind a field, of some, or of none. */
  const coverage = (rule, field) => {
    let found = "all";
    for (const [axis, low, high] of rule.box) {
      const level = axis === state.rows ? field.row : axis === state.columns ? field.column : state.fixed[axis];
      if (level === null) found = "some";
      else if (level < low || level > high) return "none";
    }
    return found;
  };

  const draw = () => {
    const counted = countsOver(result, state.rows, state.columns, state.fixed);
    const readout = el("p", { class: "card readout", id: "map-readout" }, el("span", { class: "note" }, "Point at a field, or move to it with the arrow keys."));
    const picked = el("div", { id: "map-picked", role: "region", "aria-label": "The chosen field" });
    const fields = range(state.top, FIELDS_DOWN, counted.height).map((row) =>
      range(state.left, FIELDS_ACROSS, counted.width).map((column) => {
        const counts = counted.at(row, column);
        const total = counts.reduce((a, b) => a + b, 0);
        const place = counts.indexOf(Math.max(...counts));
        const field = { row, column, counts, total, place, unasked: counted.unaskedAt(row, column) };
        const covers = result.rules.map((rule) => coverage(rule, field));
        field.speaking = result.rules.filter((_, i) => covers[i] !== "none");
        field.marked = covers.includes("all") ? "all" : field.speaking.length ? "some" : "none";
        return field;
      }),
    );
    const say = (field) => readout.replaceChildren(el("b", {}, ...joined(where(field).map(bdi), ", ")), ` ${what(field)}.`);
    const pick = (field, button) => {
      for (const other of body.querySelectorAll('.cell[aria-pressed="true"]')) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", "true");
      const link = (rule) => el("li", {}, el("button", { type: "button", class: "link", onclick: () => rules.open(rule.index) }, classRuleNode(rule)));
      picked.replaceChildren(
        el("h3", {}, ...joined(where(field).map(bdi), ", ")),
        el("p", {}, `${what(field)}.`),
        ...(field.speaking.length ? [paged(field.speaking.length, 10, "rules", (from, to) => el("ul", { class: "plain" }, ...field.speaking.slice(from, to).map(link)))] : []),
      );
    };
    const table = el(
      "table",
      { class: "map" },
      el("caption", {}, "What the model says, by ", bdi(features[state.rows].name), ...(state.columns === null ? [] : [" down and ", bdi(features[state.columns].name), " across"])),
      el("thead", {}, el("tr", {}, el("td"), ...fields[0].map((field) => el("th", { scope: "col" }, bdi(levelName(state.columns, field.column)))))),
      el("tbody", {}, ...fields.map((row) => el("tr", {}, el("th", { scope: "row" }, bdi(levelName(state.rows, row[0].row))), ...row.map((field) => el("td", {}, fieldButton(field, say, pick)))))),
    );
    arrowKeys(table);
    body.replaceChildren(
      el(
        "div",
        { class: "stage" },
        el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The map" }, table), el("div", { class: "row" }, ...turns(counted)), legend()),
        readout,
      ),
      picked,
    );
  };

  const turns = (counted) => {
    const move = (key) => (start) => {
      const name = start > state[key] ? "Next" : "Previous";
      state[key] = start;
      draw();
      focusTurn(body.querySelector(`[data-axis="${key}"]`), name);
    };
    const place = (key, count, size, noun) => el("div", { "data-axis": key }, pager(count, size, state[key], noun, move(key)));
    return [place("top", counted.height, FIELDS_DOWN, "rows of the map"), place("left", counted.width, FIELDS_ACROSS, "columns of the map")];
  };

  const fieldButton = (field, say, pick) => {
    const share = field.total ? field.counts[field.place] / field.total : 0;
    const least = 1 / classes.length;
    const full = share === 1 && !field.unasked;
    const mix = full ? 4 : 1 + Math.min(2, Math.floor((3 * (share - least)) / (1 - least || 1)));
    const part = share === 1 ? "?" : shareText(share);
    const shown = full ? [bdi(classes[field.place])] : [bdi(classes[field.place]), el("span", { class: "of" }, ` ${part}`)];
    const button = el(
      "button",
      {
        type: "button",
        class: field.total ? `cell of-class l${field.place % 7} mix${mix}` : "cell blank",
        "aria-label": `${where(field).map(isolated).join(", ")}: ${what(field)}`,
        "aria-pressed": "false",
        tabindex: "-1",
        "data-rules": field.marked === "none" ? null : field.marked,
        onclick: () => pick(field, button),
        onpointerenter: () => say(field),
        onfocus: () => say(field),
      },
      ...(field.total ? shown : ["·"]),
    );
    return button;
  };

  const legend = () =>
    el(
      "div",
      { class: "legend" },
      ...classes.map((label, place) => el("span", {}, el("span", { class: `swatch of-class l${place % 7}`, "aria-hidden": "true" }), " ", bdi(label))),
      el("span", { class: "keys" }, el("i", { class: "key", "data-rules": "all" }), " a rule speaks of all of it"),
      el("span", { class: "keys" }, el("i", { class: "key", "data-rules": "some" }), " of a part of it"),
    );

  refreshControls();
  draw();
}

/** The two features of which most rules speak, weighed by the rows behind them. */
function mostTelling(result) {
  const weight = result.features.map(() => 0);
  for (const rule of result.rules) for (const [axis] of rule.box) weight[axis] += 1 + rule.support;
  const order = weight.map((_, axis) => axis).sort((a, b) => weight[b] - weight[a] || a - b);
  return [order[0], order[1] ?? null];
}
