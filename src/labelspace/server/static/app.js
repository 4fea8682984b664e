// Starts the page: views, theme, what is being served, and the two sliders that views share.

import * as api from "./api.js";
import { byId, count, element, showProblem } from "./dom.js";
import { startFiles } from "./files.js";
import { startMap } from "./map.js";
import { startText } from "./text.js";

const VIEWS = ["text", "file", "map"];
const THEMES = ["system", "light", "dark"];

// What views tell each other: the sliders, the model, and the last text with its tags.
export const shared = new EventTarget();
Object.assign(shared, { k: 5, threshold: 0, model: null, text: "", labels: [], shown });

// Members of a request that say what labels are called, and which broader ones are left out.
function shown() {
  const asked = {};
  if (byId("language").value) asked.language = byId("language").value;
  if (byId("hide-broader").checked) asked.broader = "hide";
  return asked;
}

function tell(name) {
  shared.dispatchEvent(new Event(name));
}

function show(view) {
  for (const name of VIEWS) {
    const chosen = name === view;
    byId(`view-${name}`).hidden = !chosen;
    byId(`tab-${name}`).setAttribute("aria-selected", chosen);
    byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  byId("controls").hidden = view === "map";
  if (location.hash.slice(1) !== view) history.replaceState(null, "", `#${view}`);
  showProblem(null);
  tell(`show-${view}`);
}

function startTabs() {
  for (const name of VIEWS) byId(`tab-${name}`).addEventListener("click", () => show(name));
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const at = VIEWS.findIndex((name) => byId(`tab-${name}`) === document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !step) return;
    const next = VIEWS[(at + step + VIEWS.length) % VIEWS.length];
    show(next);
    byId(`tab-${next}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    const view = event.altKey && VIEWS[Number(event.key) - 1];
    if (view) {
      event.preventDefault();
      show(view);
      byId(`tab-${view}`).focus();
    }
  });
  window.addEventListener("hashchange", () => {
    if (VIEWS.includes(location.hash.slice(1))) show(location.hash.slice(1));
  });
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = localStorage.getItem("labelspace-theme") ?? "system";
  const apply = () => {
    const shown = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
    document.documentElement.dataset.theme = shown;
    byId("theme").textContent = `Theme: ${theme}`;
    tell("theme");
  };
  dark.addEventListener("change", apply);
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem("labelspace-theme", theme);
    apply();
  });
  apply();
}

function startSliders() {
  const read = () => {
    shared.k = Number(byId("k").value);
    shared.threshold = Number(byId("threshold").value) / 100;
    byId("k-shown").textContent = shared.k;
    byId("threshold-shown").textContent = `${byId("threshold").value} %`;
    tell("sliders");
  };
  byId("k").addEventListener("input", read);
  byId("threshold").addEventListener("input", read);
  read();
}

function startVocabulary() {
  for (const id of ["language", "hide-broader"]) {
    byId(id).addEventListener("change", () => tell("shown"));
  }
}

function showVocabulary({ languages, has_broader: hasBroader }) {
  const select = byId("language");
  const before = select.value;
  const option = (value, text) => element("option", { value, text });
  select.replaceChildren(option("", "as trained"), ...languages.map((one) => option(one, one)));
  select.value = languages.includes(before) ? before : "";
  byId("language-row").hidden = languages.length === 0;
  byId("broader-row").hidden = !hasBroader;
  byId("vocabulary-controls").hidden = languages.length === 0 && !hasBroader;
}

export async function readModel() {
  try {
    const model = await api.model();
    shared.model = model;
    byId("model").textContent =
      `${model.method} · ${count(model.n_labels)} labels · ${count(model.n_examples)} examples`;
    showVocabulary(model);
    tell("model");
  } catch (error) {
    showProblem(error);
  }
}

startTheme();
startText(shared, readModel);
startFiles(shared);
startMap(shared);
startTabs();
startSliders();
startVocabulary();
show(VIEWS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "text");
readModel();
