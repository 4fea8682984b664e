// Small helpers for making elements. Text is only ever set as text, never as HTML.

export const byId = (id) => document.getElementById(id);

export function element(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Nothing that a model says is certain, nor out of the question.
export function percent(share) {
  if (share >= 0.995) return "> 99 %";
  return share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
}
export const count = (number) => number.toLocaleString("en");
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
export const shortened = (text, length) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

export function showProblem(error) {
  const place = byId("problem");
  place.textContent = error ? error.message : "";
  place.hidden = !error;
}

// A wrong token is a matter between people: say what to do, not what to send.
export function sentence(error) {
  return error.status === 401
    ? "This is not the server's token. Whoever started the server has it: ask for it and try again."
    : error.message;
}

// Words of a text as the model sees them, each with its place.
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
export const normal = (word) => word.normalize("NFKC").toLowerCase().replaceAll("ß", "ss");

// Puts a text into an element, with some of its words marked: evidence by weight, unknown ones.
export function showMarked(place, text, weights, unknown) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    const word = normal(found[0]);
    const isUnknown = unknown?.has(word);
    if (!weights?.has(word) && !isUnknown) continue;
    parts.push(text.slice(at, found.index));
    const made = element(weights?.has(word) ? "mark" : "span", { text: found[0] });
    if (isUnknown) made.classList.add("unknown");
    parts.push(made);
    at = found.index + found[0].length;
  }
  // A line break at the end takes no room unless something follows it.
  place.replaceChildren(...parts, `${text.slice(at)}\n`);
}

// Words of the features that speak for a label; a feature of several words marks each of them.
export function evidenceWords(reasons) {
  const words = new Map();
  for (const reason of reasons ?? []) {
    if (!["feature", "name"].includes(reason.kind) || reason.weight <= 0) continue;
    for (const word of reason.name.split(" ")) words.set(normal(word), reason.weight);
  }
  return words;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { className: "visually-hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
