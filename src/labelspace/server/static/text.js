// The first view: a text, its tags as one types, why each was given, and which of them are right.

import * as api from "./api.js";
import { byId, count, element, percent, showProblem } from "./dom.js";
import { startTeach } from "./teach.js";

const TYPING_MS = 120;
const MAX_TAGS = 12; // of a neighbour
const MAX_LABELS = 50; // the sliders choose from these without asking again

export function startText(shared, readModel) {
  const text = byId("text");
  const list = byId("tags");
  const marks = new Map(); // what a label is taught by → "accepted" or "rejected"
  const opened = new Set(); // labels whose reasons are shown, by number
  let timer = 0;
  let running = null;
  const teach = startTeach(shared, { marks, changed: render, taught });

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_MS);
    marks.clear();
    opened.clear();
    teach.reset();
  });
  byId("clear").addEventListener("click", () => {
    text.value = "";
    text.dispatchEvent(new Event("input"));
    text.focus();
  });
  shared.addEventListener("sliders", render);
  shared.addEventListener("shown", ask);
  shared.addEventListener("model", () => {
    text.disabled = !shared.model.takes_text;
    byId("text-note").textContent = shared.model.takes_text
      ? ""
      : "This model was trained on features, not on texts: use the API or a file with features.";
  });
  list.addEventListener("keydown", moveInList);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) teach.submit();
  });

  async function ask() {
    running?.abort();
    const mine = (running = new AbortController());
    const asked = text.value;
    if (!asked.trim()) {
      Object.assign(shared, { text: "", labels: [] });
      render();
      shared.dispatchEvent(new Event("tagged"));
      return;
    }
    list.setAttribute("aria-busy", "true");
    try {
      const answer = await api.tag({ text: asked, k: MAX_LABELS, ...shared.shown() }, mine.signal);
      if (mine !== running) return;
      Object.assign(shared, { text: asked, labels: answer.labels });
      showProblem(null);
      render();
      shared.dispatchEvent(new Event("tagged"));
    } catch (error) {
      if (error.name === "AbortError" || mine !== running) return;
      if (error.status === 429) {
        timer = setTimeout(ask, 1000 * error.retrySeconds);
        return;
      }
      showProblem(error);
    } finally {
      if (mine === running) list.setAttribute("aria-busy", "false");
    }
  }

  async function taught() {
    marks.clear();
    opened.clear();
    await Promise.all([ask(), readModel()]);
  }

  function visible() {
    return shared.labels
      .slice(0, shared.k)
      .filter((label) => label.probability >= shared.threshold);
  }

  function render() {
    const focused = document.activeElement?.closest?.(".tag")?.dataset.label;
    const labels = visible();
    list.replaceChildren(...labels.map(shown));
    byId("tags-empty").hidden = labels.length > 0;
    byId("tags-empty").textContent = !shared.text
      ? "The tags of your text will be listed here."
      : shared.labels.length
        ? "No tag is that probable: move the slider to the left."
        : "The model knows no tag for this text.";
    byId("tags-status").textContent = shared.text ? `${labels.length} tags` : "";
    if (focused !== undefined) {
      const again = [...list.children].find((item) => item.dataset.label === focused);
      again?.querySelector(".tag-name").focus();
    }
  }

  function shown(label) {
    const mark = marks.get(teachable(label));
    const isOpen = opened.has(label.label);
    const bar = element("span", { className: "bar" });
    bar.style.width = `${100 * label.probability}%`;
    const name = element(
      "button",
      { className: "tag-name", type: "button", "aria-expanded": isOpen, title: "Why?" },
      element("span", { className: "track" }, bar, element("span", { className: "name", text: label.name }), ...keyOf(label)),
      element("span", { className: "percent", text: percent(label.probability) }),
    );
    const item = element(
      "li",
      { className: mark ? `tag ${mark}` : "tag", "data-label": label.label, "data-name": teachable(label) },
      element(
        "div",
        { className: "tag-line" },
        name,
        markButton(label, "accepted", "accept", "✓", "Accept"),
        markButton(label, "rejected", "reject", "✗", "Reject"),
      ),
    );
    name.addEventListener("click", () => toggleWhy(label, item, name));
    if (isOpen) addWhy(label, item);
    return item;
  }

  function markButton(label, mark, className, sign, what) {
    return element("button", {
      type: "button",
      className: `mark ${className}`,
      text: sign,
      title: what,
      "aria-label": `${what} ${label.name}`,
      "aria-pressed": marks.get(teachable(label)) === mark,
      onclick: () => toggleMark(teachable(label), mark),
    });
  }

  function toggleMark(name, mark) {
    if (marks.get(name) === mark) marks.delete(name);
    else marks.set(name, mark);
    teach.render();
    render();
  }

  function toggleWhy(label, item, button) {
    if (opened.delete(label.label)) {
      item.querySelector(".why")?.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    opened.add(label.label);
    button.setAttribute("aria-expanded", "true");
    addWhy(label, item);
  }

  async function addWhy(label, item) {
    const place = element("div", { className: "why" }, element("p", { className: "quiet", text: "Looking…" }));
    item.append(place);
    try {
      label.why ??= api.tag({ text: shared.text, k: 1, allow: [label.label], explain: true });
      const answer = await label.why;
      place.replaceChildren(...reasons(answer.labels[0]?.why ?? [], label));
    } catch (error) {
      label.why = undefined;
      place.replaceChildren(element("p", { className: "quiet", text: error.message }));
    }
  }

  function moveInList(event) {
    const item = event.target.closest(".tag");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const other = { ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling };
    if (event.key in other) {
      event.preventDefault();
      other[event.key]?.querySelector(".tag-name").focus();
    } else if (event.key === "a") toggleMark(item.dataset.name, "accepted");
    else if (event.key === "r") toggleMark(item.dataset.name, "rejected");
  }
}

// By name and key, as the server takes them, where the name alone may be several labels'.
const teachable = (label) =>
  label.key && label.key !== label.name ? `${label.name} <${label.key}>` : label.name;

const keyOf = (label) =>
  label.key && label.key !== label.name
    ? [element("small", { className: "key", text: label.key })]
    : [];

function reasons(why, label) {
  const of = (kind) => why.filter((reason) => reason.kind === kind);
  const parts = [];
  const named = of("name");
  if (named.length) {
    const most = Math.max(...named.map((word) => word.weight));
    parts.push(
      element("h3", { text: "Words of its name in your text" }),
      element("ul", { className: "words" }, ...named.map((word) => wordChip(word, most))),
    );
  }
  const words = of("feature");
  if (words.length) {
    const most = Math.max(...words.map((word) => word.weight));
    parts.push(
      element("h3", { text: "Words that spoke for it" }),
      element("ul", { className: "words" }, ...words.map((word) => wordChip(word, most))),
    );
  }
  const neighbours = of("example");
  if (neighbours.length) {
    parts.push(
      element("h3", { text: "Examples like yours that have it" }),
      element("ul", {}, ...neighbours.map((example) => neighbour(example, label))),
    );
  }
  const labels = of("label");
  if (labels.length) {
    parts.push(
      element("h3", { text: "Labels that go with it" }),
      element("ul", { className: "words" }, ...labels.map((other) => chip(other.name))),
    );
  }
  if (!parts.length) {
    parts.push(element("p", { className: "quiet", text: "This method does not say why." }));
  }
  return parts;
}

const chip = (name, isSame = false) =>
  element("li", { className: isSame ? "chip same" : "chip", text: name });

function wordChip(word, most) {
  const made = element("li", { className: "chip word", text: word.name });
  made.title = `weight ${word.weight.toPrecision(3)}`;
  made.style.opacity = 0.7 + 0.3 * Math.max(0, word.weight / most);
  return made;
}

function neighbour(example, label) {
  // The label itself comes first, so that it is seen among many.
  const isOther = (other) => Number(other.label !== label.label);
  const sorted = [...example.labels].sort((one, other) => isOther(one) - isOther(other));
  const shownLabels = sorted.slice(0, MAX_TAGS);
  const n = sorted.length - shownLabels.length;
  const text = example.text ?? `Training example ${count(example.id)}`;
  return element(
    "li",
    { className: "neighbour", title: `weight ${example.weight.toPrecision(3)}` },
    element("span", { text }),
    element(
      "ul",
      { className: "chips" },
      ...shownLabels.map((other) => chip(other.name, other.label === label.label)),
      ...(n > 0 ? [chip(`and ${n} more`)] : []),
    ),
  );
}
