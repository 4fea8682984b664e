// The third view: rows of a file that people go through together, one at a time.

import * as api from "./api.js";
import { byId, count, element, percent, plural, sentence, showMarked } from "./dom.js";

const POLL_MS = 3000;
const VERDICTS = { right: ["✓", "accept", "y"], wrong: ["✗", "reject", "n"], undecided: ["?", "unsure", "u"] };

export function startReview(shared) {
  const token = byId("review-token");
  const reviewer = byId("reviewer");
  let queue = null; // what the server has: rows and marks
  let order = []; // rows, as they are gone through
  let at = 0;
  let done = []; // own marks, to be undone
  let timer = 0;

  reviewer.value = localStorage.getItem("labelspace-reviewer") ?? "";
  reviewer.addEventListener("input", () => localStorage.setItem("labelspace-reviewer", reviewer.value));
  token.value = sessionStorage.getItem("labelspace-token") ?? "";
  token.addEventListener("change", () => {
    sessionStorage.setItem("labelspace-token", token.value);
    list();
  });
  byId("review-who").addEventListener("submit", (event) => event.preventDefault());
  shared.addEventListener("show-review", () => {
    token.value ||= sessionStorage.getItem("labelspace-token") ?? "";
    list();
  });
  shared.addEventListener("other-model", leave);
  shared.review = async (name, rows) => {
    shared.show("review");
    if (!isReady()) return;
    await tried(async () => enter(await api.beginReview(name, rows, token.value)));
  };
  byId("order").addEventListener("change", sort);
  byId("by-label").addEventListener("change", sort);
  byId("row-next").addEventListener("click", () => go(1));
  byId("row-back").addEventListener("click", () => go(-1));
  byId("row-undo").addEventListener("click", undo);
  byId("review-leave").addEventListener("click", leave);
  byId("review-export").addEventListener("click", download);
  byId("review-teach").addEventListener("click", teach);
  byId("view-review").addEventListener("keydown", keys);

  const who = () => reviewer.value.trim();

  function isReady() {
    const { model } = shared;
    const missing = model && !model.learning
      ? "Review is off: start the server with --token to turn it on."
      : !token.value ? "Give the server's token to begin." : !who() ? "Give your name, so that marks can be told apart." : "";
    byId("review-hint").textContent = missing;
    return !missing;
  }

  async function tried(work, place = "review-hint") {
    try {
      byId(place).textContent = "";
      return await work();
    } catch (error) {
      byId(place).textContent = sentence(error);
      return null;
    }
  }

  async function list() {
    if (queue || !token.value || !shared.model?.learning) {
      isReady();
      return;
    }
    const told = await tried(() => api.queues(token.value));
    byId("queues").replaceChildren(
      ...(told?.queues ?? []).map((one) =>
        element("li", {}, element(
          "button",
          { type: "button", onclick: () => isReady() && tried(async () => enter(await api.reviewQueue(one.queue, token.value))) },
          element("span", { text: one.name }),
          element("small", { text: `${count(one.n_reviewed)} of ${plural(one.n_rows, "row")}` }),
        ))));
    isReady();
  }

  function enter(told) {
    queue = told;
    done = [];
    byId("review-start").hidden = true;
    byId("review-desk").hidden = false;
    byId("queue-name").textContent = told.name;
    const labels = [...new Set(told.rows.flatMap((row) => row.tags.map((tag) => tag.name)))].sort();
    byId("by-label").replaceChildren(...labels.map((name) => element("option", { value: name, text: name })));
    sort();
    byId("row-tags").querySelector(".mark")?.focus();
    clearInterval(timer);
    timer = setInterval(poll, POLL_MS);
  }

  function leave() {
    clearInterval(timer);
    queue = null;
    byId("review-start").hidden = false;
    byId("review-desk").hidden = true;
    list();
  }

  // How sure the model is of a row: how far its tags are from a coin's toss.
  const certainty = (row) => Math.min(...row.tags.slice(0, 5).map((tag) => Math.abs(tag.probability - 0.5)), 1);

  function sort() {
    const kind = byId("order").value;
    byId("by-label-row").hidden = kind !== "label";
    const rows = queue.rows.map((row, n) => ({ row, n }));
    const of = ({ row }) => row.tags.find((tag) => tag.name === byId("by-label").value)?.probability ?? -1;
    if (kind === "least") rows.sort((one, other) => certainty(one.row) - certainty(other.row));
    if (kind === "label") rows.sort((one, other) => of(other) - of(one));
    order = (kind === "label" ? rows.filter((one) => of(one) >= 0) : rows).map(({ n }) => n);
    at = Math.max(0, order.findIndex((n) => !mine(n).size));
    render();
  }

  // The last word of everybody on the labels of a row: label → who → verdict.
  function said(row) {
    const found = new Map();
    for (const mark of queue.marks) {
      if (mark.row !== row) continue;
      if (!found.has(mark.label)) found.set(mark.label, new Map());
      if (mark.verdict === "none") found.get(mark.label).delete(mark.who);
      else found.get(mark.label).set(mark.who, mark.verdict);
    }
    return found;
  }

  const mine = (row) =>
    new Map([...said(row)].filter(([, by]) => by.has(who())).map(([label, by]) => [label, by.get(who())]));

  const idOf = (tag) => (tag.key && tag.key !== tag.name ? `${tag.name} <${tag.key}>` : tag.name);

  function render() {
    const n = order[at];
    const row = queue.rows[n];
    byId("queue-bar").max = queue.n_rows;
    byId("queue-bar").value = queue.n_reviewed;
    const agreed = queue.agreement === null
      ? "" : ` · people agree on ${Math.round(100 * queue.agreement)} % of ${plural(queue.n_compared, "tag")} that several marked`;
    byId("queue-progress").textContent = `${count(queue.n_reviewed)} of ${plural(queue.n_rows, "row")} reviewed${agreed}`;
    byId("row-undo").disabled = !done.length;
    if (!row) {
      byId("row-text").textContent = "No row has this label.";
      byId("row-tags").replaceChildren();
      return;
    }
    byId("row-place").textContent = `Row ${count(n + 1)} of the file · ${count(at + 1)} of ${count(order.length)} in this order`;
    showMarked(byId("row-text"), row.text);
    const all = said(n);
    const own = mine(n);
    const focused = document.activeElement?.dataset?.tag;
    byId("row-tags").replaceChildren(...row.tags.map((tag, place) => item(tag, place, own, all)));
    if (focused !== undefined) byId("row-tags").querySelectorAll(".tag")[focused]?.querySelector(".mark")?.focus();
    byId("consequence").textContent = consequence(own, row.tags.length);
  }

  function consequence(own, n) {
    const counted = (verdict) => [...own.values()].filter((one) => one === verdict).length;
    const right = counted("right");
    const wrong = counted("wrong");
    const taught = [];
    if (right) taught.push(`as an example of ${plural(right, "tag")}`);
    if (wrong) taught.push(`as no example of ${plural(wrong, "tag")}`);
    if (!taught.length) return "Nothing would be taught of this row: no tag is marked as right or wrong.";
    return `Taught ${taught.join(" and ")}; nothing is taught of ${plural(Math.max(0, n - right - wrong), "other tag")}.`;
  }

  function item(tag, place, own, all) {
    const bar = element("span", { className: "bar" });
    bar.style.width = `${100 * tag.probability}%`;
    const verdict = own.get(idOf(tag));
    const line = element(
      "div",
      { className: "tag-line" },
      element(
        "span",
        { className: "tag-name" },
        element("span", { className: "track" }, bar, element("span", { className: "name", text: tag.name })),
        element("span", { className: "percent", text: percent(tag.probability) }),
      ),
      ...Object.entries(VERDICTS).map(([name, [sign, className]]) =>
        element("button", {
          type: "button", className: `mark ${className}`, text: sign, "data-tag": place,
          "aria-label": `${tag.name}: ${name}`, title: name, "aria-pressed": verdict === name,
          onclick: () => say(tag, verdict === name ? "none" : name),
        })),
    );
    const made = element("li", { className: verdict === "wrong" ? "tag rejected" : "tag" }, line);
    const others = [...(all.get(idOf(tag)) ?? [])].filter(([name]) => name !== who());
    if (others.length) {
      made.append(element("p", { className: "others", text: others.map(([name, one]) => `${name}: ${one}`).join(" · ") }));
    }
    return made;
  }

  async function say(tag, verdict) {
    const row = order[at];
    const label = idOf(tag);
    done.push({ row, label, verdict: mine(row).get(label) ?? "none" });
    await send({ row, label, verdict, who: who() });
  }

  async function undo() {
    const last = done.pop();
    if (!last) return;
    const place = order.indexOf(last.row);
    if (place >= 0) at = place;
    await send({ ...last, who: who() });
  }

  async function send(mark) {
    await tried(async () => take(await api.markReview(queue.queue, [mark], queue.marks.length, token.value)), "review-status");
  }

  async function poll() {
    if (!queue || byId("view-review").hidden) return;
    await tried(async () => take(await api.reviewQueue(queue.queue, token.value, Math.max(1, queue.marks.length))), "review-status");
  }

  // Marks come in the order of the server's file, so that all who look see the same.
  function take(told) {
    const before = queue.marks.length;
    const first = told.n_marks - told.marks.length;
    queue.marks = [...queue.marks.slice(0, first), ...told.marks];
    for (const name of ["n_reviewed", "n_compared", "agreement"]) queue[name] = told[name];
    if (queue.marks.length !== before) render();
  }

  function go(step) {
    at = Math.max(0, Math.min(order.length - 1, at + step));
    render();
    byId("row-tags").querySelector(".mark")?.focus();
  }

  function keys(event) {
    if (!queue || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const items = [...byId("row-tags").querySelectorAll(".tag")];
    const place = items.findIndex((one) => one.contains(document.activeElement));
    const verdict = Object.entries(VERDICTS).find(([, [, , key]]) => key === event.key)?.[0];
    const tag = queue.rows[order[at]]?.tags[place];
    if (event.key === "ArrowDown") items[Math.min(place + 1, items.length - 1)]?.querySelector(".mark").focus();
    else if (event.key === "ArrowUp") items[Math.max(place - 1, 0)]?.querySelector(".mark").focus();
    else if (verdict && tag) say(tag, verdict);
    else if (event.key === "z") undo();
    else if (event.key === "ArrowRight" || (event.key === "Enter" && place >= 0)) go(1);
    else if (event.key === "ArrowLeft") go(-1);
    else return;
    event.preventDefault();
  }

  async function download() {
    await tried(async () => {
      const lines = await api.exportReview(queue.queue, token.value);
      const address = URL.createObjectURL(new Blob([lines], { type: "application/x-ndjson" }));
      element("a", { href: address, download: `${queue.name.replace(/\.[^.]*$/, "")}.review.jsonl` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    }, "review-status");
  }

  // Only what nobody contradicts is taught.
  function agreed() {
    return queue.rows.flatMap((row, n) => {
      const of = (verdict) => [...said(n)].filter(([, by]) => by.size && [...by.values()].every((one) => one === verdict)).map(([label]) => label);
      const [labels, rejected] = [of("right"), of("wrong")];
      return labels.length || rejected.length ? [{ text: row.text, labels, rejected }] : [];
    });
  }

  async function teach() {
    const rows = agreed();
    if (!rows.length) {
      byId("review-status").textContent = "There is nothing that people agree on yet.";
      return;
    }
    await tried(async () => {
      const { changes } = await api.learn(rows.slice(0, 1000), token.value, true);
      const effect = changes ? ` On ${count(changes.n)} other texts the first tag is right in ${changes.after["P@1"].toFixed(1)} % instead of ${changes.before["P@1"].toFixed(1)} %.` : "";
      if (!confirm(`Teach ${plural(rows.length, "row")}?${effect}`)) return;
      for (let n = 0; n < rows.length; n += 1000) await api.learn(rows.slice(n, n + 1000), token.value);
      byId("review-status").textContent = `Learned ${plural(rows.length, "row")}. The Text view can undo it.`;
      byId("undo").hidden = false;
      await shared.readModel();
    }, "review-status");
  }
}
