// Tables as files for spreadsheets.

/** Return rows as CSV; null is an empty cell. What spreadsheets take for a formula gets a ' first. */
function csvText(rows) {
  const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
  const number = /^[+-]?(\d+\.?\d*(e[+-]?\d+)?|inf(inity)?)$/i;
  const cell = (value) => {
    const text = value === null ? "" : String(value);
    const safe = formula.test(text) && !number.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Return rules.csv, in the given order of the rules: the lines as Python wrote them. */
const rulesCsv = (columns, rules) => csvText([columns, ...rules.map((rule) => rule.csv)]);
