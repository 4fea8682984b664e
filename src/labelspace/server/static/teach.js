// A lesson: which tags are right, wrong or missing; what it would change; then kept, or not.

import * as api from "./api.js";
import { byId, count, element, percent, plural, sentence } from "./dom.js";

const SUGGESTIONS = 8;

export function startTeach(shared, { marks, changed: rerender, taught }) {
  const added = [];
  const token = byId("token");
  const input = byId("add");
  const list = byId("suggestions");
  let suggested = [];
  let at = -1;
  let asking = null;

  token.value = sessionStorage.getItem("labelspace-token") ?? "";
  token.addEventListener("input", () => {
    sessionStorage.setItem("labelspace-token", token.value);
    render();
  });
  byId("teach").addEventListener("submit", (event) => {
    event.preventDefault();
    preview();
  });
  byId("keep").addEventListener("click", keep);
  byId("discard").addEventListener("click", () => {
    byId("lesson").hidden = true;
    byId("teach-status").textContent = "Nothing was learned.";
  });
  byId("undo").addEventListener("click", undo);
  shared.addEventListener("model", render);
  shared.addEventListener("tagged", render);
  input.addEventListener("input", suggest);
  input.addEventListener("keydown", choose);
  input.addEventListener("blur", () => setTimeout(close, 150));

  const marked = (mark) => [...marks].filter(([, one]) => one === mark).map(([name]) => name);
  const right = () => [...new Set([...marked("right"), ...added])];

  // Methods that cannot learn from some marks are taught whole rows.
  function row() {
    const labels = right();
    return shared.model.learns_marks
      ? { text: shared.text, labels, rejected: marked("wrong") }
      : { text: shared.text, labels };
  }

  function render() {
    const { model } = shared;
    byId("chosen").replaceChildren(
      ...right().map((name) => chip(name, "is-right")), ...marked("wrong").map((name) => chip(name, "is-wrong")));
    const isOn = model?.learning && model.can_learn;
    byId("token-row").hidden = !isOn;
    byId("learn").disabled = !isOn || !token.value || !shared.text || !(right().length || marked("wrong").length);
    byId("teach-hint").textContent = hint(model, isOn);
  }

  function hint(model, isOn) {
    if (model && !isOn) {
      return model.can_learn
        ? "Teaching is off: start the server with --token to turn it on."
        : `The method ${model.method} does not learn incrementally.`;
    }
    const n = right().length + marked("wrong").length;
    if (model && !model.learns_marks) {
      return "Mark or add all tags that are right: this method takes every other tag for wrong.";
    }
    if (!n) return "Mark tags as right (✓) or wrong (✗), and add what is missing. What you do not mark stays as it is.";
    return `${plural(right().length, "tag")} right, ${count(marked("wrong").length)} wrong. Nothing is said of all others: they stay as they are.`;
  }

  function chip(name, className) {
    return element(
      "li",
      { className: `chip ${className}` },
      element("span", { text: name }),
      element("button", {
        type: "button",
        text: "✗",
        "aria-label": `Take ${name} away`,
        onclick: () => {
          if (added.includes(name)) added.splice(added.indexOf(name), 1);
          marks.delete(name);
          changed();
          rerender();
        },
      }),
    );
  }

  function changed() {
    byId("lesson").hidden = true;
    byId("teach-status").textContent = "";
    render();
  }

  function add(name) {
    if (name && !added.includes(name)) added.push(name);
    input.value = "";
    close();
    changed();
  }

  async function suggest() {
    asking?.abort();
    const mine = (asking = new AbortController());
    const query = input.value.trim();
    if (!query) return close();
    try {
      const answer = await api.findLabels(query, SUGGESTIONS, mine.signal);
      suggested = answer.labels.map((label) => ({
        name: label.key && label.key !== label.name ? `${label.name} <${label.key}>` : label.name,
        note: count(label.count),
      }));
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      suggested = [];
    }
    if (!suggested.some((label) => label.name === query)) {
      suggested.push({ name: query, note: "new label" });
    }
    at = -1;
    open();
    return undefined;
  }

  function open() {
    list.replaceChildren(
      ...suggested.map((label, row) =>
        element(
          "li",
          {
            role: "option",
            id: `suggestion-${row}`,
            "aria-selected": row === at,
            onmousedown: () => add(label.name),
          },
          element("span", { text: label.name }),
          element("small", { className: "quiet", text: `  ${label.note}` }),
        ),
      ),
    );
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (at >= 0) input.setAttribute("aria-activedescendant", `suggestion-${at}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  function choose(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !list.hidden) {
      event.preventDefault();
      at = (at + step + suggested.length) % suggested.length;
      open();
    } else if (event.key === "Escape") close();
    else if (event.key === "Enter" && input.value.trim()) {
      event.preventDefault();
      add(at >= 0 && !list.hidden ? suggested[at].name : input.value.trim());
    }
  }

  // Asks what a lesson would change, and shows it; nothing is learned yet.
  async function preview() {
    if (byId("learn").disabled) return;
    await working("Measuring…", async () => {
      const answer = await api.learn([row()], token.value, true);
      byId("lesson-rows").textContent = onOtherRows(answer.changes);
      const moved = answer.tags.filter((tag) => percent(tag.after) !== percent(tag.before));
      byId("lesson-tags").replaceChildren(...(moved.length ? moved : answer.tags.slice(0, 3)).map(changeOf));
      byId("lesson").hidden = false;
      return "";
    });
  }

  function onOtherRows(changes) {
    if (!changes) return "There are no other texts to measure it on.";
    const kind = changes.rows === "held out" ? "held-out texts" : "texts that the model was trained on";
    const [before, after] = [changes.before["P@1"], changes.after["P@1"]].map((one) => `${one.toFixed(1)} %`);
    const same = before === after ? `stays right in ${before}` : `is right in ${after} instead of ${before}`;
    return `On ${count(changes.n)} ${kind} the first tag ${same}; it is another one for ${count(changes.n_other_first)}. Your text:`;
  }

  function changeOf(tag) {
    const isSame = percent(tag.after) === percent(tag.before);
    const direction = isSame ? "" : tag.after > tag.before ? "up" : "down";
    return element(
      "tr",
      {},
      element("td", { text: tag.name }),
      element("td", { text: percent(tag.before) }),
      element("td", { className: direction, text: percent(tag.after) }),
    );
  }

  async function keep() {
    await working("Learning…", async () => {
      const answer = await api.learn([row()], token.value);
      const fresh = answer.new_labels.length ? ` New: ${answer.new_labels.join(", ")}.` : "";
      byId("lesson").hidden = true;
      added.length = 0;
      await taught();
      byId("undo").hidden = false;
      return `Learned.${fresh} The model knows ${count(answer.n_examples)} examples.`;
    });
  }

  async function undo() {
    await working("Undoing…", async () => {
      const answer = await api.undoLesson(token.value);
      byId("undo").hidden = !answer.last?.can_undo;
      await taught();
      return "The last lesson is undone.";
    });
  }

  async function working(doing, work) {
    const status = byId("teach-status");
    const buttons = ["learn", "keep", "undo"].map(byId);
    for (const button of buttons) button.disabled = true;
    status.textContent = doing;
    try {
      status.textContent = await work();
    } catch (error) {
      status.textContent = sentence(error);
    }
    for (const button of buttons) button.disabled = false;
    render();
  }

  function reset() {
    added.length = 0;
    byId("lesson").hidden = true;
    byId("teach-status").textContent = "";
    render();
  }

  render();
  return { render, reset, changed, preview };
}
