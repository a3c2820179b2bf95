// The map: how far an answer leads, over two attributes, with the rules that speak of each cell.

const MAP_ROWS = 40;
const MAP_COLUMNS = 24;

function scoreMap(result, rules) {
  const body = byId("map-body");
  const [rows, columns] = mapAttributes(result, 0);
  const state = {
    rows,
    columns,
    label: 0,
    fixed: result.attributes.map(() => null),
    world: null,
    top: 0,
    left: 0,
  };
  const nameOf = (attribute, value) =>
    attribute === null ? `all ${result.unit}s` : value ? result.attributes[attribute].values[value - 1] : "unset";
  const word = (label) => result.labels[label].word;
  const rivals = () => (result.labels.length > 2 ? "the best other" : word(1 - state.label));

  const controls = () => {
    const attributes = result.attributes.map((attribute, i) => [i, attribute.name]);
    const axis = (name, key, other) =>
      choice(name, key === "columns" ? [["", "none"], ...attributes] : attributes, state[key] ?? "", (chosen) => {
        const value = chosen === "" ? null : Number(chosen);
        if (value !== null && state[other] === value) state[other] = state[key];
        state[key] = value;
        Object.assign(state, { top: 0, left: 0 });
        refreshControls(name);
        draw();
      });
    const fields = [];
    if (attributes.length) fields.push(axis("Rows", "rows", "columns"));
    if (attributes.length > 1) fields.push(axis("Columns", "columns", "rows"));
    fields.push(
      choice("Lead of", result.labels.map((label, i) => [i, label.word]), state.label, (chosen) => {
        state.label = Number(chosen);
        draw();
      }),
    );
    result.attributes.forEach((attribute, i) => {
      if (i === state.rows || i === state.columns) return;
      const options = [["", "averaged"], ...askedOf(attribute)];
      fields.push(
        choice(attribute.name, options, state.fixed[i] ?? "", (chosen) => {
          state.fixed[i] = chosen === "" ? null : Number(chosen);
          draw();
        }),
      );
    });
    if (result.worlds.length > 1) {
      const options = [["", "averaged"], ...result.worlds.map(({ name }, i) => [i, name])];
      fields.push(
        choice(result.noun, options, state.world ?? "", (chosen) => {
          state.world = chosen === "" ? null : Number(chosen);
          draw();
        }),
      );
    }
    return fields;
  };
  const refreshControls = (focus) => {
    const box = byId("map-controls");
    box.replaceChildren(...controls());
    if (focus) [...box.children].find((field) => field.textContent.startsWith(focus))?.querySelector("select").focus();
  };

  /** How far a label is ahead in a cell, from its rival's side to its own. */
  const lean = (cell) => (result.odds && cell.share !== null ? 2 * cell.share - 1 : cell.mean);

  const ahead = ({ mean, share, positions }) => {
    if (result.odds && share !== 0.5) {
      const average = positions.length > 1 ? " on average" : "";
      const first = share > 0.5 ? isolated(word(state.label)) : result.labels.length > 2 ? "The best other" : isolated(word(1 - state.label));
      return `${first} leads by ${oddsText(Math.max(share, 1 - share))}${average}`;
    }
    if (Number.isNaN(mean)) return "No mean: endless leads both ways";
    const average = positions.length > 1 ? " on average" : "";
    if (mean === 0) return `No lead${average}`;
    const rival = () => (result.labels.length > 2 ? "The best other" : isolated(word(1 - state.label)));
    return `${mean > 0 ? isolated(word(state.label)) : rival()} leads by ${number(Math.abs(mean))}${average}`;
  };

  const describe = (cell) => {
    const where = [nameOf(state.rows, cell.row)];
    if (state.columns !== null) where.push(nameOf(state.columns, cell.column));
    if (!cell.positions.length) return [joined(where.map(bdi), ", "), cell.silent ? "No scores" : "Not asked"];
    const won = result.labels.map((label, i) => `${isolated(label.word)} ${cell.wins[i]}`).join(", ");
    const few = cell.speaking.length;
    return [
      joined(where.map(bdi), ", "),
      `${ahead(cell)}; ${plural(cell.positions.length, result.unit)} (${won})`
        + (cell.silent ? `; ${plural(cell.silent, result.unit)} without scores` : "")
        + (few ? `; ${plural(few, "rule")} speak${few === 1 ? "s" : ""} of ${cell.marked === "all" ? "it" : "a part of it"}` : ""),
    ];
  };

  const draw = () => {
    const map = mapOf(result, state.rows, state.columns, state.fixed, state.label, state.world);
    const widest = map.cells
      .map((cell) => Math.abs(lean(cell)))
      .filter(Number.isFinite)
      .reduce((most, lead) => Math.max(most, lead), 0);
    const readout = el("p", { class: "card readout", id: "map-readout" }, el("span", { class: "note" }, "Point at a cell, or move to it with the arrow keys."));
    const picked = el("div", { id: "map-picked", role: "region", "aria-label": "The chosen cell" });
    const say = (cell) => {
      const [where, what] = describe(cell);
      readout.replaceChildren(el("b", {}, ...where), ` ${what}.`);
    };
    const pick = (cell, button) => {
      for (const other of body.querySelectorAll('.cell[aria-pressed="true"]')) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", "true");
      picked.replaceChildren(...cellDetail(cell, describe(cell)));
    };
    const visible = range(state.top, MAP_ROWS, map.height).map((row) =>
      range(state.left, MAP_COLUMNS, map.width).map((column) => map.at(row, column)),
    );
    for (const cell of visible.flat()) {
      const covers = result.rules.map((rule) => coverage(result, rule, state.rows, state.columns, state.fixed, cell));
      cell.speaking = result.rules.filter((_, i) => covers[i] !== "none");
      cell.marked = covers.includes("all") ? "all" : cell.speaking.length ? "some" : "none";
    }
    const table = el("table", { class: "map" });
    const caption = el(
      "caption",
      {},
      ...(result.odds ? ["Share of ", el("em", {}, bdi(word(state.label))), " against "] : ["Lead of ", el("em", {}, bdi(word(state.label))), " over "]),
      bdi(rivals()),
      ...(state.rows === null ? [] : [", by ", bdi(result.attributes[state.rows].name)]),
      ...(state.columns === null ? [] : [" and ", bdi(result.attributes[state.columns].name)]),
    );
    const head = el("tr", {}, el("td"), ...visible[0].map((cell) => el("th", { scope: "col" }, bdi(nameOf(state.columns, cell.column)))));
    const lines = visible.map((row) =>
      el("tr", {}, el("th", { scope: "row" }, bdi(nameOf(state.rows, row[0].row))), ...row.map((cell) => el("td", {}, cellButton(cell, widest, say, pick)))),
    );
    table.append(caption, el("thead", {}, head), el("tbody", {}, ...lines));
    arrowKeys(table);
    const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The map" }, table);
    const hint = scrollHint(box, "columns");
    body.replaceChildren(
      el(
        "div",
        { class: "stage" },
        el(
          "div",
          {},
          hint,
          box,
          el("div", { class: "row" }, ...turns(map)),
          legend(widest),
        ),
        readout,
      ),
      picked,
    );
  };

  const turns = (map) => {
    const move = (key) => (start) => {
      const name = start > state[key] ? "Next" : "Previous";
      state[key] = start;
      draw();
      focusTurn(body.querySelector(`[data-axis="${key}"]`), name);
    };
    const place = (key, count, size, noun) =>
      el("div", { "data-axis": key }, pager(count, size, state[key], noun, move(key)));
    return [
      place("top", map.height, MAP_ROWS, "rows of the map"),
      place("left", map.width, MAP_COLUMNS, "columns of the map"),
    ];
  };

  const cellButton = (cell, widest, say, pick) => {
    const step = stepOf(lean(cell), widest);
    const asked = cell.positions.length > 0;
    const [where, what] = describe(cell);
    const label = `${where.map((part) => (part.textContent ? isolated(part.textContent) : part)).join("")}: ${what}`;
    const signed = result.odds && asked ? shareText(cell.share) : cell.mean > 0 ? `+${number(cell.mean)}` : number(cell.mean);
    const button = el(
      "button",
      {
        type: "button",
        class: `cell ${step === null ? "blank" : `step${step}`}`,
        "aria-label": label,
        "aria-pressed": "false",
        tabindex: "-1",
        "data-rules": cell.marked === "none" ? null : cell.marked,
        onclick: () => pick(cell, button),
        onpointerenter: () => say(cell),
        onfocus: () => say(cell),
      },
      asked ? signed : "·",
    );
    return button;
  };

  const cellDetail = (cell, [where, what]) => {
    const items = cell.positions.map((position) => ({
      position,
      margin: leadOf(result.answers[position].scores, state.label),
    }));
    items.sort((a, b) => a.margin - b.margin || a.position - b.position);
    const parts = [el("h3", {}, ...where), el("p", {}, `${what}.`)];
    if (cell.speaking.length) {
      const entry = (rule) =>
        el("li", {}, el("button", { type: "button", class: "link", onclick: () => rules.open(rule.index) }, ruleNode(rule)));
      parts.push(
        paged(cell.speaking.length, 10, "rules", (from, to) => el("ul", { class: "plain" }, ...cell.speaking.slice(from, to).map(entry))),
      );
    }
    if (items.length) parts.push(promptTable(result, items, result.prompted ? "The prompts of the cell" : "The cells here", `Lead of ${isolated(word(state.label))}`));
    return parts;
  };

  const legend = (widest) => {
    const most = result.odds ? oddsText((1 + widest) / 2) : number(widest);
    const swatches = [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((step) => el("span", { class: `step${step}` }));
    return el(
      "div",
      { class: "legend" },
      el("span", {}, bdi(rivals()), ` leads by ${most}`),
      el("span", { class: "scale", "aria-hidden": "true" }, ...swatches),
      el("span", {}, bdi(word(state.label)), ` leads by ${most}`),
      el("span", { class: "keys" }, el("i", { class: "key", "data-rules": "all" }), " a rule speaks of the cell"),
      el("span", { class: "keys" }, el("i", { class: "key", "data-rules": "some" }), " of a part of it"),
    );
  };

  byId("map-lead").replaceChildren(
    result.odds ? "Each cell is what a word has of the probability of two, on average: " : "Each cell is the difference between the scores of ",
    ...joined(result.labels.map((label) => el("em", {}, bdi(label.word))), result.odds ? " against " : " and "),
    `. Pick one to see ${result.prompted ? "its prompts" : "what is behind it"}.`,
  );
  refreshControls();
  draw();
}
