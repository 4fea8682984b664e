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

export const percent = (share) =>
  share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
export const count = (number) => number.toLocaleString("en");
export const shortened = (text, length) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

export function showProblem(error) {
  const place = byId("problem");
  place.textContent = error ? error.message : "";
  place.hidden = !error;
}
