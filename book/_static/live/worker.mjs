// Python in a worker: fetches what the site serves, then runs one cell after the other.
//
// Our own and no JupyterLite: a page needs one namespace and a way to run a cell, not a second
// notebook server with kernels, a file browser and a service worker; this is a hundredth of it.
//
// Hears {kind: "start", base, files} and {kind: "run", id, source}.
// Says {kind: "progress", loaded, total}, {kind: "ready", warm, seconds}, {kind: "print", id, text},
// {kind: "done", id, result, seconds}, {kind: "kept"}, {kind: "failed", why} and, when Python itself
// has broken down, {kind: "broken", why}.

import { loadPython } from "./python.mjs";

let runCell;

async function start({ base, files }) {
  const began = performance.now();
  const { python, warm, keeping } = await loadPython(
    base,
    files,
    ["recordings.tar"],
    (loaded, total) => postMessage({ kind: "progress", loaded, total }),
    (error) => postMessage({ kind: "broken", why: String(error.message ?? error) }),
  );
  runCell = python.pyimport("in_page").run;
  postMessage({ kind: "ready", warm, seconds: (performance.now() - began) / 1000 });
  keeping.then(() => postMessage({ kind: "kept" }));
}

async function run({ id, source }) {
  const began = performance.now();
  const result = await runCell(source, (text) => postMessage({ kind: "print", id, text }));
  const plain = result.toJs({ dict_converter: Object.fromEntries });
  result.destroy();
  postMessage({ kind: "done", id, result: plain, seconds: (performance.now() - began) / 1000 });
}

let turn = Promise.resolve();
addEventListener("message", ({ data }) => {
  turn = turn
    .then(() => (data.kind === "start" ? start(data) : run(data)))
    .catch((error) => postMessage({ kind: "failed", why: String(error.message ?? error) }));
});
