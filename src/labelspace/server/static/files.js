// The second view: a file as the server understands it, its columns to choose from, its rows tagged
// a block at a time, and the whole table with tags to download. What is done is kept in the browser,
// so that it goes on after a reload.

import * as api from "./api.js";
import { byId, count, element, percent, plural, shortened } from "./dom.js";
import { forgetJob, keepAnswers, keepJob, keptJob } from "./kept.js";
import { cellText, parsed, rowToTag, toCsv, toJsonl, withTags } from "./table.js";

const BLOCK = 100;
const SHOWN = 5; // rows of the file itself
const PREVIEWED = 50; // rows with their tags
const RANKED = 30; // labels kept of each row: the choice is made among these
const MAX_BYTES = 64 * 2 ** 20;
const WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

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
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });
  // A file that misses the target must not replace the page.
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => event.preventDefault());
  byId("file").addEventListener("change", (event) => {
    if (event.target.files[0]) open(event.target.files[0]);
    event.target.value = "";
  });
  byId("tag-rows").addEventListener("click", () => start(job));
  byId("cancel").addEventListener("click", () => job?.stop.abort());
  byId("save-csv").addEventListener("click", () => {
    const { delimiter } = job.table;
    save(job, delimiter === "\t" ? "tsv" : "csv", toCsv(withTags(job.table, chosen(job)), delimiter));
  });
  byId("save-jsonl").addEventListener("click", () =>
    save(job, "jsonl", toJsonl(job.table, chosen(job))));
  byId("save-xlsx").addEventListener("click", () => saveWorkbook(job));
  byId("review-rows").addEventListener("click", () => {
    const rows = job.answers
      .map((answer, at) => ({ text: answer.asked.text, columns: columnsOf(job.table, at) }))
      .filter(({ text }) => text?.trim());
    shared.review(job.name, rows);
  });
  shared.addEventListener("choice", () => {
    if (job?.answers.length) preview(job);
  });
  let isFirst = true;
  shared.addEventListener("model", () => {
    byId("save-xlsx").hidden = !shared.model.workbooks;
    if (isFirst) resume();
    isFirst = false;
  });

  const chosen = (of) => of.answers.map((answer) => ({ ...answer, labels: shared.wanted(answer.labels ?? []) }));

  // Goes on with what was being done when the page was left.
  async function resume() {
    const kept = await keptJob();
    if (!kept || job || !kept.answers.length) return;
    job = { ...kept, stop: new AbortController() };
    byId("job").hidden = byId("results").hidden = false;
    drop.classList.add("small");
    byId("job-name").textContent = job.name;
    showTable(job);
    preview(job);
    if (job.answers.length < job.table.rows.length) await start(job, job.answers);
    else showProgress(job, `Done: ${count(job.answers.length)} rows tagged.`);
  }

  async function open(file) {
    job?.stop.abort();
    forgetJob();
    const mine = (job = { name: file.name, stop: new AbortController(), answers: [], table: null });
    byId("job").hidden = false;
    drop.classList.add("small");
    byId("job-name").textContent = file.name;
    for (const id of ["chosen-columns", "results", "tag-line"]) byId(id).hidden = true;
    byId("cancel").disabled = true;
    showProgress(mine, "Reading…");
    try {
      if (file.size > MAX_BYTES) {
        throw new Error("The file is larger than 64 MB: split it, or use labelspace predict --out.");
      }
      const table = parsed(await api.readTable(file, mine.stop.signal));
      if (mine !== job) return;
      if (!table.rows.length) throw new Error("There are no rows in this file.");
      mine.table = table;
      mine.chosen = table.text;
      showTable(mine);
      showProgress(mine, `${count(table.rows.length)} rows · ${table.how}`);
    } catch (error) {
      if (mine === job && error.name !== "AbortError") showProgress(mine, error.message);
    }
  }

  // The columns as boxes to tick, and the first rows below them.
  function showTable(mine) {
    const { columns, rows } = mine.table;
    const boxes = columns.map((name, at) => {
      const box = element("input", { type: "checkbox", id: `column-${at}` });
      box.checked = mine.chosen.includes(name);
      box.addEventListener("change", () => {
        mine.chosen = columns.filter((_, n) => byId(`column-${n}`).checked);
        showChoice(mine);
      });
      return element("label", { className: "chip pick", for: `column-${at}` }, box, ` ${name}`);
    });
    byId("columns").replaceChildren(...boxes);
    const cell = (value) => element("td", { text: shortened(cellText(value), 120) });
    byId("file-head").replaceChildren(
      element("tr", {}, ...columns.map((name) => element("th", { text: name, scope: "col" }))),
    );
    byId("file-rows").replaceChildren(
      ...rows.slice(0, SHOWN).map((row) => element("tr", {}, ...row.map(cell))),
    );
    byId("file-more").textContent =
      rows.length > SHOWN ? `… and ${count(rows.length - SHOWN)} more rows` : "";
    byId("chosen-columns").hidden = false;
    byId("tag-line").hidden = false;
    showChoice(mine);
  }

  function showChoice(mine) {
    const isNone = mine.chosen.length === 0;
    byId("tag-rows").disabled = isNone;
    byId("tag-rows").textContent = `Tag ${count(mine.table.rows.length)} rows`;
    byId("columns-hint").textContent = isNone ? "Choose at least one column that holds the text." : "";
    [...byId("file-head").querySelectorAll("th")].forEach((cell, at) =>
      cell.classList.toggle("chosen", mine.chosen.includes(mine.table.columns[at])));
  }

  async function start(from, done = []) {
    job.stop.abort();
    const mine = (job = { ...from, stop: new AbortController(), answers: done });
    mine.shown = shared.shown();
    if (!done.length) await keepJob(mine);
    preview(mine);
    byId("results").hidden = false;
    byId("tag-rows").disabled = true;
    byId("cancel").disabled = false;
    showProgress(mine, "Tagging…");
    try {
      await run(mine);
      if (mine === job) showProgress(mine, `Done: ${count(mine.answers.length)} rows tagged.`);
    } catch (error) {
      if (mine !== job) return;
      const done = `${count(mine.answers.length)} of ${count(mine.table.rows.length)} rows tagged`;
      showProgress(mine, error.name === "AbortError" ? `Stopped: ${done}.` : error.message);
    } finally {
      if (mine === job) {
        byId("cancel").disabled = true;
        showChoice(mine);
      }
    }
  }

  async function run(mine) {
    const { table } = mine;
    for (let at = mine.answers.length; at < table.rows.length; at += BLOCK) {
      const asked = table.rows.slice(at, at + BLOCK).map((row) => rowToTag(table, row, mine.chosen));
      const answers = await api.tagBatch(
        asked.map((row) => ({ ...row, ...mine.shown, k: RANKED })),
        mine.stop.signal,
      );
      if (mine !== job) return;
      const made = answers.map((answer, n) => ({ ...answer, asked: asked[n] }));
      mine.answers.push(...made);
      keepAnswers(at, made);
      if (at < PREVIEWED || made.some((answer) => answer.error)) preview(mine);
      showProgress(mine, `${count(mine.answers.length)} of ${count(table.rows.length)} rows`);
    }
  }

  function showProgress(mine, sentence) {
    byId("progress").max = Math.max(1, mine.table?.rows.length ?? 1);
    byId("progress").value = mine.answers.length;
    byId("job-status").textContent = sentence;
    for (const id of ["save-csv", "save-xlsx", "save-jsonl", "review-rows"]) {
      byId(id).disabled = mine.answers.length === 0;
    }
  }

  async function saveWorkbook(mine) {
    byId("save-xlsx").disabled = true;
    try {
      save(mine, "xlsx", await api.workbook(withTags(mine.table, chosen(mine))));
    } catch (error) {
      byId("job-status").textContent = error.message;
    } finally {
      byId("save-xlsx").disabled = false;
    }
  }

  // The first rows with the tags that the choice wants, and all rows that went wrong.
  function preview(mine) {
    const failed = mine.answers.flatMap((answer, at) => (answer.error ? [at] : []));
    const rows = [...failed.slice(0, PREVIEWED), ...mine.answers.slice(0, PREVIEWED).keys()];
    byId("preview").replaceChildren(...[...new Set(rows)].map((at) => previewRow(mine.answers[at], at)));
    byId("job-errors").textContent = failed.length
      ? `${plural(failed.length, "row")} could not be tagged (row ${failed.slice(0, 5).map((at) => at + 1).join(", ")}${failed.length > 5 ? ", …" : ""}); the download says why.`
      : "";
  }

  function previewRow(answer, at) {
    const tags = answer.error
      ? [element("li", { text: answer.error })]
      : shared.wanted(answer.labels).map((label) =>
          element("li", { className: "chip", title: label.key ?? label.name, text: `${label.name} ${percent(label.probability)}` }));
    const text = answer.asked.text ?? JSON.stringify(answer.asked.features);
    return element(
      "tr",
      { className: answer.error ? "failed" : "" },
      element("td", { text: count(at + 1) }),
      element("td", { text: shortened(text, 300) }),
      element("td", {}, tags.length
        ? element("ul", { className: "cell-tags" }, ...tags)
        : element("span", { className: "quiet", text: "no tag is that probable" })),
    );
  }
}

function columnsOf(table, at) {
  return Object.fromEntries(table.columns.map((name, column) => [name, table.rows[at][column] ?? null]));
}

function save(job, suffix, content) {
  const types = { csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/x-ndjson", xlsx: WORKBOOK };
  const mark = suffix === "csv" || suffix === "tsv" ? "\ufeff" : ""; // spreadsheets then take it for UTF-8
  const address = URL.createObjectURL(new Blob([mark, content], { type: types[suffix] }));
  const stem = job.name.replace(/\.[^.]*$/, "");
  element("a", { href: address, download: `${stem}.tags.${suffix}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
