// The playground's cluster, in a worker: time passes here, and news goes to the page.
//
// Hears {kind: "start", base, files, scenario}, {kind: "speed", speed}, {kind: "advance", seconds},
// {kind: "next"}, {kind: "type", line}, {kind: "interrupt"}, {kind: "complete", id, line} and
// {kind: "address", id, speed}.
// Says {kind: "progress", loaded, total}, {kind: "ready", seconds}, {kind: "news", news, idle},
// {kind: "answer", id, value}, {kind: "kept"} and {kind: "failed", why}.

import { loadPython } from "../live/python.mjs";

const TICK = 60; // milliseconds
const LONGEST_TICK = 250; // a page that slept does not make up for it

let playground;
let speed = 0;
let last = 0;

async function start({ base, files, scenario }) {
  const began = performance.now();
  const { python, keeping } = await loadPython(
    base,
    files,
    [],
    (loaded, total) => postMessage({ kind: "progress", loaded, total }),
    failed,
  );
  python.globals.set("scenario", scenario);
  playground = python.runPython(`
import os
from pathlib import Path
from lifecycle.playground.playground import Playground
from lifecycle.playground.scenario import parse_scenario
home = Path("/home/reader")
home.mkdir(parents=True, exist_ok=True)
os.chdir(home)
Playground(parse_scenario(scenario), home)
`);
  postMessage({ kind: "ready", seconds: (performance.now() - began) / 1000 });
  keeping.then(() => postMessage({ kind: "kept" }));
  tell(0);
  tick();
}

function tell(took) {
  postMessage({ kind: "news", news: JSON.parse(playground.news()), took });
}

function tick() {
  const now = performance.now();
  if (speed > 0) {
    const seconds = (Math.min(now - last, LONGEST_TICK) / 1000) * speed;
    try {
      playground.advance(seconds);
      tell(performance.now() - now);
    } catch (error) {
      return failed(error);
    }
  }
  last = now;
  setTimeout(tick, TICK);
}

const heard = {
  start,
  speed(data) {
    speed = data.speed;
  },
  advance({ seconds }) {
    playground.advance(seconds);
    tell(0);
  },
  next() {
    playground.to_next_change();
    tell(0);
  },
  type({ line }) {
    playground.enter(line);
    tell(0);
  },
  interrupt() {
    playground.interrupt();
    tell(0);
  },
  complete({ id, line }) {
    postMessage({ kind: "answer", id, value: JSON.parse(playground.complete(line)) });
  },
  address({ id, speed: asked }) {
    postMessage({ kind: "answer", id, value: playground.address(asked) });
  },
};

function failed(error) {
  const lines = String(error.message ?? error).trim().split("\n");
  postMessage({ kind: "failed", why: lines[lines.length - 1] });
}

addEventListener("message", async ({ data }) => {
  try {
    await heard[data.kind](data);
  } catch (error) {
    failed(error);
  }
});
