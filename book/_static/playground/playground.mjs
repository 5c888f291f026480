// The playground's page: a terminal, a clock, nodes, owners, a timeline and events.
//
// The cluster is in worker.mjs. This file draws what it says and hands on what the reader does;
// everything that changes the cluster is a line in the terminal, so that it can be seen, done
// again, and put into an address.

import { keptNote } from "../live/kept_note.mjs";
import { makeEditor } from "./editor.mjs";
import { drawTimeline } from "./timeline.mjs";
import { makeTerminal } from "./terminal.mjs";

const page = JSON.parse(document.getElementById("playground-page").textContent);
const here = new URL(".", import.meta.url);
const base = new URL(page.base, here).href;
const words = page.words;
const root = document.getElementById("playground");

let worker = null;
let speed = 1;
let paused = false;
let questions = 0;
let latest = null;
const waiting = new Map();

// -- pieces -----------------------------------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function button(text, action, attributes = {}) {
  return element("button", { type: "button", class: "play-button", onclick: action, ...attributes }, text);
}

function section(title, id, ...children) {
  const heading = element("h3", { id, class: "play-title" }, title);
  return element("section", { class: `play-section play-section-${id}`, "aria-labelledby": id }, heading, ...children);
}

function chapter(path, text) {
  return element("a", { href: `${path}.html` }, text);
}

/** The children of a list, one for each item: what is there stays, so focus is not lost. */
function keyed(parent, items, key, make, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let before = null;
  for (const item of items) {
    const name = key(item);
    const child = old.get(name) ?? make(item);
    child.dataset.key = name;
    old.delete(name);
    update(child, item);
    const place = before ? before.nextElementSibling : parent.firstElementChild;
    if (place !== child) parent.insertBefore(child, place);
    before = child;
  }
  for (const gone of old.values()) gone.remove();
}

// -- what is on the page ----------------------------------------------------------------------

const state = element("span", { role: "status", class: "play-state" });
const meter = element("progress", { "aria-label": words.loading, hidden: true });
const begin = button(words.begin, () => start(), { class: "play-button play-begin" });
const bar = element("div", { class: "play-bar" }, begin, meter, state);

const note = keptNote(base, words);

const clock = element("output", { class: "play-clock", "aria-label": words.clock }, "0.0 s");
const pause = button(words.pause, () => setPaused(!paused), { "aria-pressed": "false" });
const speeds = element(
  "select",
  { class: "play-select", onchange: () => setSpeed(Number(speeds.value)) },
  ...page.speeds.map((each) => element("option", { value: each }, `${each}×`)),
);
const controls = element(
  "div",
  { class: "play-bar", role: "group", "aria-label": words.time },
  clock,
  pause,
  element("label", {}, `${words.speed} `, speeds),
  button(words.next, () => send({ kind: "next" }), { title: words.nextTitle }),
  button(words.second, () => send({ kind: "advance", seconds: 1 })),
  button(words.minute, () => send({ kind: "advance", seconds: 60 })),
  button(words.share, share),
  button(words.afresh, () => start()),
);

const terminal = makeTerminal(words, {
  type: (line) => type(line),
  interrupt: () => send({ kind: "interrupt" }),
  complete: (line) => ask({ kind: "complete", line }),
  edit: (text) => editor.open(text),
});
const editor = makeEditor(words, page.longestText, { type: (line) => type(line), closed: () => terminal.focus() });

const breaks = element("div", { class: "play-bar", role: "group", "aria-label": words.breakTitle });
for (const each of page.breaks) {
  breaks.append(button(each.title, () => type(each.line), { title: each.line }));
}
const parts = element("div", { class: "play-bar", role: "group", "aria-label": words.partsTitle });

const nodes = element("ul", { class: "play-nodes" });
const tree = element("ul", { class: "play-tree" });
const timeline = element("div", { class: "play-timeline" });
const events = element("ol", { class: "play-events", role: "log", tabindex: "0", "aria-label": words.events });

const stage = element(
  "div",
  { class: "play-stage", hidden: true },
  controls,
  section(words.terminal, "terminal", terminal.place),
  section(words.breakTitle, "breaks", breaks, parts),
  section(words.nodes, "nodes", nodes),
  section(words.tree, "tree", tree),
  section(words.timeline, "timeline", timeline),
  section(words.events, "events", events),
);
if (location.protocol !== "file:") root.replaceChildren(bar, stage, note.place, editor.place);

// -- the worker -------------------------------------------------------------------------------

function send(message) {
  worker?.postMessage(message);
}

function ask(message) {
  questions += 1;
  const id = questions;
  send({ ...message, id });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function type(line) {
  send({ kind: "type", line });
}

function whyNot() {
  if (location.protocol === "file:") return words.static;
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return words.old;
  return "";
}

function start() {
  const why = whyNot();
  if (why) {
    state.textContent = why;
    return;
  }
  worker?.terminate();
  waiting.clear();
  delete root.dataset.ready;
  begin.hidden = true;
  terminal.clear();
  events.replaceChildren();
  for (const place of [nodes, tree, timeline, parts]) place.replaceChildren();
  const scenario = location.hash.slice(1);
  const asked = new URLSearchParams(scenario).get("speed");
  worker = new Worker(new URL("worker.mjs", here), { type: "module" });
  worker.addEventListener("message", ({ data }) => hear[data.kind](data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    hear.failed({ why: event.message || words.noWorker });
  });
  send({ kind: "start", base, files: page.files, scenario });
  const wanted = Number(asked ?? 1);
  setPaused(wanted === 0);
  setSpeed(wanted || 1);
}

const hear = {
  progress({ loaded, total }) {
    meter.hidden = false;
    meter.max = total;
    meter.value = loaded;
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    state.textContent = `${words.loading}: ${megabytes(loaded)} / ${megabytes(total)} MB`;
  },
  ready({ seconds }) {
    meter.hidden = true;
    root.dataset.ready = seconds.toFixed(2);
    stage.hidden = false;
    state.textContent = words.ready;
    terminal.focus();
  },
  kept() {
    note.look(true);
  },
  news({ news }) {
    draw(news);
  },
  answer({ id, value }) {
    waiting.get(id)?.(value);
    waiting.delete(id);
  },
  failed({ why }) {
    meter.hidden = true;
    state.textContent = `${words.failed} ${why}`;
    worker?.terminate();
    worker = null;
    begin.hidden = false;
    begin.textContent = words.again;
  },
};

function setPaused(now) {
  paused = now;
  pause.setAttribute("aria-pressed", String(paused));
  pause.textContent = paused ? words.play : words.pause;
  send({ kind: "speed", speed: paused ? 0 : speed });
}

function setSpeed(wanted) {
  if (!page.speeds.includes(wanted)) {
    page.speeds.push(wanted);
    speeds.append(element("option", { value: wanted }, `${wanted}×`));
  }
  speed = wanted;
  speeds.value = String(wanted);
  send({ kind: "speed", speed: paused ? 0 : speed });
}

async function share() {
  const hash = await ask({ kind: "address", speed: paused ? 0 : speed });
  if (!hash) {
    state.textContent = words.tooLongToShare;
    return;
  }
  history.replaceState(null, "", `#${hash}`);
  try {
    await navigator.clipboard.writeText(location.href);
    state.textContent = words.shared;
  } catch {
    state.textContent = words.sharedNoClipboard;
  }
}

// -- drawing ----------------------------------------------------------------------------------

function draw(news) {
  clock.textContent = `${news.now.toFixed(1)} s`;
  root.dataset.now = news.now.toFixed(3);
  root.dataset.left = String(news.left);
  for (const said of news.said) terminal.hear(said);
  terminal.running(news.running);
  for (const event of news.events) addEvent(event);
  if (news.picture) {
    latest = news.picture;
    drawParts();
    drawNodes();
    drawTree();
  }
  if (latest) drawTimeline(timeline, latest.pods, news.now, words);
}

function drawParts() {
  const broken = new Set(latest.broken);
  const all = Object.entries(latest.parts)
    .filter(([kind]) => kind !== "node")
    .flatMap(([kind, names]) => names.map((name) => ({ kind, name })));
  keyed(
    parts,
    all.filter(({ kind, name }) => kind === "component" || name.startsWith("kube-")),
    ({ kind, name }) => `${kind} ${name}`,
    ({ kind, name }) => {
      const made = button("", () => {
        type(`${made.getAttribute("aria-pressed") === "true" ? "mend" : "break"} ${kind} ${name}`);
      });
      return made;
    },
    (made, { kind, name }) => {
      const isBroken = broken.has(`${kind} ${name}`);
      made.setAttribute("aria-pressed", String(isBroken));
      const say = words[kind === "link" ? (isBroken ? "mendLink" : "breakLink") : isBroken ? "mendComponent" : "breakComponent"];
      made.textContent = say.replace("{}", name);
    },
  );
}

function drawNodes() {
  const broken = new Set(latest.broken);
  const pods = latest.objects.filter((each) => each.kind === "Pod");
  keyed(
    nodes,
    latest.nodes,
    (node) => node.name,
    (node) => {
      const head = element("div", { class: "play-node-head" }, chapter(node.chapter, node.name), element("span"));
      const acts = element("div", { class: "play-bar" });
      for (const kind of ["node", "link"]) {
        const act = button("", () => {
          type(`${act.getAttribute("aria-pressed") === "true" ? "mend" : "break"} ${kind} ${node.name}`);
        });
        act.dataset.kind = kind;
        acts.append(act);
      }
      return element("li", { class: "play-node" }, head, element("ul", { class: "play-pods" }), acts);
    },
    (card, node) => {
      card.dataset.status = node.status;
      card.querySelector("span").textContent = node.status;
      card.querySelector("span").title = node.taints.join(", ");
      for (const act of card.querySelectorAll("button")) {
        const { kind } = act.dataset;
        const isBroken = broken.has(`${kind} ${node.name}`);
        act.setAttribute("aria-pressed", String(isBroken));
        const say = kind === "node" ? (isBroken ? words.mendNode : words.breakNode) : isBroken ? words.mendLine : words.breakLine;
        act.textContent = say;
        act.setAttribute("aria-label", `${say}: ${node.name}`);
      }
      keyed(
        card.querySelector(".play-pods"),
        pods.filter((pod) => pod.node === node.name),
        (pod) => pod.uid,
        () => element("li", { class: "play-pod" }),
        (box, pod) => {
          box.dataset.looks = pod.looks;
          box.textContent = `${pod.name} – ${pod.summary}`;
        },
      );
    },
  );
}

function drawTree() {
  const known = new Set(latest.objects.map((each) => each.uid));
  const below = new Map();
  for (const each of latest.objects) {
    const owner = known.has(each.owner) ? each.owner : "";
    below.set(owner, [...(below.get(owner) ?? []), each]);
  }
  const level = (list, owner) => {
    keyed(
      list,
      below.get(owner) ?? [],
      (each) => each.uid,
      (each) =>
        element(
          "li",
          {},
          element("span", { class: "play-object" }, chapter(each.chapter, each.kind), element("b"), element("span", { class: "play-summary" })),
          element("ul"),
        ),
      (item, each) => {
        const line = item.firstElementChild;
        line.dataset.looks = each.looks;
        line.querySelector("b").textContent = ` ${each.name} `;
        line.querySelector(".play-summary").textContent = each.summary;
        level(item.lastElementChild, each.uid);
        item.lastElementChild.hidden = !item.lastElementChild.children.length;
      },
    );
  };
  level(tree, "");
}

function addEvent(event) {
  const times = event.count > 1 ? ` (×${event.count})` : "";
  const line = element(
    "li",
    { class: event.type === "Warning" ? "play-warning" : "" },
    element("span", { class: "play-at" }, `${event.at.toFixed(1)} s `),
    event.type === "Warning" ? `${event.type} ` : "",
    chapter(event.chapter, event.reason),
    ` ${event.about}: ${event.message}${times} `,
    element("span", { class: "play-by" }, event.by),
  );
  const low = events.scrollHeight - events.scrollTop - events.clientHeight < 40;
  events.append(line);
  while (events.children.length > 300) events.firstElementChild.remove();
  if (low) events.scrollTop = events.scrollHeight;
}

addEventListener("pagehide", () => worker?.terminate());
// a lesson's address, or one that was handed on: opening it is asking for a cluster
addEventListener("hashchange", () => {
  if (worker || new URLSearchParams(location.hash.slice(1)).has("do")) start();
});
for (const lesson of document.querySelectorAll("a.play-lesson")) {
  lesson.addEventListener("click", () => {
    root.scrollIntoView();
    if (lesson.hash === location.hash) start();
  });
}
