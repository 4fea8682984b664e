// The fourth view: all labels, to move about in, to search, and to find one's text in.

import * as api from "./api.js";
import { byId, count, element, shortened } from "./dom.js";
import { Grid } from "./grid.js";
import { Frame, Painter, pointsOf } from "./paint.js";

const FOUND = 30;
const REACH_PIXELS = 14;
const STILL_MS = 120; // after the last move, everything is drawn
const MOST_ZOOM = 400;

export function startMap(shared) {
  const canvas = byId("canvas");
  const scene = { text: null, selected: -1, hovered: -1, standingOut: new Set(), near: [] };
  let view = { x: 0, y: 0, scale: 0 };
  let points = null;
  let painter = null;
  let loading = null;
  let isShown = false;
  let frame = 0;
  let lastMove = -Infinity;
  let flight = 0;

  shared.addEventListener("show-map", () => {
    isShown = true;
    load();
  });
  for (const other of ["text", "file", "review"]) {
    shared.addEventListener(`show-${other}`, () => { isShown = false; });
  }
  shared.addEventListener("tagged", placeText);
  shared.addEventListener("choice", placeText);
  shared.addEventListener("other-model", () => {
    points = loading = null;
    if (isShown) load();
  });
  shared.addEventListener("model", () => {
    if (points && points.total !== shared.model.n_labels) reload();
  });
  shared.addEventListener("theme", () => {
    if (!painter) return;
    painter.readColours();
    redraw();
  });
  new ResizeObserver(() => {
    if (!points || !isShown) return;
    if (!view.scale) showAll();
    redraw();
  }).observe(canvas);
  byId("zoom-in").addEventListener("click", () => zoom(1.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
  byId("zoom-all").addEventListener("click", showAll);
  byId("map-text-go").addEventListener("click", goToText);
  byId("map-search").addEventListener("input", search);
  byId("map-search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") byId("map-found").querySelector("button")?.click();
    if (event.key === "ArrowDown") byId("map-found").querySelector("button")?.focus();
  });
  byId("map-found").addEventListener("keydown", (event) => {
    const item = event.target.closest("li");
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[event.key];
    if (next) {
      event.preventDefault();
      next.querySelector("button").focus();
    }
  });
  startPointer();
  startKeys();

  function load() {
    loading ??= reload();
    redraw();
    return loading;
  }

  async function reload() {
    const status = byId("map-status");
    status.textContent = "Drawing the map…";
    try {
      points = pointsOf(await api.labelMap(), Grid);
      painter = new Painter(byId("points"), canvas, points);
      const kind = {
        poincare: "the model's own Poincaré disk",
        tree: "frequent labels in the middle, each near its kin",
        neighbourhood: "each near the labels that are most like it",
      }[points.kind];
      const part = points.n < points.total ? `The ${count(points.n)} most frequent of ` : "";
      status.textContent = `${part}${count(points.total)} labels: ${kind}.`;
      Object.assign(scene, { selected: -1, hovered: -1 });
      if (!view.scale) showAll();
      placeText();
      search();
    } catch (error) {
      status.textContent = error.message;
      loading = null;
    }
  }

  function redraw() {
    if (!painter || !isShown || frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      const moving = performance.now() - lastMove < STILL_MS;
      const told = painter.draw(view, scene, moving);
      Object.assign(canvas.dataset, {
        drawn: told.drawn,
        names: told.names,
        milliseconds: told.milliseconds.toFixed(1),
        frames: Number(canvas.dataset.frames ?? 0) + 1,
        scale: view.scale.toFixed(1),
      });
      if (moving) setTimeout(redraw, STILL_MS);
    });
  }

  function moved() {
    lastMove = performance.now();
    redraw();
  }

  const framed = () => new Frame(view, canvas.clientWidth, canvas.clientHeight);
  const wholeScale = () => 0.47 * Math.min(canvas.clientWidth, canvas.clientHeight);

  function limited(next) {
    const scale = Math.min(MOST_ZOOM * wholeScale(), Math.max(0.5 * wholeScale(), next.scale));
    const inside = (value) => Math.min(1.1, Math.max(-1.1, value));
    return { x: inside(next.x), y: inside(next.y), scale };
  }

  function showAll() {
    cancelAnimationFrame(flight);
    view = { x: 0, y: 0, scale: wholeScale() };
    redraw();
  }

  // Zooms so that the place under the pointer stays where it is.
  function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    cancelAnimationFrame(flight);
    const before = framed();
    const x = before.x(px);
    const y = before.y(py);
    view = limited({ ...view, scale: view.scale * factor });
    const after = framed();
    view = limited({ ...view, x: view.x + x - after.x(px), y: view.y + y - after.y(py) });
    moved();
  }

  function pan(dx, dy) {
    cancelAnimationFrame(flight);
    view = limited({ ...view, x: view.x - dx / view.scale, y: view.y + dy / view.scale });
    moved();
  }

  function flyTo(x, y, scale) {
    cancelAnimationFrame(flight);
    const from = { ...view };
    const to = limited({ x, y, scale });
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      view = to;
      redraw();
      return;
    }
    const began = performance.now();
    const step = () => {
      const part = Math.min(1, (performance.now() - began) / 450);
      const smooth = part * part * (3 - 2 * part);
      const grown = Math.exp(Math.log(from.scale) + smooth * (Math.log(to.scale) - Math.log(from.scale)));
      view = { x: from.x + smooth * (to.x - from.x), y: from.y + smooth * (to.y - from.y), scale: grown };
      moved();
      if (part < 1) flight = requestAnimationFrame(step);
    };
    step();
  }

  function startPointer() {
    const touches = new Map();
    let dragged = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      touches.set(event.pointerId, event);
      dragged = 0;
      canvas.classList.add("dragging");
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = touches.get(event.pointerId);
      if (!before) {
        hover(event);
        return;
      }
      const others = [...touches.values()].filter((touch) => touch !== before);
      touches.set(event.pointerId, event);
      dragged += Math.hypot(event.offsetX - before.offsetX, event.offsetY - before.offsetY);
      if (others.length === 1) pinch(before, event, others[0]);
      else if (!others.length) pan(event.offsetX - before.offsetX, event.offsetY - before.offsetY);
    });
    const ended = (event) => {
      touches.delete(event.pointerId);
      if (!touches.size) canvas.classList.remove("dragging");
      if (event.type === "pointerup" && dragged < 5) click(event);
    };
    canvas.addEventListener("pointerup", ended);
    canvas.addEventListener("pointercancel", ended);
    canvas.addEventListener("pointerleave", () => hover(null));
    canvas.addEventListener("dblclick", (event) => zoom(2.2, event.offsetX, event.offsetY));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const pixels = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
        zoom(Math.exp(-Math.max(-300, Math.min(300, pixels)) / 400), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
  }

  function pinch(before, now, other) {
    const distance = (touch) => Math.hypot(touch.offsetX - other.offsetX, touch.offsetY - other.offsetY);
    const middle = [(now.offsetX + other.offsetX) / 2, (now.offsetY + other.offsetY) / 2];
    zoom(distance(now) / Math.max(1, distance(before)), ...middle);
    pan((now.offsetX - before.offsetX) / 2, (now.offsetY - before.offsetY) / 2);
  }

  function startKeys() {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (steps[event.key]) pan(...steps[event.key]);
      else if (["+", "="].includes(event.key)) zoom(1.4);
      else if (["-", "−"].includes(event.key)) zoom(1 / 1.4);
      else if (event.key === "0") showAll();
      else return;
      event.preventDefault();
    });
  }

  function at(event) {
    if (!points) return -1;
    const where = framed();
    return points.grid.nearest(where.x(event.offsetX), where.y(event.offsetY), REACH_PIXELS / view.scale);
  }

  function hover(event) {
    const found = event ? at(event) : -1;
    const tip = byId("tip");
    tip.hidden = found < 0;
    if (found >= 0) {
      tip.textContent = `${points.name[found]} · ${count(points.count[found])}`;
      tip.style.left = `${Math.min(event.offsetX + 14, canvas.clientWidth - 160)}px`;
      tip.style.top = `${event.offsetY + 14}px`;
    }
    if (found !== scene.hovered) {
      scene.hovered = found;
      redraw();
    }
  }

  function click(event) {
    const found = at(event);
    if (found >= 0) select(found, false);
  }

  async function select(i, fly = true) {
    scene.selected = i;
    standOut();
    const name = points.name[i];
    byId("map-label").hidden = false;
    byId("map-label-name").textContent = name;
    byId("map-label-count").textContent = `${count(points.count[i])} examples`;
    byId("map-label-nearest").replaceChildren();
    scene.near = [];
    if (fly) flyTo(points.x[i], points.y[i], Math.max(view.scale, 8 * wholeScale()));
    else redraw();
    try {
      const answer = await api.findLabels(name, 50);
      const found = answer.labels.find((label) => label.label === points.label[i]);
      if (scene.selected !== i) return;
      scene.near = (found?.nearest ?? []).map((near) => points.byLabel.get(near.label)).filter((one) => one !== undefined);
      redraw();
      byId("map-label-nearest").replaceChildren(
        ...(found?.nearest ?? []).map((near) => entry(near, points.byLabel.get(near.label))));
    } catch (error) {
      byId("map-status").textContent = error.message;
    }
  }

  function entry({ name, count: frequency }, i) {
    const button = element("button", { type: "button" }, element("span", { text: name }));
    if (frequency !== undefined) button.append(element("small", { text: count(frequency) }));
    button.disabled = i === undefined;
    button.addEventListener("click", () => select(i));
    return element("li", {}, button);
  }

  function search() {
    const query = byId("map-search").value.trim().toLowerCase();
    const found = [];
    if (points && query) {
      const rank = (i) => (points.lower[i] === query ? 0 : points.lower[i].startsWith(query) ? 1 : 2);
      for (let i = 0; i < points.n; i += 1) if (points.lower[i].includes(query)) found.push(i);
      found.sort((one, other) => rank(one) - rank(other) || one - other);
    }
    byId("map-found").replaceChildren(
      ...found.slice(0, FOUND).map((i) => entry({ name: points.name[i], count: points.count[i] }, i)));
    if (query && !found.length) {
      byId("map-found").append(element("li", { className: "quiet", text: "No label has this in its name." }));
    }
  }

  // The text lies among its specific labels: one that many texts have says little of this one.
  function placeText() {
    if (!points) return;
    const labels = shared
      .wanted(shared.labels)
      .filter((label) => points.byLabel.has(label.label))
      .map((label) => {
        const i = points.byLabel.get(label.label);
        return { i, weight: label.probability / Math.log(2 + points.count[i]) };
      });
    const most = Math.max(...labels.map(({ weight }) => weight), 1e-9);
    for (const label of labels) label.weight /= most;
    const total = labels.reduce((sum, label) => sum + label.weight, 0);
    scene.text = null;
    if (total > 0) scene.text = { ...middle(labels), labels };
    byId("map-text").hidden = !scene.text;
    byId("map-text-shown").textContent = shortened(shared.text, 140);
    standOut();
    redraw();
  }

  // The place from which the way to all labels is the shortest, weighted: it lies where most of them
  // are, while a mean lies between groups, where none is.
  function middle(labels) {
    let [x, y] = [0, 0];
    for (let step = 0; step < 40; step += 1) {
      let [sumX, sumY, sum] = [0, 0, 0];
      for (const { i, weight } of labels) {
        const far = step ? Math.max(1e-3, Math.hypot(points.x[i] - x, points.y[i] - y)) : 1;
        sumX += (weight / far) * points.x[i];
        sumY += (weight / far) * points.y[i];
        sum += weight / far;
      }
      [x, y] = [sumX / sum, sumY / sum];
    }
    return { x, y };
  }

  function standOut() {
    scene.standingOut = new Set(scene.text?.labels.map((label) => label.i) ?? []);
    if (scene.selected >= 0) scene.standingOut.add(scene.selected);
  }

  function goToText() {
    if (!scene.text) return;
    const { x, y, labels } = scene.text;
    const reach = Math.max(0.02, ...labels.map(({ i }) => Math.hypot(points.x[i] - x, points.y[i] - y)));
    flyTo(x, y, (0.4 * Math.min(canvas.clientWidth, canvas.clientHeight)) / reach);
  }
}
