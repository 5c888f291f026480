// Runs one piece of Python in WebAssembly, in Node, as a page's worker would.
// Usage: node in_node.mjs TASK.json; the task names the folder of Pyodide's files, archives (tar) to unpack into /book,
// folders to be seen at certain paths, and the code. Leaves with 1 if the code fails.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const task = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { loadPyodide } = await import(pathToFileURL(path.join(task.pyodide, "pyodide.mjs")));
try {
  // modules that are compiled here keep each instruction's line and not its columns: a fifth less for a page to load
  const env = { HOME: "/home/pyodide", PYTHONNODEBUGRANGES: "1", PYTHONDONTWRITEBYTECODE: "1" };
  const python = await loadPyodide({ indexURL: task.pyodide, env });
  python.runPython("import shutil");
  for (const archive of task.archives) {
    const name = "/" + path.basename(archive);
    python.FS.writeFile(name, fs.readFileSync(archive));
    python.runPython(`shutil.unpack_archive(${JSON.stringify(name)}, "/book", filter="data")`);
    python.FS.unlink(name);
  }
  for (const [place, folder] of Object.entries(task.seen)) {
    python.FS.mkdirTree(place);
    python.mountNodeFS(place, folder);
  }
  python.runPython("import sys, os; sys.path.insert(0, '/book'); os.chdir('/book')");
  await python.runPythonAsync(task.code);
} catch (error) {
  console.log(String(error.message ?? error));
  process.exitCode = 1;
}
process.exit(); // nobody waits for timers that the code has left
