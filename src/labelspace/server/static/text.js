// The first view: a text, its tags as one types, the evidence for each, and which of them are right.

import * as api from "./api.js";
import { byId, copy, count, element, evidenceWords, percent, plural, shortened, showMarked, showProblem } from "./dom.js";
import { startTeach } from "./teach.js";

const TYPING_MS = 40;
const MAX_TAGS = 12; // of a neighbour
const MAX_LABELS = 50; // the choice is made among these without asking again
const MAX_EXPLAINED = 20;

export function startText(shared) {
  const text = byId("text");
  const list = byId("tags");
  const marks = new Map(); // what a label is taught by → "right" or "wrong"
  const opened = new Set(); // labels whose evidence is shown, by number
  let evidence = null; // of the text that is shown: a promise of reasons by label
  let words = null; // what is known of the text's words
  let hovered = null;
  let timer = 0;
  let running = null;
  const teach = startTeach(shared, { marks, changed: render, taught });

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_MS);
    marks.clear();
    opened.clear();
    evidence = words = hovered = null;
    showWords();
    teach.reset();
  });
  text.addEventListener("scroll", () => {
    byId("backdrop").scrollTop = text.scrollTop;
  });
  byId("clear").addEventListener("click", () => write(""));
  byId("copy-tags").addEventListener("click", (event) => copied(event, (label) => label.name));
  byId("copy-ids").addEventListener("click", (event) => copied(event, (label) => label.key ?? String(label.label)));
  shared.addEventListener("choice", render);
  shared.addEventListener("shown", ask);
  shared.addEventListener("model", showModel);
  list.addEventListener("keydown", moveInList);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) teach.preview();
  });

  function write(content) {
    text.value = content;
    text.dispatchEvent(new Event("input"));
    text.focus();
  }

  function showModel() {
    const { model } = shared;
    text.disabled = !model.takes_text;
    byId("text-note").textContent = model.takes_text
      ? ""
      : "This model was trained on features, not on texts: use the API or a file with features.";
    byId("examples").replaceChildren(
      ...model.examples.map((example) =>
        element("button", { type: "button", text: example, onclick: () => write(example) })));
    byId("examples").previousElementSibling.hidden = !model.examples.length;
    const { card } = model;
    const languages = model.text_languages.map((one) => model.language_names[one] ?? one);
    const facts = [
      ["Trained on", [card.corpus, `${count(model.n_examples)} examples`].filter(Boolean).join(" · ")],
      ["Language", languages.join(", ")],
      ["Labels", count(model.n_labels)],
      ["Held-out texts", card["P@1"] ? `the first tag is right in ${Math.round(card["P@1"])} of 100` : ""],
      ["Trained", card.trained ? String(card.trained).slice(0, 10) : ""],
      ["Method", model.method],
    ];
    byId("card").replaceChildren(
      ...facts.filter(([, value]) => value).flatMap(([name, value]) => [
        element("dt", { text: name }), element("dd", { text: value })]));
  }

  async function ask() {
    running?.abort();
    const mine = (running = new AbortController());
    const asked = text.value;
    document.body.classList.toggle("tagged", Boolean(asked.trim()));
    byId("welcome").hidden = Boolean(asked.trim());
    if (!asked.trim()) {
      Object.assign(shared, { text: "", labels: [] });
      words = null;
      render();
      showWords();
      shared.dispatchEvent(new Event("tagged"));
      return;
    }
    list.setAttribute("aria-busy", "true");
    try {
      const body = { text: asked, k: MAX_LABELS, words: true, ...shared.shown() };
      const answer = await api.tag(body, mine.signal);
      if (mine !== running) return;
      Object.assign(shared, { text: asked, labels: answer.labels });
      evidence = null;
      words = answer.words;
      showProblem(null);
      render();
      showWords();
      list.dataset.characters = asked.length; // of the text that these are the tags of
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

  // What the model makes of the text as such: its language, and words that it never saw.
  function showWords() {
    const { model } = shared;
    showEvidence();
    const note = byId("text-note");
    const unknown = words?.n_unknown ?? 0;
    if (model?.takes_text) note.textContent = "";
    if (unknown && words.n) {
      const listed = shortened(words.unknown.slice(0, 8).join(", "), 120);
      const share = Math.round((100 * unknown) / words.n);
      note.textContent = `${share} % of the words (${count(unknown)} of ${count(words.n)}) are unknown to the model: ${listed}`;
    }
    const place = byId("language-note");
    const language = words?.language;
    const known = model?.text_languages ?? [];
    place.hidden = !language || !known.length || known.includes(language);
    if (place.hidden) return;
    const name = (one) => model.language_names[one] ?? one;
    place.replaceChildren(`${name(language)} text, model of ${known.map(name).join(" and ")}: its tags may be wrong. `);
    const better = shared.models.find((one) => one.text_languages?.includes(language));
    if (better) {
      place.append(element("button", {
        type: "button", className: "small", text: `Use the model ${better.name}`,
        onclick: () => shared.useModel(better.name),
      }));
    }
  }

  function given() {
    return shared.wanted(shared.labels);
  }

  function render() {
    const labels = given();
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.label : null;
    list.replaceChildren(...labels.map(item));
    if (focused) list.querySelector(`.tag-name[data-label="${focused}"]`)?.focus();
    byId("copy-row").hidden = !labels.length;
    byId("tags-empty").hidden = labels.length > 0;
    byId("tags-empty").textContent = !shared.text
      ? "The tags of your text will be listed here."
      : shared.labels.length
        ? "No tag is that probable: choose Top to see the most probable ones."
        : "The model gives no tag.";
    byId("tags-status").textContent = shared.text ? plural(labels.length, "tag") : "";
    teach.render();
  }

  const taughtBy = (label) =>
    label.key && label.key !== label.name ? `${label.name} <${label.key}>` : label.name;

  function item(label) {
    const name = taughtBy(label);
    const mark = marks.get(name);
    const isOpen = opened.has(label.label);
    const bar = element("span", { className: "bar" });
    bar.style.width = `${100 * label.probability}%`;
    const track = element("span", { className: "track" }, bar, element("span", { className: "name", text: label.name }));
    if (label.key && label.key !== label.name && !isLink(label.key)) {
      track.append(element("span", { className: "key", text: label.key }));
    }
    const line = element(
      "div",
      { className: "tag-line" },
      element(
        "button",
        {
          type: "button", className: "tag-name", "data-label": label.label, "aria-expanded": isOpen,
          title: "Show the evidence",
          onclick: () => toggle(label),
          onpointerenter: () => hover(label),
          onpointerleave: () => hover(null),
          onfocus: () => hover(label),
          onblur: () => hover(null),
        },
        track,
        element("span", { className: "percent", text: percent(label.probability) }),
      ),
      markButton(name, "right", "✓", `${label.name} is right`),
      markButton(name, "wrong", "✗", `${label.name} is wrong`),
    );
    const made = element("li", { className: mark === "wrong" ? "tag rejected" : "tag" }, line);
    if (isOpen) made.append(whyOf(label));
    return made;
  }

  function markButton(name, mark, sign, title) {
    return element("button", {
      type: "button", className: `mark ${mark === "right" ? "accept" : "reject"}`, text: sign, title,
      "aria-label": title, "aria-pressed": marks.get(name) === mark,
      onclick: () => setMark(name, mark),
    });
  }

  function setMark(name, mark) {
    if (marks.get(name) === mark) marks.delete(name);
    else marks.set(name, mark);
    teach.changed();
    render();
  }

  // Evidence for all tags that are shown is asked for once, with the first that is looked at.
  function reasons() {
    const k = Math.min(MAX_EXPLAINED, Math.max(5, given().length));
    evidence ??= api
      .tag({ text: shared.text, k, explain: true, ...shared.shown() })
      .then((answer) => new Map(answer.labels.map((label) => [label.label, label.why])));
    return evidence;
  }

  async function hover(label) {
    hovered = label?.label ?? null;
    await showEvidence();
  }

  async function showEvidence() {
    const asked = text.value;
    const label = hovered ?? [...opened].at(-1) ?? null;
    let weights = null;
    if (label !== null && shared.text === asked && asked) {
      try {
        weights = evidenceWords((await reasons()).get(label));
      } catch { /* the panel of the tag tells */ }
    }
    if (text.value !== asked) return;
    showMarked(byId("backdrop"), asked, weights, new Set(words?.unknown ?? []));
    byId("backdrop").scrollTop = text.scrollTop;
  }

  function toggle(label) {
    if (opened.has(label.label)) opened.delete(label.label);
    else opened.add(label.label);
    render();
    showEvidence();
  }

  function whyOf(label) {
    const place = element("div", { className: "why" }, element("p", { className: "quiet", text: "…" }));
    reasons()
      .then((found) => place.replaceChildren(...explained(label, found.get(label.label) ?? [])))
      .catch((error) => place.replaceChildren(element("p", { className: "quiet", text: error.message })));
    return place;
  }

  function moveInList(event) {
    const names = [...list.querySelectorAll(".tag-name")];
    const at = names.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const label = given()[at];
    if (event.key === "ArrowDown") names[Math.min(at + 1, names.length - 1)].focus();
    else if (event.key === "ArrowUp") names[Math.max(at - 1, 0)].focus();
    else if (event.key === "a") setMark(taughtBy(label), "right");
    else if (event.key === "r") setMark(taughtBy(label), "wrong");
    else return;
    event.preventDefault();
  }

  async function copied(event, of) {
    await copy(given().map(of).join("\n"));
    const button = event.target;
    const before = button.dataset.text ?? (button.dataset.text = button.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1200);
  }

  async function taught() {
    marks.clear();
    opened.clear();
    evidence = null;
    await Promise.all([ask(), shared.readModel()]);
  }
}

export const isLink = (key) => /^https?:\/\//.test(key ?? "");

function explained(label, why) {
  const of = (kind) => why.filter((reason) => reason.kind === kind);
  const parts = [];
  if (isLink(label.key)) {
    parts.push(element("p", {}, element("a", {
      href: label.key, text: label.key, target: "_blank", rel: "noopener noreferrer" })));
  }
  const add = (title, found, list) => {
    if (found.length) parts.push(element("h3", { text: title }), list(found));
  };
  const words = (found) => element("ul", { className: "words" }, ...found.map(wordChip));
  add("Evidence: its name is in your text", of("name"), words);
  add("Evidence: words of your text", of("feature"), words);
  add("Evidence: examples like yours that have it", of("example"), (found) =>
    element("ul", {}, ...found.map((example) => neighbour(example, label))));
  add("Evidence: labels that go with it", of("label"), (found) =>
    element("ul", { className: "words" }, ...found.map((other) => chip(other.name))));
  if (!parts.length) parts.push(element("p", { className: "quiet", text: "This method gives no evidence." }));
  return parts;
}

const chip = (name, isSame = false) =>
  element("li", { className: isSame ? "chip same" : "chip", text: name });

const wordChip = (word) =>
  element("li", { className: "chip word", text: word.name, title: `weight ${word.weight.toPrecision(3)}` });

function neighbour(example, label) {
  // The label itself comes first, so that it is seen among many.
  const isOther = (other) => Number(other.label !== label.label);
  const sorted = [...example.labels].sort((one, other) => isOther(one) - isOther(other));
  const n = sorted.length - MAX_TAGS;
  const text = example.text ?? `Training example ${count(example.id)}`;
  return element(
    "li",
    { className: "neighbour", title: `weight ${example.weight.toPrecision(3)}` },
    element("span", { text }),
    element(
      "ul",
      { className: "chips" },
      ...sorted.slice(0, MAX_TAGS).map((other) => chip(other.name, other.label === label.label)),
      ...(n > 0 ? [chip(`and ${n} more`)] : []),
    ),
  );
}
