// The second view: a file of texts, tagged a block at a time, to be watched and downloaded.

import * as api from "./api.js";
import { byId, count, element, percent, shortened } from "./dom.js";
import { rowsOf } from "./rows.js";

const BLOCK = 100;
const PREVIEWED = 50;
const MAX_BYTES = 200 * 2 ** 20;

export function startFiles(shared) {
  let job = null;
  const drop = byId("drop");
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) start(event.dataTransfer.files[0]);
  });
  // A file that misses the target must not replace the page.
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => event.preventDefault());
  byId("file").addEventListener("change", (event) => {
    if (event.target.files[0]) start(event.target.files[0]);
    event.target.value = "";
  });
  byId("cancel").addEventListener("click", () => job?.stop.abort());
  byId("save-csv").addEventListener("click", () => save(job, "csv", toCsv(job)));
  byId("save-jsonl").addEventListener("click", () => save(job, "jsonl", toJsonl(job)));

  async function start(file) {
    job?.stop.abort();
    const mine = (job = {
      name: file.name,
      stop: new AbortController(),
      rows: [],
      answers: [],
      k: shared.k,
      threshold: shared.threshold,
    });
    byId("job").hidden = false;
    byId("job-name").textContent = file.name;
    byId("preview").replaceChildren();
    showProgress(mine, "Reading…");
    try {
      if (file.size > MAX_BYTES) throw new Error("The file is larger than 200 MB: split it.");
      mine.rows = rowsOf(file.name, await file.text());
      if (!mine.rows.length) throw new Error("There is no text in this file.");
      await run(mine);
      if (mine === job) showProgress(mine, `Done: ${count(mine.answers.length)} rows tagged.`);
    } catch (error) {
      if (mine !== job) return;
      const done = `${count(mine.answers.length)} of ${count(mine.rows.length)} rows tagged`;
      showProgress(mine, error.name === "AbortError" ? `Stopped: ${done}.` : error.message);
    } finally {
      if (mine === job) finish(mine);
    }
  }

  async function run(mine) {
    byId("cancel").disabled = false;
    for (let at = 0; at < mine.rows.length; at += BLOCK) {
      const block = mine.rows.slice(at, at + BLOCK).map((row) => ({ ...row, k: mine.k }));
      const answers = await api.tagBatch(block, mine.stop.signal);
      if (mine !== job) return;
      for (const answer of answers) {
        answer.labels = (answer.labels ?? []).filter((l) => l.probability >= mine.threshold);
      }
      mine.answers.push(...answers);
      preview(mine, at);
      showProgress(mine, `${count(mine.answers.length)} of ${count(mine.rows.length)} rows`);
    }
  }

  function showProgress(mine, sentence) {
    byId("progress").max = Math.max(1, mine.rows.length);
    byId("progress").value = mine.answers.length;
    byId("job-status").textContent = sentence;
    const isEmpty = mine.answers.length === 0;
    byId("save-csv").disabled = isEmpty;
    byId("save-jsonl").disabled = isEmpty;
  }

  function finish(mine) {
    byId("cancel").disabled = true;
    byId("progress").value = mine.answers.length;
  }
}

function preview(job, from) {
  for (let at = from; at < Math.min(job.answers.length, PREVIEWED); at += 1) {
    const answer = job.answers[at];
    const tags = answer.error
      ? [element("li", { className: "quiet", text: answer.error })]
      : answer.labels.map((label) =>
          element("li", {
            className: "chip",
            title: label.key ?? label.name,
            text: `${label.name} ${percent(label.probability)}`,
          }));
    byId("preview").append(
      element(
        "tr",
        {},
        element("td", { text: shortened(textOf(job.rows[at]), 300) }),
        element("td", {}, element("ul", { className: "cell-tags" }, ...tags)),
      ),
    );
  }
}

const textOf = (row) => row.text ?? JSON.stringify(row.features);

function toJsonl(job) {
  const line = (answer, at) =>
    JSON.stringify({
      ...job.rows[at],
      labels: answer.labels.map((label) => label.name),
      ...(answer.labels.some((label) => label.key)
        ? { keys: answer.labels.map((label) => label.key ?? null) }
        : {}),
      scores: answer.labels.map((label) => label.score),
      ...(answer.error ? { error: answer.error } : {}),
    });
  return `${job.answers.map(line).join("\n")}\n`;
}

function toCsv(job) {
  const columns = Math.max(1, ...job.answers.map((answer) => answer.labels.length));
  const hasKeys = job.answers.some((answer) => answer.labels.some((label) => label.key));
  const about = (label) => (hasKeys ? [label.name, label.key ?? "", label.score] : [label.name, label.score]);
  const names = Array.from({ length: columns }, (_, at) =>
    (hasKeys ? ["label", "key", "score"] : ["label", "score"]).map((what) => `${what} ${at + 1}`));
  const rows = job.answers.map((answer, at) => [
    textOf(job.rows[at]),
    ...answer.labels.flatMap(about),
    ...Array((hasKeys ? 3 : 2) * (columns - answer.labels.length)).fill(""),
  ]);
  return [["text", ...names.flat()], ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

function cell(value) {
  let text = String(value);
  // A spreadsheet would run a text that begins like a formula.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(job, suffix, content) {
  const types = { csv: "text/csv", jsonl: "application/x-ndjson" };
  const mark = suffix === "csv" ? "\ufeff" : ""; // spreadsheets then take it for UTF-8
  const address = URL.createObjectURL(new Blob([mark, content], { type: types[suffix] }));
  const stem = job.name.replace(/\.[^.]*$/, "");
  element("a", { href: address, download: `${stem}.tags.${suffix}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
