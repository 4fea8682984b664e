// Draws the map: points coloured by frequency, names where there is room, the text among its labels.

import { count } from "./dom.js";

const LEVELS = 8;
const PIXELS_PER_POINT = 14; // of screen area; more points than that cannot be told apart
const PIXELS_PER_POINT_MOVING = 40;
const MAX_NAMES = 90;

export class Painter {
  constructor(canvas, points) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.points = points;
    this.buckets = Array.from({ length: LEVELS }, () => new Int32Array(points.n));
    this.widths = new Map();
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.scale = Array.from({ length: LEVELS }, (_, at) => colour(`--scale-${at}`));
    this.ground = colour("--ground");
    this.ink = colour("--ink");
    this.line = colour("--line");
    this.accent = colour("--accent");
    this.textPoint = colour("--text-point");
    this.font = `12px ${style.fontFamily}`;
  }

  // view: centre x, y and scale (pixels per unit); scene: what stands out.
  draw(view, scene, moving) {
    const began = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.ground;
    context.fillRect(0, 0, width, height);
    const frame = new Frame(view, width, height);
    this.drawDisk(frame);
    const drawn = this.drawPoints(frame, moving);
    this.drawLinks(frame, scene);
    const names = this.drawNames(frame, scene, moving);
    this.drawScene(frame, scene);
    return { drawn, names, milliseconds: performance.now() - began };
  }

  drawDisk(frame) {
    const context = this.context;
    context.strokeStyle = this.line;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(frame.px(0), frame.py(0), frame.scale, 0, 2 * Math.PI);
    context.stroke();
  }

  drawPoints(frame, moving) {
    const { x, y, level, grid } = this.points;
    const cellPixels = ((2 / grid.side) * frame.scale) ** 2;
    const share = moving ? PIXELS_PER_POINT_MOVING : PIXELS_PER_POINT;
    const perCell = Math.max(1, Math.ceil(cellPixels / share));
    const lengths = new Int32Array(LEVELS);
    grid.within(...frame.box(), perCell, (i) => {
      this.buckets[level[i]][lengths[level[i]]++] = i;
    });
    const size = Math.min(7, 1.6 + Math.log2(1 + frame.scale / 400));
    let drawn = 0;
    // Rare labels first, so that frequent ones lie on top.
    for (let at = 0; at < LEVELS; at += 1) {
      const side = size * (0.8 + at * 0.14);
      this.context.fillStyle = this.scale[at];
      for (let n = 0; n < lengths[at]; n += 1) {
        const i = this.buckets[at][n];
        this.context.fillRect(frame.px(x[i]) - side / 2, frame.py(y[i]) - side / 2, side, side);
      }
      drawn += lengths[at];
    }
    return drawn;
  }

  // Names of the most frequent labels in view that do not cover each other.
  drawNames(frame, scene, moving) {
    const { x, y, name } = this.points;
    const taken = new Rooms(frame.width, frame.height);
    const context = this.context;
    context.font = this.font;
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = this.ground;
    let shown = 0;
    const write = (i, colour) => {
      const left = frame.px(x[i]) + 6;
      const middle = frame.py(y[i]);
      const text = name[i].length > 40 ? `${name[i].slice(0, 39)}…` : name[i];
      const width = this.width(text);
      if (!taken.take(left, middle - 8, width, 16)) return;
      context.strokeText(text, left, middle);
      context.fillStyle = colour;
      context.fillText(text, left, middle);
      shown += 1;
    };
    for (const i of scene.standingOut) write(i, this.accent);
    const most = moving ? MAX_NAMES / 2 : MAX_NAMES;
    for (const i of this.candidates(frame)) {
      if (shown >= most) break;
      if (!scene.standingOut.has(i)) write(i, this.ink);
    }
    return shown;
  }

  candidates(frame) {
    const found = [];
    const cell = (2 / this.points.grid.side) * frame.scale;
    this.points.grid.within(...frame.box(), Math.max(1, Math.ceil((cell / 24) ** 2)), (i) => {
      if (frame.holds(this.points.x[i], this.points.y[i])) found.push(i);
    });
    return found.sort((one, other) => one - other).slice(0, 6 * MAX_NAMES);
  }

  width(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }

  drawLinks(frame, { text }) {
    if (!text) return;
    const { x, y } = this.points;
    const context = this.context;
    context.strokeStyle = this.textPoint;
    for (const { i, weight } of text.labels) {
      context.globalAlpha = 0.25 + 0.6 * weight;
      context.lineWidth = 1 + 2 * weight;
      context.beginPath();
      context.moveTo(frame.px(text.x), frame.py(text.y));
      context.lineTo(frame.px(x[i]), frame.py(y[i]));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawScene(frame, { text, selected, hovered }) {
    const { x, y } = this.points;
    const ring = (i, radius) => {
      this.context.strokeStyle = this.accent;
      this.context.lineWidth = 2;
      this.context.beginPath();
      this.context.arc(frame.px(x[i]), frame.py(y[i]), radius, 0, 2 * Math.PI);
      this.context.stroke();
    };
    if (hovered >= 0) ring(hovered, 6);
    if (selected >= 0) ring(selected, 9);
    if (text) this.drawText(frame.px(text.x), frame.py(text.y));
  }

  drawText(x, y) {
    const context = this.context;
    context.fillStyle = this.textPoint;
    context.strokeStyle = this.ground;
    context.lineWidth = 2;
    context.beginPath();
    for (let at = 0; at < 10; at += 1) {
      const angle = -Math.PI / 2 + (at * Math.PI) / 5;
      const radius = at % 2 ? 5 : 12;
      context.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    }
    context.closePath();
    context.fill();
    context.stroke();
    context.font = `bold ${this.font}`;
    context.lineWidth = 3;
    context.strokeText("your text", x + 14, y);
    context.fillText("your text", x + 14, y);
  }

  drawLegend(canvas, low, high) {
    const context = canvas.getContext("2d");
    this.scale.forEach((colour, at) => {
      context.fillStyle = colour;
      context.fillRect((canvas.width / LEVELS) * at, 0, canvas.width / LEVELS + 1, canvas.height);
    });
    low.textContent = count(this.points.least);
    high.textContent = `${count(this.points.most)} examples`;
  }
}

// From the plane of the labels to pixels, and back.
export class Frame {
  constructor(view, width, height) {
    Object.assign(this, { view, width, height, scale: view.scale });
  }
  px(x) { return this.width / 2 + (x - this.view.x) * this.scale; }
  py(y) { return this.height / 2 - (y - this.view.y) * this.scale; }
  x(px) { return this.view.x + (px - this.width / 2) / this.scale; }
  y(py) { return this.view.y - (py - this.height / 2) / this.scale; }
  box() { return [this.x(0), this.y(this.height), this.x(this.width), this.y(0)]; }
  holds(x, y) {
    const px = this.px(x);
    const py = this.py(y);
    return px >= 0 && py >= 0 && px <= this.width && py <= this.height;
  }
}

// Which parts of the picture have a name on them already.
class Rooms {
  constructor(width, height) {
    this.columns = Math.ceil(width / 8) + 1;
    this.rows = Math.ceil(height / 8) + 1;
    this.taken = new Uint8Array(this.columns * this.rows);
  }

  take(left, top, width, height) {
    const firstColumn = Math.max(0, Math.floor(left / 8));
    const lastColumn = Math.min(this.columns - 1, Math.floor((left + width) / 8));
    const firstRow = Math.max(0, Math.floor(top / 8));
    const lastRow = Math.min(this.rows - 1, Math.floor((top + height) / 8));
    for (let row = firstRow; row <= lastRow; row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) {
        if (this.taken[row * this.columns + column]) return false;
      }
    }
    for (let row = firstRow; row <= lastRow; row += 1) {
      this.taken.fill(1, row * this.columns + firstColumn, row * this.columns + lastColumn + 1);
    }
    return true;
  }
}

// The points of a map as the API gives it, most frequent first.
export function pointsOf(map, Grid) {
  const n = map.label.length;
  const x = Float32Array.from(map.x);
  const y = Float32Array.from(map.y);
  const most = map.count[0] ?? 1;
  const least = map.count[n - 1] ?? 0;
  const span = Math.log1p(most) - Math.log1p(least) || 1;
  const level = Uint8Array.from(map.count, (frequency) =>
    Math.min(LEVELS - 1, Math.floor((LEVELS * (Math.log1p(frequency) - Math.log1p(least))) / span)));
  const byLabel = new Map(map.label.map((label, i) => [label, i]));
  const lower = map.name.map((name) => name.toLowerCase());
  return { ...map, n, x, y, level, byLabel, lower, most, least, grid: new Grid(x, y) };
}
