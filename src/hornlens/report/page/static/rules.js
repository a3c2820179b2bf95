// The table of rules: search, filters, two forms, and the evidence behind each rule.

function rulesTable(result) {
  const table = byId("rule-table");
  if (!table) return { open: () => {} };
  const state = { words: "", attribute: "", value: "", form: "readable" };
  const groups = result.attributes.map(({ name, variables }) => ({ name, values: variables }));
  if (result.labelled) {
    groups.push({ name: result.content.probe.label_attribute, values: result.labels.map((label) => label.name) });
  }
  const flat = groups.every(({ name, values }) => values.length === 1 && values[0] === name);
  const ruleOf = (row) => result.rules[row.dataset.index];
  const formOf = (rule) => (state.form === "readable" ? rule : rule.canonical);
  const names = (rule) => [...formOf(rule).if, ...(formOf(rule).then ?? [])];

  const keep = (row) => {
    const rule = ruleOf(row);
    if (state.value && !names(rule).includes(state.value)) return false;
    if (state.attribute) {
      const { values } = groups[state.attribute];
      if (!names(rule).some((name) => values.includes(name))) return false;
    }
    return hasWords(`${ruleText(formOf(rule))} ${rule.sentence}`, state.words);
  };
  const value = (row, key) => {
    const rule = ruleOf(row);
    if (key === "rule") return ruleText(formOf(rule));
    if (key === "support") return rule.support;
    if (key === "warrant") return rule.warrant.bound ?? (rule.warrant.kind === "proved" ? 0 : 1);
    if (key === "tested") return rule.warrant.tested ?? null;
    if (key === "cells") return rule.cells;
    if (key === "mean") return rule.mean_margin;
    return rule.closest?.margin ?? null;
  };
  const show = (row) => {
    if (row.dataset.form === state.form) return;
    row.dataset.form = state.form;
    let button = row.querySelector("button.open");
    if (!button) {
      button = openingButton(() => toggle(row));
      row.querySelector(".rule").replaceWith(button);
    }
    button.replaceChildren(ruleNode(formOf(ruleOf(row))));
  };
  const status = el("p", { class: "status", role: "status" });
  const live = liveTable(table, byId("rule-pager"), {
    size: 25,
    noun: "rules",
    value,
    keep,
    show,
    changed: (shown, all) => {
      status.textContent = shown === all ? plural(all, "rule") : `${shown.toLocaleString("en")} of ${plural(all, "rule")}`;
    },
  });

  const set = (key) => (chosen) => {
    state[key] = chosen;
    live.refresh();
  };
  const values = el("span", { class: "slot" });
  const offerValues = () => {
    if (flat) {
      values.replaceChildren(choice("Variable", [["", "any"], ...groups.map(({ name }) => [name, name])], "", set("value")));
      return;
    }
    const options = state.attribute === "" ? [] : groups[state.attribute].values.map((v) => [v, v]);
    const field = choice("Value", [["", "any"], ...options], "", set("value"));
    field.querySelector("select").disabled = state.attribute === "";
    values.replaceChildren(field);
  };
  byId("rule-controls").append(
    searchField("Search", set("words")),
    ...(flat ? [] : [choice("Attribute", [["", "any"], ...groups.map((g, i) => [i, g.name])], "", (chosen) => {
      state.attribute = chosen;
      state.value = "";
      offerValues();
      live.refresh();
    })]),
    values,
    el(
      "div",
      { class: "field" },
      el("span", { "aria-hidden": "true" }, "Form"),
      segments("Form of the rules", [["readable", "Readable"], ["canonical", "Canonical"]], "readable", (chosen) => {
        state.form = chosen;
        live.resort();
      }),
    ),
    status,
  );
  offerValues();

  live.refresh();

  const detail = (row) => {
    const rule = ruleOf(row);
    return ruleDetail(result, rule, () => formOf(rule));
  };
  const { toggle, open } = openingRows(table, live, detail, () => {
    Object.assign(state, { words: "", attribute: "", value: "" });
    for (const control of byId("rule-controls").querySelectorAll("input, select")) control.value = "";
    offerValues();
    live.refresh();
  });
  return { open };
}

/**
 * What is behind a rule: both forms, the closest call, and the prompts or cells it speaks of.
 * `form()` is the form that the table shows.
 */
function ruleDetail(result, rule, form) {
  const { breaking, forcing, others } = rule;
  const place = el("div");
  const units = `${result.unit}s`;
  const lists = {
    breaking: () =>
      promptTable(result, breaking, `The ${units} whose answers break the rule${result.scored ? ", widest lead first" : ""}`, result.odds ? "Odds" : "Lead"),
    forcing: () =>
      promptTable(result, forcing, `The ${units} that force the rule${result.scored ? ", closest call first" : ""}`, result.odds ? "Odds" : "Margin"),
    others: () =>
      promptTable(result, others, `The other ${units} that the rule speaks of`, result.odds ? "Odds" : "Margin"),
  };
  const pick = (name) => place.replaceChildren(lists[name]());
  const closest = rule.closest ? result.answers[rule.closest.answer] : null;
  const count = (items, one, many) => `${items.length.toLocaleString("en")} ${items.length === 1 ? one : many} it`;
  const tabs = [];
  if (breaking.length) tabs.push(["breaking", el("span", { class: "warn-text" }, count(breaking, "breaks", "break"))]);
  if (forcing.length) tabs.push(["forcing", count(forcing, "forces", "force")]);
  if (others.length) tabs.push(["others", plural(others.length, "other")]);
  const first = tabs[0]?.[0] ?? "others";
  pick(first);
  const fact = (term, ...what) => el("div", {}, el("dt", {}, term), el("dd", {}, ...what));
  return el(
    "div",
    { class: "evidence" },
    el("p", { class: "sentence" }, bdi(rule.sentence)),
    el(
      "dl",
      { class: "facts" },
      fact("Readable", ruleNode(rule)),
      fact("Canonical", ruleNode(rule.canonical)),
      fact("Warrant", rule.warrant.sentence),
      closest
        ? fact("Closest call", promptNode(result, closest), el("span", { class: "note" }, ` by ${leadText(result, rule.closest.margin)}`))
        : null,
      rule.share === undefined
        ? null
        : fact("Share", `Where it speaks, the candidates hold ${shareText(rule.share)} of the model’s probability, on average.`),
    ),
    el(
      "div",
      { class: "buttons" },
      copyButton("Copy text", () => ruleText(form())),
      copyButton("Copy LaTeX", () => form().latex),
    ),
    result.answers.length
      ? el("p", { class: "note" }, whyForced(result, rule, breaking.length))
      : rule.evidence ? el("p", { class: "note" }, `Its ${units} are in envelope.json.`) : null,
    tabs.length > 1 || breaking.length ? segments(`Which ${units}`, tabs, first, pick) : null,
    result.answers.length ? place : null,
  );
}

function whyForced(result, rule, broken) {
  const [unit, who] = [result.unit, result.subject.toLowerCase()];
  if (!result.labelled) {
    const lacking = rule.then === null ? "" : "it lacks the right side, and ";
    const rest = rule.then === null ? "" : ` In the others the rule rejects nothing, or ${who} abstained.`;
    const why = `A ${unit} forces the rule if ${lacking}${who}, asked, rejected it.${rest}`;
    return broken ? `A ${unit} breaks the rule if ${who}, asked, accepted what the rule rejects. ${why}` : why;
  }
  const preferred = result.scored ? "preferred" : "gave";
  const forced = rule.then === null
    ? `A ${unit} forces the rule if ${who}, asked, ${preferred} another answer ${result.scored ? "to" : "than"} the one that the rule rules out.`
    : `A ${unit} forces the rule if it lacks the right side, and ${who}, asked, ${preferred} another answer. In the others the rule rules nothing out, or ${who} abstained.`;
  return broken ? `A ${unit} breaks the rule if ${who}, asked, gave an answer that the rule rules out. ${forced}` : forced;
}
