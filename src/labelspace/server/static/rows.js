// Rows of a file to tag, by its name: JSON lines, CSV, TSV, or one text per line.

const TEXT_NAMES = ["text", "texts", "content", "body", "abstract", "title", "document"];

export function rowsOf(name, content) {
  const suffix = name.toLowerCase().split(".").pop();
  const text = content.replace(/^\ufeff/, "");
  if (["jsonl", "ndjson", "json"].includes(suffix)) return fromJsonLines(text);
  if (suffix === "csv") return fromTable(parseCsv(text));
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (suffix === "tsv") return fromTable(lines.map((line) => line.split("\t")));
  return lines.map((line) => ({ text: line }));
}

function fromJsonLines(text) {
  const lines = text.split(/\r?\n/);
  const rows = [];
  lines.forEach((line, at) => {
    if (!line.trim()) return;
    let row;
    try {
      row = JSON.parse(line);
    } catch {
      throw new Error(`Line ${at + 1} is not JSON: write one object per line.`);
    }
    if (typeof row === "string") rows.push({ text: row });
    else if (typeof row?.text === "string") rows.push({ text: row.text });
    else if (row?.features) rows.push({ features: row.features });
    else throw new Error(`Line ${at + 1} has neither "text" nor "features".`);
  });
  return rows;
}

// The column called text, or else the first one; a first row with such a name is a heading.
function fromTable(table) {
  const heading = (table[0] ?? []).map((cell) => cell.trim().toLowerCase());
  const found = TEXT_NAMES.map((name) => heading.indexOf(name)).find((at) => at >= 0);
  const rows = found === undefined ? table : table.slice(1);
  return rows.map((row) => ({ text: row[found ?? 0] ?? "" })).filter((row) => row.text.trim());
}

export function parseCsv(text) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === ",") {
      row.push(cell);
      cell = "";
    } else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[at + 1] === "\n") at += 1;
      row.push(cell);
      rows.push(row);
      row = [];
      cell = "";
    } else cell += sign;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows;
}
