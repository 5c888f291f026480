// Python in a worker: fetches what the site serves, then runs one cell after the other.
//
// Our own and no JupyterLite: a page needs one namespace and a way to run a cell, not a second
// notebook server with kernels, a file browser and a service worker; this is a hundredth of it.
//
// Hears {kind: "start", base, files} and {kind: "run", id, source}.
// Says {kind: "progress", loaded, total}, {kind: "ready", seconds}, {kind: "print", id, text},
// {kind: "done", id, result, seconds} and {kind: "failed", why}.

let python;
let runCell;

async function fetched(url, note) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const reader = answer.body.getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    note(value.length);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function start({ base, files }) {
  const began = performance.now();
  const total = Object.values(files).reduce((sum, size) => sum + size, 0);
  let loaded = 0;
  const note = (more) => {
    loaded += more;
    postMessage({ kind: "progress", loaded, total });
  };
  const archives = ["package.tar.xz", "recordings.tar.xz"];
  const fetching = archives.map((name) => fetched(base + name, note));
  // what Pyodide fetches itself comes from the browser's cache then
  const own = ["pyodide.asm.wasm", "python_stdlib.zip"].map((name) => fetched(base + name, note));
  await Promise.all(own);
  const { loadPyodide } = await import(base + "pyodide.mjs");
  python = await loadPyodide({ indexURL: base });
  python.runPython("import shutil, sys");
  for (const [index, name] of archives.entries()) {
    python.FS.writeFile("/" + name, await fetching[index]);
    python.runPython(`shutil.unpack_archive("/${name}", "/book", filter="fully_trusted")`); // our own
    python.FS.unlink("/" + name);
  }
  python.runPython("sys.path.insert(0, '/book'); import in_page; in_page.prepare()");
  runCell = python.pyimport("in_page").run;
  postMessage({ kind: "ready", seconds: (performance.now() - began) / 1000 });
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
