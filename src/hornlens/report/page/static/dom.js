// Building the page. Data enters the document as text, never as markup.

const byId = (id) => document.getElementById(id);

/** Return an element; "onclick" and the like are listeners, null and false leave an attribute out. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Say that a box scrolls sideways, as long as it does: on a small screen nothing else shows it. */
function scrollHint(box, noun) {
  const hint = el("p", { class: "note scrolls", hidden: true }, `This scrolls sideways: there are more ${noun} → `);
  const look = () => (hint.hidden = box.scrollWidth <= box.clientWidth + 1);
  new ResizeObserver(look).observe(box);
  requestAnimationFrame(look);
  return hint;
}

/** Text from outside, isolated so that its writing direction stays its own. */
const bdi = (text) => el("bdi", {}, text);

/** The same where there is no markup, as in labels: Unicode's own marks for it. */
const isolated = (text) => `\u2068${text}\u2069`;

/** Return the items with a separator between them. */
function joined(items, separator) {
  return items.flatMap((item, i) => (i ? [separator, item] : [item]));
}

/** A score as people read it: two places, a real minus; a lead is never said to be nothing. */
function number(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (value > 0 && value < 0.005) return "<0.01";
  const text = Math.abs(value) === Infinity ? "∞" : Math.abs(value).toFixed(2);
  return value < 0 && text !== "0.00" ? `−${text}` : text;
}

/** What the first of two candidates has of both, if it leads by this much in log-probability. */
const shareOf = (lead) => 1 / (1 + Math.exp(-lead));

/** A share as odds: 59 : 41. */
function oddsText(share) {
  const percent = 100 * share;
  const digits = (percent >= 51 && percent < 99) || (percent > 1 && percent <= 49) ? 0 : 1;
  const shown = Math.min(99.9, Math.max(0.1, Number(percent.toFixed(digits))));
  return `${shown.toFixed(digits)} : ${(100 - shown).toFixed(digits)}`;
}

/** How far an answer is ahead: as odds, where scores are log-probabilities. */
function leadText(result, lead) {
  return lead === null || !result.odds ? number(lead) : oddsText(shareOf(lead));
}

/** A share as people read it: never said to be nothing, or all, when it is not. */
function shareText(share) {
  if (share > 0 && share < 0.01) return "<1%";
  return share > 0.99 && share < 1 ? ">99%" : `${Math.round(100 * share)}%`;
}

function plural(count, noun) {
  const many = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? noun : many}`;
}

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A labelled control; `options` are [value, text] pairs. */
function choice(label, options, selected, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [value, text] of options) {
    select.append(el("option", { value, selected: String(value) === String(selected) }, text));
  }
  return el("label", { class: "field" }, el("span", {}, bdi(label)), select);
}

/** Buttons of which one is pressed. */
function segments(label, options, selected, onchange) {
  const buttons = options.map(([value, text]) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === selected),
        onclick: (event) => {
          for (const b of buttons) b.setAttribute("aria-pressed", String(b === event.currentTarget));
          onchange(value);
        },
      },
      text,
    ),
  );
  return el("div", { class: "segments", role: "group", "aria-label": label }, ...buttons);
}

/** "1–25 of 60" with buttons to go on and back; `turn(start)` is called with the new start. */
function pager(count, size, start, noun, turn) {
  if (count <= size) return el("div", { class: "pager", hidden: true });
  const to = Math.min(start + size, count);
  const step = (text, next, name) =>
    el(
      "button",
      {
        type: "button",
        "data-turn": name,
        "aria-label": `${name} ${noun}`,
        disabled: next < 0 || next >= count,
        onclick: () => turn(next),
      },
      text,
    );
  return el(
    "div",
    { class: "pager", role: "group", "aria-label": `Pages of ${noun}` },
    step("←", start - size, "Previous"),
    el("span", {}, `${(start + 1).toLocaleString("en")}–${to.toLocaleString("en")} of ${count.toLocaleString("en")}`),
    step("→", start + size, "Next"),
  );
}

/** A part of a long list at a time: `draw(from, to)` returns the node of a part. */
function paged(count, size, noun, draw) {
  const box = el("div", { class: "paged" });
  const turn = (start, name) => {
    box.replaceChildren(
      draw(start, Math.min(start + size, count)),
      pager(count, size, start, noun, (next) => turn(next, next > start ? "Next" : "Previous")),
    );
    if (name) focusTurn(box, name);
  };
  turn(0);
  return box;
}

/** After a page is turned, focus stays on the button that did it, or on its fellow. */
function focusTurn(box, name) {
  const wanted = box.querySelector(`[data-turn="${name}"]:not(:disabled)`);
  (wanted ?? box.querySelector("[data-turn]:not(:disabled)"))?.focus();
}

/** The sides of a rule as people write them. */
function ruleNode(rule) {
  const { if: left, then } = rule.shown ?? rule;
  const side = (names) => (names.length ? joined(names.map(bdi), " ∧ ") : ["⊤"]);
  const right = then === null ? [el("span", { class: "end" }, "→ ⊥")] : ["→ ", ...side(then)];
  return el("span", { class: "rule" }, ...side(left), " ", ...right);
}

function setNode(names) {
  return el("span", { class: "set" }, "{", ...joined(names.map(bdi), ", "), "}");
}

/** A button that copies; it says so when it has. */
function copyButton(text, make) {
  const button = el("button", {
    type: "button",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(make());
        button.textContent = "Copied";
      } catch {
        button.textContent = copyTheOldWay(make()) ? "Copied" : "Copying is not allowed here";
      }
      setTimeout(() => (button.textContent = text), 1600);
    },
  }, text);
  return button;
}

/** For pages that are not let at the clipboard: select the text, and copy the selection. */
function copyTheOldWay(text) {
  const area = el("textarea", { class: "away", "aria-hidden": "true", tabindex: "-1" });
  const before = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  return done;
}

function downloadButton(text, name, type, make) {
  const save = () => {
    const address = URL.createObjectURL(new Blob([make()], { type }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return el("button", { type: "button", onclick: save }, text);
}

/** Light or dark: as the reader's system has it, until the button is pressed. */
function themeButton() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  dark.addEventListener("change", name);
  name();
}

/** Let the parts that need scripts be seen, and return the data of the page. */
function begin() {
  document.documentElement.classList.add("js");
  themeButton();
  return JSON.parse(byId("data").textContent);
}
