// Starts the page: views, theme, which model is served, and which tags are wanted.

import * as api from "./api.js";
import { byId, count, element, showProblem } from "./dom.js";
import { startFiles } from "./files.js";
import { startMap } from "./map.js";
import { startReview } from "./review.js";
import { startText } from "./text.js";

const VIEWS = ["text", "file", "review", "map"];
const THEMES = ["system", "light", "dark"];
const GOALS = { balanced: "f1", precise: "precision=0.9" };
const MEANINGS = {
  balanced: "As many tags as gave the best balance of precision and recall on held-out texts.",
  precise: "Only tags so probable that 9 of 10 were right on held-out texts.",
  all: "The most probable tags, whatever their probability.",
};

// What views tell each other: the choice, the model, and the last text with its tags.
export const shared = new EventTarget();
Object.assign(shared, {
  choice: "all", k: 5, model: null, models: [], text: "", labels: [], shown, wanted, readModel, useModel, show,
});

// Labels of a ranking that the choice wants.
function wanted(labels) {
  const least = shared.model?.goals?.[GOALS[shared.choice]];
  if (least === undefined) return labels.slice(0, shared.k);
  return labels.filter((label) => label.score >= least);
}

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
  byId("controls").hidden = view === "map" || view === "review";
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

function startChoice() {
  const k = byId("k");
  const read = () => {
    shared.choice = document.querySelector("[name=choice]:checked").value;
    shared.k = Math.max(1, Math.min(50, Math.round(Number(k.value)) || 5));
    byId("k-row").hidden = shared.choice !== "all";
    byId("choice-meaning").textContent = MEANINGS[shared.choice];
    tell("choice");
  };
  byId("choice").addEventListener("change", () => {
    localStorage.setItem("labelspace-choice", document.querySelector("[name=choice]:checked").value);
    read();
  });
  k.addEventListener("input", read);
  shared.addEventListener("model", () => {
    const kept = localStorage.getItem("labelspace-choice");
    for (const [name, goal] of Object.entries(GOALS)) {
      const radio = document.querySelector(`[name=choice][value=${name}]`);
      radio.disabled = !(goal in shared.model.goals);
      radio.parentElement.title = radio.disabled
        ? "This method's scores were not measured on held-out texts."
        : MEANINGS[name];
      if (radio.disabled && radio.checked) document.querySelector("[value=all]").checked = true;
      if (!radio.disabled && (kept ?? "balanced") === name) radio.checked = true;
    }
    read();
  });
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

async function readModels() {
  try {
    const { models } = await api.models();
    shared.models = models;
    const select = byId("models");
    select.replaceChildren(...models.map(({ name }) => element("option", { value: name, text: name })));
    select.hidden = models.length < 2;
    byId("model-name").hidden = models.length > 1;
    select.addEventListener("change", () => useModel(select.value));
    const kept = sessionStorage.getItem("labelspace-model");
    if (models.length > 1) await useModel(models.some(({ name }) => name === kept) ? kept : models[0].name);
    else await readModel();
  } catch (error) {
    showProblem(error);
  }
}

async function useModel(name) {
  byId("models").value = name;
  sessionStorage.setItem("labelspace-model", name);
  api.use(name);
  await readModel();
  tell("shown");
  tell("other-model");
}

async function readModel() {
  try {
    const model = await api.model();
    shared.model = model;
    byId("model-name").textContent = model.name;
    document.title = "labelspace";
    byId("model").textContent = `${count(model.n_labels)} labels · ${count(model.n_examples)} examples`;
    showVocabulary(model);
    tell("model");
  } catch (error) {
    showProblem(error);
  }
}

startTheme();
startText(shared);
startFiles(shared);
startReview(shared);
startMap(shared);
startTabs();
startChoice();
startVocabulary();
show(VIEWS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "text");
readModels();
