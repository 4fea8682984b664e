// Tables in the page: what the server read of a file, and tables with tags to download.

const NEW_COLUMNS = ["tags", "tag_ids", "scores"];
const MARKS = [";", "|"];

// The server's answer: a line about the table, then an array of cells per row.
export function parsed(lines) {
  const [about, ...rows] = lines.split("\n").filter((line) => line).map((line) => JSON.parse(line));
  return { ...about, rows };
}

export function cellText(cell) {
  if (cell === null || cell === undefined) return "";
  if (Array.isArray(cell)) return cell.map(cellText).join(" ");
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

// What is tagged of a row: the chosen columns, joined as the command line joins them.
export function rowToTag(table, row, chosen) {
  if (chosen.length === 1) {
    const only = row[table.columns.indexOf(chosen[0])];
    if (chosen[0] === "features" && only && typeof only === "object") return { features: only };
  }
  const parts = chosen.map((name) => cellText(row[table.columns.indexOf(name)]));
  return { text: parts.filter((part) => part).join("\n") };
}

// Names of the columns that tags get: a column that is there already keeps its name.
export function newColumns(columns) {
  return NEW_COLUMNS.map((name) => {
    let free = name;
    while (columns.includes(free)) free = `predicted_${free}`;
    return free;
  });
}

const idOf = (label) => String(label.key ?? label.label);
const given = (answer) => answer?.labels ?? [];

export function toJsonl(table, answers) {
  const added = newColumns(table.columns);
  const lines = answers.map((answer, at) => {
    const labels = given(answer);
    const values = [labels.map((l) => l.name), labels.map(idOf), labels.map((l) => l.score)];
    const members = table.columns.map((name, column) => [name, table.rows[at][column] ?? null]);
    const line = Object.fromEntries([...members, ...added.map((name, n) => [name, values[n]])]);
    if (answer.error) line.error = answer.error;
    return JSON.stringify(line);
  });
  return `${lines.join("\n")}\n`;
}

// Rows of plain cells, the header first; what stands between tags is in none of them.
export function withTags(table, answers) {
  const names = answers.flatMap((answer) => given(answer).flatMap((l) => [l.name, idOf(l)]));
  const mark = MARKS.find((one) => !names.some((name) => name.includes(one)));
  const joined = (items) => (mark === undefined ? JSON.stringify(items) : items.join(mark));
  const plain = (cell) => (typeof cell === "object" ? cellsOf(cell, joined) : cell);
  const rows = answers.map((answer, at) => {
    const labels = given(answer);
    const scores = labels.map((label) => String(label.score));
    return [
      ...table.columns.map((_, column) => plain(table.rows[at][column] ?? "")),
      joined(labels.map((label) => label.name)),
      joined(labels.map(idOf)),
      joined(scores),
    ];
  });
  return [[...table.columns, ...newColumns(table.columns)], ...rows];
}

function cellsOf(cell, joined) {
  const isPlain = Array.isArray(cell) && cell.every((item) => typeof item === "string");
  return isPlain ? joined(cell) : JSON.stringify(cell);
}

export function toCsv(rows, delimiter) {
  return rows.map((row) => row.map((cell) => csvCell(cell, delimiter)).join(delimiter)).join("\r\n");
}

function csvCell(value, delimiter) {
  let text = String(value);
  // A spreadsheet would run a text that begins like a formula.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text)) {
    text = `'${text}`;
  }
  const needsQuotes = text.includes(delimiter) || /["\r\n]/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}
