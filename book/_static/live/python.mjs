// Python for a worker: from what the site serves at first, and from kept memory after that.
//
// The first start fetches, unpacks and imports. Then the memory of this Python, as it stands before
// the reader's first cell, is kept in the browser's cache, with the unpacked archives. Later starts,
// of any page, begin there. It is kept under the address of the folder, which changes with every file
// in it; a browser that keeps nothing (a private window, no room) starts as it did the first time.

import { tarFiles } from "./tar.mjs";
import { kept, keep } from "./kept.mjs";

const MEMORY = "memory";
const PACKAGE = "package.tar";
const BOOK = "/book";

// Runs in a Python that has nothing of ours yet.
const UNPACK = `
def unpack(packed, target):
    from compression.zstd import ZstdFile
    with ZstdFile(packed) as source, open(target, "wb") as out:
        while part := source.read(1 << 20):
            out.write(part)
unpack`;

/**
 * Python, with the package imported. `archives` are names of tars beside the package that are wanted too.
 * `progress(loaded, total)` hears of bytes, `broken(error)` of an error after which this Python can do no more: its stack
 * or its memory were not enough. Nobody who waits for an answer would hear of that.
 *
 * Gives { python, warm, keeping }: whether it began from kept memory; and a promise, fulfilled when all that a
 * later start can use has been kept, or could not be.
 */
export async function loadPython(base, files, archives, progress, broken) {
  const names = [PACKAGE, ...archives];
  const keeping = [];
  const [memory, ...tars] = await Promise.all([MEMORY, ...names].map((name) => kept(base, name)));
  if (memory && tars[0]) {
    try {
      const python = await remembered(base, memory, tars.filter((tar) => tar));
      python._api.on_fatal = broken;
      const missing = names.filter((_, index) => !tars[index]);
      await unpacked(python, base, fetching(base, missing.map(packed), files, progress), missing, keeping);
      return { python, warm: true, keeping: Promise.all(keeping) };
    } catch (error) {
      console.warn("starting afresh:", error);
    }
  }
  const python = await afresh(base, files, names, progress, keeping);
  python._api.on_fatal = broken;
  return { python, warm: false, keeping: Promise.all(keeping) };
}

async function remembered(base, memory, tars) {
  const { loadPyodide } = await import(base + "pyodide.mjs");
  const { default: create } = await import(base + "pyodide.asm.mjs");
  const python = await loadPyodide({
    indexURL: base,
    _loadSnapshot: memory,
    async createPyodideModule(settings) {
      const module = await create(settings);
      module.growMemory(memory.length); // it begins with less than Python had by then
      for (const tar of tars) place(module.FS, tar);
      return module;
    },
  });
  python.pyimport("in_page").resume();
  return python;
}

async function afresh(base, files, names, progress, keeping) {
  const own = ["pyodide.asm.wasm", "python_stdlib.zip"];
  const coming = fetching(base, [...names.map(packed), ...own], files, progress);
  // what Pyodide fetches itself comes from the browser's cache then
  await Promise.all(coming.splice(names.length));
  const { loadPyodide } = await import(base + "pyodide.mjs");
  const python = await loadPyodide({ indexURL: base, _makeSnapshot: true });
  await unpacked(python, base, coming, names, keeping);
  python.runPython(`
import sys
sys.path.insert(0, "${BOOK}")
import in_page
in_page.prepare()
in_page.warm()
`);
  try {
    keeping.push(keep(base, MEMORY, python.makeMemorySnapshot()));
  } catch (error) {
    console.warn("not kept:", error);
  }
  return python;
}

/** Puts the archives' files where Python finds them, and keeps the archives. */
async function unpacked(python, base, coming, names, keeping) {
  if (!names.length) return;
  const unpack = python.runPython(UNPACK);
  for (const [index, name] of names.entries()) {
    python.FS.writeFile("/packed", await coming[index]);
    unpack("/packed", "/unpacked");
    const tar = python.FS.readFile("/unpacked");
    python.FS.unlink("/packed");
    python.FS.unlink("/unpacked");
    place(python.FS, tar);
    keeping.push(keep(base, name, tar));
  }
  unpack.destroy();
}

function packed(name) {
  return `${name}.zst`;
}

/** The files of a tar in Python's file system, without a copy of what is in them. */
function place(FS, tar) {
  const folders = new Map();
  for (const { path, content } of tarFiles(tar)) {
    const cut = path.lastIndexOf("/");
    const folder = `${BOOK}/${path.slice(0, Math.max(cut, 0))}`;
    if (!folders.has(folder)) {
      FS.mkdirTree(folder);
      folders.set(folder, FS.lookupPath(folder).node);
    }
    const parent = folders.get(folder);
    const node = parent.mount.type.createNode(parent, path.slice(cut + 1), 0o100644, 0);
    node.contents = content;
    node.usedBytes = content.length;
  }
}

/** A promise for each file's bytes. */
function fetching(base, names, files, progress) {
  const total = names.reduce((sum, name) => sum + files[name], 0);
  let loaded = 0;
  const note = (more) => {
    loaded += more;
    progress(loaded, total);
  };
  const coming = names.map((name) => fetched(base + name, note));
  for (const each of coming) each.catch(() => {}); // whoever awaits it hears of it
  return coming;
}

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
