// Tables as files for spreadsheets.

/** Return rows as CSV; null is an empty cell. */
function csvText(rows) {
  const cell = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}
