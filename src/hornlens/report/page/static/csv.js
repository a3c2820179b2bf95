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

/** Return the names of a rule's side as one cell, as rules.csv has them; null is FALSE. */
function namesCell(names) {
  const obeyed = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/g;
  const escaped = (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const isPlain = (name) =>
    !["", "FALSE"].includes(name) && !/^"|;/.test(name) && name === name.trim() && name.search(obeyed) < 0;
  const cell = (name) => (isPlain(name) ? name : JSON.stringify(name).replace(obeyed, escaped));
  return names === null ? "FALSE" : names.map(cell).join("; ");
}
