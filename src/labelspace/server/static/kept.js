// What the File view is doing, kept in the browser's own database: a reload does not lose it.

const STORE = "job";

function opened() {
  return new Promise((done, fail) => {
    const asked = indexedDB.open("labelspace", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(STORE);
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => fail(asked.error);
  });
}

async function inStore(mode, work) {
  try {
    const database = await opened();
    return await new Promise((done, fail) => {
      const turn = database.transaction(STORE, mode);
      const asked = work(turn.objectStore(STORE));
      turn.oncomplete = () => {
        database.close();
        done(asked?.result);
      };
      turn.onerror = () => fail(turn.error);
    });
  } catch {
    return undefined; // a browser that keeps nothing: the page works, it only forgets
  }
}

export const forgetJob = () => inStore("readwrite", (store) => store.clear());

export const keepJob = ({ name, table, chosen, shown }) =>
  inStore("readwrite", (store) => {
    store.clear();
    return store.put({ name, table, chosen, shown }, "job");
  });

// Answers by the row that they begin with, written once each.
export const keepAnswers = (first, answers) =>
  inStore("readwrite", (store) => store.put(answers, first));

export async function keptJob() {
  const job = await inStore("readonly", (store) => store.get("job"));
  if (!job) return null;
  const keys = (await inStore("readonly", (store) => store.getAllKeys())).filter((key) => key !== "job");
  const answers = [];
  for (const key of keys.sort((one, other) => one - other)) {
    if (key !== answers.length) break;
    answers.push(...(await inStore("readonly", (store) => store.get(key))));
  }
  return { ...job, answers };
}
