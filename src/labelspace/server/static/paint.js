// Draws the map: round points by WebGL, coloured by topic and sized by frequency; on top of them names
// of regions from afar and of labels from near, the text among its labels, lines to the nearest.

const TOPICS = 12;
const MAX_NAMES = 90;
const FAR = 2.6; // times the whole map: from there on regions give way to labels
const FEW_WITHOUT_GL = 20000;
const FEWEST_MOVING = 4000;
const FRAME_MS = 1000 / 60;

const VERTEX = `
attribute vec2 place; attribute float size; attribute float topic;
uniform vec2 centre; uniform vec2 scale; uniform float pixels; uniform vec3 colours[${TOPICS}];
varying vec3 colour;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = size * pixels;
  int at = int(topic);
  for (int i = 0; i < ${TOPICS}; i++) if (i == at) colour = colours[i];
}`;
const FRAGMENT = `
precision mediump float; varying vec3 colour; uniform float opacity;
void main() {
  float far = length(gl_PointCoord - 0.5);
  float alpha = opacity * (1.0 - smoothstep(0.4, 0.5, far));
  gl_FragColor = vec4(colour * alpha, alpha);
}`;

export class Painter {
  constructor(ground, canvas, points) {
    this.ground2d = ground;
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.points = points;
    this.affordable = points.n;
    this.lastDrawn = -Infinity;
    this.widths = new Map();
    this.gl = ground.getContext("webgl", { antialias: false, premultipliedAlpha: true });
    if (this.gl) this.prepare(this.gl);
    this.readColours();
  }

  // All points go to the graphics card once; a frame then only says from where they are seen.
  prepare(gl) {
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniform = (name) => gl.getUniformLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    this.upload();
    for (const [name, length, offset] of [["place", 2, 0], ["size", 1, 8], ["topic", 1, 12]]) {
      const where = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(where);
      gl.vertexAttribPointer(where, length, gl.FLOAT, false, 16, offset);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // Called again when points have moved among themselves.
  upload() {
    if (!this.gl) return;
    const { n, x, y, size, topic } = this.points;
    const data = new Float32Array(4 * n);
    for (let i = 0; i < n; i += 1) {
      const at = n - 1 - i; // rare labels first, so that frequent ones lie on top
      data.set([x[at], y[at], size[at], topic[at] % TOPICS], 4 * i);
    }
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.topics = Array.from({ length: TOPICS }, (_, at) => colour(`--topic-${at}`));
    this.ground = colour("--card");
    this.ink = colour("--ink");
    this.quiet = colour("--quiet");
    this.line = colour("--line");
    this.accent = colour("--accent");
    this.textPoint = colour("--text-point");
    this.family = style.fontFamily;
    this.font = `12px ${this.family}`;
  }

  // view: centre x, y and scale (pixels per unit); scene: what stands out.
  draw(view, scene, moving) {
    const began = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    for (const one of [this.canvas, this.ground2d]) {
      if (one.width !== Math.round(width * ratio) || one.height !== Math.round(height * ratio)) {
        one.width = Math.round(width * ratio);
        one.height = Math.round(height * ratio);
      }
    }
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const frame = new Frame(view, width, height);
    if (this.points.kind === "poincare") this.drawDisk(frame);
    this.keepPace(began, moving);
    const drawn = this.gl ? this.drawByCard(frame, ratio, moving) : this.drawPoints(frame);
    this.drawLinks(frame, scene);
    const names = this.drawNames(frame, scene, moving);
    this.drawScene(frame, scene);
    return { drawn, names, milliseconds: performance.now() - began };
  }

  // Where frames come late while the map moves (no graphics card), the rarest labels wait until it
  // is still.
  keepPace(now, moving) {
    const gap = now - this.lastDrawn;
    this.lastDrawn = now;
    if (!moving || gap > 500) return;
    const factor = gap > 1.4 * FRAME_MS ? 0.75 : gap < 1.1 * FRAME_MS ? 1.05 : 1;
    this.affordable = Math.min(this.points.n, Math.max(FEWEST_MOVING, factor * this.affordable));
  }

  drawByCard(frame, ratio, moving) {
    const gl = this.gl;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.uniform("centre"), frame.view.x, frame.view.y);
    gl.uniform2f(this.uniform("scale"), (2 * frame.scale) / frame.width, (2 * frame.scale) / frame.height);
    gl.uniform1f(this.uniform("pixels"), ratio * this.grown(frame));
    gl.uniform1f(this.uniform("opacity"), 0.85);
    const parts = this.topics.flatMap((one) => [1, 3, 5].map((at) => parseInt(one.slice(at, at + 2), 16) / 255));
    gl.uniform3fv(this.uniform("colours"), parts);
    const n = moving ? Math.round(this.affordable) : this.points.n;
    gl.drawArrays(gl.POINTS, this.points.n - n, n);
    return n;
  }

  // Points grow with the map, but more slowly, so that room comes between them.
  grown(frame) {
    const few = Math.sqrt(Math.max(1, 4000 / this.points.n));
    return Math.min(3, few) * Math.min(3.5, 0.8 + 0.35 * Math.log2(1 + frame.scale / 300));
  }

  drawDisk(frame) {
    const context = this.context;
    context.strokeStyle = this.line;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(frame.px(0), frame.py(0), frame.scale, 0, 2 * Math.PI);
    context.stroke();
  }

  // Without WebGL: the most frequent labels in view.
  drawPoints(frame) {
    const { x, y, size, topic, grid } = this.points;
    const cell = Math.max(1, Math.ceil(((2 / grid.side) * frame.scale) ** 2 / 40));
    let drawn = 0;
    grid.within(...frame.box(), cell, (i) => {
      if (drawn >= FEW_WITHOUT_GL) return;
      this.context.fillStyle = this.topics[topic[i] % TOPICS];
      this.context.beginPath();
      this.context.arc(frame.px(x[i]), frame.py(y[i]), (size[i] * this.grown(frame)) / 2, 0, 7);
      this.context.fill();
      drawn += 1;
    });
    return drawn;
  }

  // From afar names of regions; from near the most frequent labels that do not cover each other.
  drawNames(frame, scene, moving) {
    const { x, y, name } = this.points;
    const taken = new Rooms(frame.width, frame.height);
    const context = this.context;
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = this.ground;
    let shown = 0;
    const write = (text, left, middle, colour) => {
      const short = text.length > 40 ? `${text.slice(0, 39)}…` : text;
      if (!taken.take(left, middle - 8, this.width(short), 16)) return;
      context.strokeText(short, left, middle);
      context.fillStyle = colour;
      context.fillText(short, left, middle);
      shown += 1;
    };
    context.font = this.font;
    for (const i of scene.standingOut) write(name[i], frame.px(x[i]) + 7, frame.py(y[i]), this.accent);
    const far = frame.scale / (0.47 * Math.min(frame.width, frame.height));
    if (far < FAR) {
      context.font = `650 ${far < 1.6 ? 15 : 14}px ${this.family}`;
      this.widths.clear();
      for (const region of this.points.regions ?? []) {
        const left = frame.px(region.x) - this.width(region.name) / 2;
        if (frame.holds(region.x, region.y)) write(region.name, left, frame.py(region.y), this.ink);
      }
      this.widths.clear();
      context.font = this.font;
      if (far < 1.3 && this.points.n > 300) return shown;
    }
    const most = moving ? MAX_NAMES / 2 : MAX_NAMES;
    for (const i of this.candidates(frame)) {
      if (shown >= most) break;
      if (!scene.standingOut.has(i)) write(name[i], frame.px(x[i]) + 6, frame.py(y[i]), far < FAR ? this.quiet : this.ink);
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

  drawLinks(frame, { text, selected, near }) {
    const { x, y } = this.points;
    const context = this.context;
    const line = (fromX, fromY, i, colour, weight) => {
      context.strokeStyle = colour;
      context.globalAlpha = 0.25 + 0.6 * weight;
      context.lineWidth = 1 + 1.5 * weight;
      context.beginPath();
      context.moveTo(frame.px(fromX), frame.py(fromY));
      context.lineTo(frame.px(x[i]), frame.py(y[i]));
      context.stroke();
    };
    for (const { i, weight } of text?.labels ?? []) line(text.x, text.y, i, this.textPoint, weight);
    // A line that leaves the picture leads nowhere.
    for (const i of selected >= 0 ? near : []) {
      if (frame.holds(x[i], y[i])) line(x[selected], y[selected], i, this.accent, 0.5);
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
  const size = Float32Array.from(map.count, (frequency) =>
    2.6 + 6.5 * ((Math.log1p(frequency) - Math.log1p(least)) / span) ** 1.5);
  const topic = map.topic ?? new Uint8Array(n);
  const byLabel = new Map(map.label.map((label, i) => [label, i]));
  const lower = map.name.map((name) => name.toLowerCase());
  return { ...map, n, x, y, size, topic, byLabel, lower, grid: new Grid(x, y) };
}
