// Charts come drawn with the page. Here they get notes with their values, keys to move by, and a
// legend that shows and hides what is in them.


/**
 * Show a note beside what is pointed at or focused within `root`, if it is or is in a `selector`.
 * `describe(node)` returns the note's children. Escape takes it away.
 */
function notes(root, selector, describe) {
  const note = el("div", { class: "tip", "aria-hidden": "true", hidden: true });
  document.body.append(note);
  let about = null;
  const hide = () => {
    about = null;
    note.hidden = true;
  };
  const place = () => {
    if (!about) return;
    const box = (about.querySelector(".anchor") ?? about).getBoundingClientRect();
    const { width, height } = note.getBoundingClientRect();
    const left = Math.min(box.left + box.width / 2 - width / 2, innerWidth - width - 8);
    const below = box.bottom + 10;
    const top = below + height > innerHeight - 8 ? Math.max(8, box.top - height - 10) : below;
    note.style.left = `${Math.max(8, left)}px`;
    note.style.top = `${top}px`;
  };
  const show = (event) => {
    const node = event.target.closest?.(selector);
    if (!node || !root.contains(node)) return hide();
    if (node === about) return;
    about = node;
    note.replaceChildren(...describe(node));
    note.hidden = false;
    place();
  };
  root.addEventListener("pointerover", show);
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusin", show);
  root.addEventListener("focusout", hide);
  root.addEventListener("click", hide);
  addEventListener("scroll", place, { passive: true, capture: true });
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

/** Lines of a note: a heading, then pairs of what and how much. */
function noteLines(heading, pairs) {
  const line = ([what, much]) => el("div", {}, el("dt", {}, ...[what].flat()), el("dd", {}, much));
  return [el("b", {}, ...heading), el("dl", {}, ...pairs.map(line))];
}

/** One stop for the tab key; left and right go along a line of points, up and down to another. */
function movePoints(lines) {
  const all = lines.flat();
  const stop = (point) => {
    for (const other of all) other.setAttribute("tabindex", other === point ? "0" : "-1");
  };
  const shown = () => lines.filter((line) => !line[0].closest("[hidden]"));
  lines.forEach((line) =>
    line.forEach((point, i) => {
      point.addEventListener("focus", () => stop(point));
      point.addEventListener("keydown", (event) => {
        const others = shown();
        const at = others.indexOf(line);
        const next = {
          ArrowLeft: () => line[i - 1],
          ArrowRight: () => line[i + 1],
          ArrowUp: () => nearest(others[at - 1], point),
          ArrowDown: () => nearest(others[at + 1], point),
          Home: () => line[0],
          End: () => line.at(-1),
        }[event.key];
        if (!next) return;
        event.preventDefault();
        next()?.focus();
      });
    }),
  );
  /** After a line is hidden, the tab key must find another. */
  return () => stop(shown()[0]?.[0]);
}

const nearest = (line, point) => line?.find((other) => other.dataset.budget === point.dataset.budget) ?? line?.[0];

/** Make the entries of a legend buttons; `show(index, on)` is called when one is pressed. */
function legendButtons(legend, show) {
  [...legend.children].forEach((entry, i) => {
    const button = el("button", {
      type: "button",
      "aria-pressed": "true",
      onclick: () => {
        const on = button.ariaPressed !== "true";
        button.setAttribute("aria-pressed", String(on));
        show(i, on);
      },
    }, ...entry.childNodes);
    entry.append(button);
  });
}
