// What is right about a text: tags accepted, rejected and added, sent to the model to learn.

import * as api from "./api.js";
import { byId, count, element } from "./dom.js";

const SUGGESTIONS = 8;

export function startTeach(shared, { marks, changed, taught }) {
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
    submit();
  });
  shared.addEventListener("model", render);
  shared.addEventListener("tagged", render);
  input.addEventListener("input", suggest);
  input.addEventListener("keydown", choose);
  input.addEventListener("blur", () => setTimeout(close, 150));

  function chosen() {
    const accepted = [...marks].filter(([, mark]) => mark === "accepted").map(([name]) => name);
    return [...new Set([...accepted, ...added])];
  }

  function render() {
    const model = shared.model;
    byId("chosen").replaceChildren(...chosen().map(chip));
    const rejected = [...marks.values()].includes("rejected");
    const isOn = model?.learning && model.can_learn;
    byId("token-row").hidden = !isOn;
    byId("learn").disabled =
      !isOn || !token.value || !shared.text || !(chosen().length || rejected);
    byId("teach-hint").textContent = !model || isOn
      ? "Accept or reject tags above, add what is missing; then teach the model this text."
      : model.can_learn
        ? "Teaching is off: start the server with --token to turn it on."
        : `The method ${model.method} cannot learn on.`;
  }

  function chip(name) {
    return element(
      "li",
      { className: "chip" },
      element("span", { text: name }),
      element("button", {
        type: "button",
        text: "✗",
        "aria-label": `Take ${name} away`,
        onclick: () => {
          if (added.includes(name)) added.splice(added.indexOf(name), 1);
          marks.delete(name);
          render();
          changed();
        },
      }),
    );
  }

  function add(name) {
    if (name && !added.includes(name)) added.push(name);
    input.value = "";
    close();
    render();
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

  async function submit() {
    if (byId("learn").disabled) return;
    const status = byId("teach-status");
    byId("learn").disabled = true;
    status.textContent = "Learning…";
    try {
      const answer = await api.learn([{ text: shared.text, labels: chosen() }], token.value);
      const fresh = answer.new_labels.length ? ` New: ${answer.new_labels.join(", ")}.` : "";
      status.textContent = `Learned.${fresh} The model knows ${count(answer.n_examples)} examples.`;
      added.length = 0;
      await taught();
    } catch (error) {
      status.textContent = error.message;
    }
    render();
  }

  function reset() {
    added.length = 0;
    byId("teach-status").textContent = "";
    render();
  }

  render();
  return { render, reset, submit };
}
