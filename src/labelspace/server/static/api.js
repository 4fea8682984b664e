// The server's API, as the page uses it. Whatever is refused becomes an Error with its sentence.

// Of several models on one server each has its own addresses.
let base = "";
export const use = (name) => {
  base = `/models/${encodeURIComponent(name)}`;
};

async function answered(response) {
  if (response.ok) return response.json();
  let sentence = `The server answered ${response.status}.`;
  try {
    sentence = (await response.json()).error ?? sentence;
  } catch { /* not from our server */ }
  const error = new Error(sentence);
  error.status = response.status;
  error.retrySeconds = Number(response.headers.get("Retry-After") ?? 1);
  throw error;
}

async function fetched(path, options) {
  try {
    return await fetch(path.startsWith("/v1/models") ? path : base + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached: is it still running?");
  }
}

const asked = async (path, options) => answered(await fetched(path, options));

async function answeredWell(path, options) {
  const response = await fetched(path, options);
  return response.ok ? response : answered(response);
}

function posted(path, body, { headers = {}, signal } = {}) {
  return asked(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
}

export const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
export const models = () => asked("/v1/models");
export const model = () => asked("/v1/model");
export const tag = (body, signal) => posted("/v1/tag", body, { signal });
export const labelMap = () => asked("/v1/map?limit=100000");
export const findLabels = (query, limit, signal) =>
  asked(`/v1/labels?${new URLSearchParams({ q: query, limit })}`, { signal });
const allowed = (token) => ({ headers: { Authorization: `Bearer ${token}` } });
export const learn = (rows, token, preview = false) =>
  posted("/v1/learn", { rows, preview }, allowed(token));
export const lessons = (token) => asked("/v1/lessons", allowed(token));
export const undoLesson = (token) => asked("/v1/lessons/undo", { method: "POST", ...allowed(token) });
export const queues = (token) => asked("/v1/review", allowed(token));
export const beginReview = (name, rows, token) => posted("/v1/review", { name, rows }, allowed(token));
export const reviewQueue = (queue, token, after = 0) =>
  asked(`/v1/review/${queue}?after=${after}`, allowed(token));
export const markReview = (queue, marks, after, token) =>
  posted(`/v1/review/${queue}/marks`, { marks, after }, allowed(token));
export const exportReview = async (queue, token) =>
  (await answeredWell(`/v1/review/${queue}/rows`, allowed(token))).text();

// A file as a table: lines of JSON, what it is and then its rows.
export async function readTable(file, signal) {
  const response = await answeredWell(`/v1/table?${new URLSearchParams({ name: file.name })}`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
    signal,
  });
  return response.text();
}

// Rows of cells as an Excel file.
export async function workbook(rows) {
  const response = await answeredWell("/v1/workbook", {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: rows.map((row) => JSON.stringify(row)).join("\n"),
  });
  return response.blob();
}

// Tags many rows; a full server is asked again when it says so.
export async function tagBatch(rows, signal) {
  const body = rows.map((row) => JSON.stringify(row)).join("\n");
  for (;;) {
    const response = await fetched("/v1/tag/batch", {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson" },
      body,
      signal,
    });
    if (response.ok) {
      const lines = (await response.text()).split("\n").filter((line) => line);
      return lines.map((line) => JSON.parse(line));
    }
    try {
      await answered(response);
    } catch (error) {
      if (error.status !== 429) throw error;
      await pause(error.retrySeconds);
    }
  }
}
