// The cells of a page run in place, at the press of a button.
//
// Nothing is loaded before that. The page's description (its cells, and where Python is) stands in
// the page as JSON, written when the site was built (book/_ext/live_cells.py).

import { keptNote } from "./kept_note.mjs";

const page = JSON.parse(document.getElementById("live-page").textContent);
const here = new URL(".", import.meta.url);
const base = new URL(page.base, here).href;

/** What a reader is told, in a place that a screen reader listens to. */
const bar = document.createElement("div");
bar.className = "live-bar";
bar.setAttribute("role", "region");
bar.setAttribute("aria-label", page.words.region);
const begin = button(page.words.begin, start);
const state = document.createElement("span");
state.className = "live-state";
state.setAttribute("role", "status");
const meter = document.createElement("progress");
meter.hidden = true;
meter.setAttribute("aria-label", page.words.loading);
const note = keptNote(base, page.words);
bar.append(begin, meter, state, note.place);

let worker = null;
let ready = null;
let running = null;
const cells = [];

function button(text, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "live-button";
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}

function say(text) {
  state.textContent = text;
}

function whyNot() {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return page.words.old;
  return "";
}

function spawn() {
  worker = new Worker(new URL("worker.mjs", here), { type: "module" });
  ready = new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data }) => {
      if (data.kind === "progress") {
        meter.hidden = false;
        meter.max = data.total;
        meter.value = data.loaded;
        say(`${page.words.loading}: ${megabytes(data.loaded)} / ${megabytes(data.total)} MB`);
      } else if (data.kind === "ready") {
        meter.hidden = true;
        bar.dataset.ready = data.seconds.toFixed(2);
        bar.dataset.warm = data.warm ? "yes" : "no";
        say(page.words.ready);
        resolve();
      } else if (data.kind === "failed") {
        reject(new Error(data.why));
        fail(data.why);
      } else if (data.kind === "broken") stop(false, page.words.broken.replace("{}", () => data.why));
      else if (data.kind === "kept") note.look(true);
      else if (running && data.id === running.id) running.hear(data);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const why = event.message || "the worker did not start";
      reject(new Error(why));
      fail(why);
    });
  });
  ready.catch(() => {});
  say(page.words.loading);
  worker.postMessage({ kind: "start", base, files: page.files });
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

function fail(why) {
  meter.hidden = true;
  stop(false);
  say(`${page.words.failed} ${why}`);
  begin.hidden = false;
  begin.textContent = page.words.again;
}

function start() {
  const why = whyNot();
  if (why) return say(why);
  begin.hidden = true;
  spawn();
  if (!cells.length) page.cells.forEach(addCell);
  for (const cell of cells) cell.forget();
  if (!document.querySelector(".live-all")) {
    const all = button(page.words.all, () => runUpTo(cells.length - 1));
    all.classList.add("live-all");
    const restart = button(page.words.restart, () => stop(true));
    bar.insertBefore(restart, meter);
    bar.insertBefore(all, restart);
  }
}

/** Ends Python, with all that cells have made. `again`: a new one begins at once. `why`: what the cell says that ran. */
function stop(again, why = page.words.stopped) {
  worker?.terminate();
  worker = null;
  if (running) running.stopped(why);
  running = null;
  for (const cell of cells) cell.forget();
  if (again) {
    say(page.words.loading);
    spawn();
  }
}

/** Runs a cell, after those before it that have not run yet. */
async function runUpTo(last) {
  delete bar.dataset.idle;
  for (let index = 0; index <= last; index += 1) {
    if (cells[index].done && index < last) continue;
    if (!(await cells[index].run())) break;
  }
  bar.dataset.idle = "yes";
}

function addCell(described) {
  const shown = described.place === null ? null : document.querySelectorAll("div.cell")[described.place];
  cells.push(shown ? shownCell(described, shown) : hiddenCell(described));
}

/** A cell that the page does not show: what others build on. */
function hiddenCell(described) {
  const cell = baseCell(() => described.source, (text) => say(text));
  return cell;
}

function baseCell(source, show) {
  const cell = {
    id: cells.length,
    done: false,
    text: "",
    forget() {
      cell.done = false;
    },
    stopped(why) {
      cell.finish?.(false);
      show(why);
    },
    hear(message) {
      if (message.kind === "print") cell.printed(message.text);
      else {
        running = null;
        cell.done = !message.result.error; // one that needs what is not here keeps nobody from going on
        bar.dataset.done = String(cells.filter((each) => each.done).length);
        cell.ended(message.result, message.seconds);
        cell.finish(cell.done);
      }
    },
    printed() {},
    ended(result) {
      if (result.error) show(result.error);
    },
    async run() {
      if (!worker) spawn();
      try {
        await ready;
      } catch {
        return false;
      }
      if (running) return false;
      running = cell;
      cell.begun?.();
      return new Promise((resolve) => {
        cell.finish = resolve;
        worker.postMessage({ kind: "run", id: cell.id, source: source() });
      });
    },
  };
  return cell;
}

function shownCell(described, place) {
  const input = place.querySelector(".cell_input");
  const recorded = place.querySelector(".cell_output");
  const tools = document.createElement("div");
  tools.className = "live-tools";
  const editor = document.createElement("textarea");
  editor.className = "live-editor";
  editor.spellcheck = false;
  editor.value = described.source;
  editor.rows = Math.min(30, described.source.split("\n").length);
  editor.setAttribute("aria-label", page.words.editor);
  editor.hidden = true;
  const output = document.createElement("div");
  output.className = "live-output";
  output.setAttribute("role", "log");
  output.hidden = true;

  const caption = document.createElement("p");
  caption.className = "live-recorded";
  caption.textContent = page.words.recorded;
  caption.hidden = true;
  recorded?.before(caption);

  const cell = baseCell(() => editor.value, (text) => write("error", text));
  const runHere = button(page.words.run, () => runUpTo(cells.indexOf(cell)));
  const edit = button(page.words.edit, () => {
    editor.hidden = !editor.hidden;
    if (!editor.hidden) editor.focus();
  });
  const halt = button(page.words.stop, () => stop(false));
  halt.hidden = true;
  tools.append(runHere, edit, halt);
  place.dataset.live = String(cell.id);
  const folded = input?.closest("details"); // its source; what it says is to be seen all the same
  (folded ?? input ?? place).after(tools, editor, output);

  editor.addEventListener("input", () => {
    for (const later of cells.slice(cells.indexOf(cell))) later.forget();
  });
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault();
      runHere.click();
    } else if (event.key === "Tab" && !event.shiftKey && editor.selectionStart !== editor.value.length) {
      event.preventDefault();
      editor.setRangeText("    ", editor.selectionStart, editor.selectionEnd, "end");
    }
  });

  function write(kind, text) {
    const block = document.createElement("pre");
    block.className = `live-${kind}`;
    block.textContent = text;
    append(block);
    return block;
  }

  function append(part) {
    output.append(part);
    output.hidden = false;
  }

  let printed = null;
  cell.begun = () => {
    output.replaceChildren();
    cell.text = "";
    printed = null;
    halt.hidden = false;
    runHere.disabled = true;
    say(page.words.running);
  };
  cell.printed = (text) => {
    printed ??= write("text", "");
    printed.append(text);
    cell.text += text;
  };
  cell.ended = (result, seconds) => {
    idle();
    if (result.error) write("error", result.error);
    if (result.absent) write("absent", whyAbsent(result));
    if (result.text) {
      cell.text += result.text + "\n";
      write("text", result.text);
    }
    const drawn = result.svg ?? result.html;
    if (drawn) {
      const frame = document.createElement("div");
      frame.className = "live-drawn";
      frame.innerHTML = drawn;
      append(frame);
    }
    caption.hidden = output.hidden || Boolean(result.absent); // two outputs: each says whose it is
    say(`${page.words.done} ${seconds.toFixed(1)} s`);
    cell.compare(result);
  };
  const stoppedBefore = cell.stopped;
  cell.stopped = (why) => {
    idle();
    stoppedBefore(why);
    say(why);
  };
  function idle() {
    halt.hidden = true;
    runHere.disabled = false;
  }
  cell.compare = (result) => {
    if (result.error || result.absent || editor.value !== described.source || !recorded) return;
    const then = [...recorded.querySelectorAll(".output.stream pre, .output.text_plain pre")]
      .map((block) => block.textContent)
      .join("");
    if (!then && !cell.text) return;
    const verdict = document.createElement("p");
    verdict.className = "live-verdict";
    const theirs = lines(then);
    const ours = lines(cell.text);
    if (theirs.join("\n") === ours.join("\n")) {
      verdict.textContent = page.words.same;
      verdict.dataset.same = "yes";
    } else {
      verdict.textContent = page.words.other;
      verdict.dataset.same = "no";
      mark(output, new Set(theirs));
    }
    output.append(verdict);
  };
  return cell;
}

/** Why a cell does not run here. */
function whyAbsent({ absent, about }) {
  return page.words.stays.replace("{}", () => page.words[absent].replace("{}", () => about));
}

function lines(text) {
  return text.split("\n").map((line) => line.trimEnd()).filter((line) => line);
}

/** Marks the lines that the recorded output does not have. */
function mark(output, known) {
  for (const block of output.querySelectorAll("pre.live-text")) {
    const parts = block.textContent.split("\n").map((line, index, all) => {
      const end = index < all.length - 1 ? "\n" : "";
      if (!line.trim() || known.has(line.trimEnd())) return document.createTextNode(line + end);
      const marked = document.createElement("mark");
      marked.textContent = line;
      const span = document.createElement("span");
      span.append(marked, end);
      return span;
    });
    block.replaceChildren(...parts);
  }
}

addEventListener("pagehide", () => worker?.terminate());
const first = document.querySelector("div.cell");
if (first && location.protocol !== "file:") { // from-a-file.js says why
  const title = document.querySelector("article.bd-article h1");
  (title ?? first).after(bar);
}
