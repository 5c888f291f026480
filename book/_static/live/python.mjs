// Python for a worker: fetches what the site serves, and unpacks the book's package.

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

/** Python, ready to import what the archives hold. `progress(loaded, total)` hears of bytes. */
export async function loadPython(base, files, archives, progress) {
  const own = ["pyodide.asm.wasm", "python_stdlib.zip"];
  const total = [...own, ...archives].reduce((sum, name) => sum + files[name], 0);
  let loaded = 0;
  const note = (more) => {
    loaded += more;
    progress(loaded, total);
  };
  const fetching = archives.map((name) => fetched(base + name, note));
  // what Pyodide fetches itself comes from the browser's cache then
  await Promise.all(own.map((name) => fetched(base + name, note)));
  const { loadPyodide } = await import(base + "pyodide.mjs");
  const python = await loadPyodide({ indexURL: base });
  python.runPython("import shutil, sys");
  for (const [index, name] of archives.entries()) {
    python.FS.writeFile("/" + name, await fetching[index]);
    python.runPython(`shutil.unpack_archive("/${name}", "/book", filter="fully_trusted")`); // our own
    python.FS.unlink("/" + name);
  }
  python.runPython("sys.path.insert(0, '/book')");
  return python;
}
