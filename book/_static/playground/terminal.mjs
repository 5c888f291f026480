// A terminal: what was printed, and a line to type. History with the arrow keys, completion with
// Tab, Ctrl-C, Ctrl-L. Several lines are written in the editor: the line is one line long.

export function makeTerminal(words, act) {
  const screen = document.createElement("div");
  screen.className = "play-screen";
  screen.setAttribute("role", "log");
  screen.setAttribute("aria-label", words.output);
  screen.tabIndex = 0;

  const label = document.createElement("label");
  label.className = "play-prompt";
  label.textContent = "$";
  const line = document.createElement("input");
  line.className = "play-line";
  line.setAttribute("aria-label", words.line);
  line.autocapitalize = "none";
  line.autocomplete = "off";
  line.spellcheck = false;
  label.append(line);

  const run = document.createElement("button");
  run.type = "submit";
  run.className = "play-button";
  run.textContent = words.run;
  const stop = document.createElement("button");
  stop.type = "button";
  stop.className = "play-button";
  stop.textContent = words.stop;
  stop.disabled = true;
  stop.addEventListener("click", () => act.interrupt());

  const edit = document.createElement("button");
  edit.type = "button";
  edit.className = "play-button";
  edit.textContent = words.edit;
  edit.addEventListener("click", () => act.edit());

  const form = document.createElement("form");
  form.className = "play-form";
  form.append(label, run, stop, edit);
  const place = document.createElement("div");
  place.append(screen, form);

  const typed = [];
  let at = 0;
  let draft = "";

  function write(kind, text) {
    const last = screen.lastElementChild;
    const low = screen.scrollHeight - screen.scrollTop - screen.clientHeight < 40;
    if (last && last.dataset.kind === kind && kind !== "in") last.append(text);
    else {
      const block = document.createElement("pre");
      block.dataset.kind = kind;
      block.textContent = kind === "in" ? `$ ${text}` : text;
      screen.append(block);
    }
    while (screen.children.length > 400) screen.firstElementChild.remove();
    if (low) screen.scrollTop = screen.scrollHeight;
  }

  function clear() {
    screen.replaceChildren();
  }

  function recall(step) {
    if (at === typed.length) draft = line.value;
    at = Math.max(0, Math.min(typed.length, at + step));
    line.value = at === typed.length ? draft : typed[at];
    line.setSelectionRange(line.value.length, line.value.length);
  }

  async function complete() {
    const before = line.value;
    const found = await act.complete(before);
    if (line.value !== before || !found.length) return;
    const start = before.slice(0, before.lastIndexOf(" ") + 1);
    let common = found[0];
    while (!found.every((word) => word.startsWith(common))) common = common.slice(0, -1);
    line.value = start + common + (found.length === 1 && !/[/=]$/.test(common) ? " " : "");
    if (found.length > 1) write("out", `${found.join("  ")}\n`);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = line.value.trim();
    line.value = "";
    draft = "";
    if (!text) return;
    if (typed[typed.length - 1] !== text) typed.push(text);
    at = typed.length;
    if (text === "clear") clear();
    else if (text === "edit") act.edit();
    else act.type(text);
  });
  line.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text").trim();
    if (!text.includes("\n")) return;
    event.preventDefault(); // the line would drop the ends of lines
    if (/^.*<<-?\s*['"]?\w+['"]?\s*\n/.test(text)) act.type(text);
    else act.edit(text);
  });
  line.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      recall(event.key === "ArrowUp" ? -1 : 1);
    } else if (event.key === "Tab" && !event.shiftKey && line.value) {
      event.preventDefault(); // an empty line lets the key go on to the next thing on the page
      complete();
    } else if (event.ctrlKey && event.key === "c" && line.selectionStart === line.selectionEnd) {
      event.preventDefault();
      act.interrupt();
    } else if (event.ctrlKey && event.key === "l") {
      event.preventDefault();
      clear();
    }
  });

  return {
    place,
    clear,
    focus: () => line.focus({ preventScroll: true }),
    hear({ kind, text }) {
      if (kind === "end") return;
      if (kind === "in" && !text.includes("\n") && typed[typed.length - 1] !== text) {
        typed.push(text);
        at = typed.length;
      }
      write(kind, text);
    },
    running(count) {
      stop.disabled = count === 0;
      place.dataset.running = String(count);
    },
  };
}
