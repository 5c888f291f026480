"""A page's cells in the page: how long a reader waits, what is loaded, and how much memory it takes.

In a real Chromium, over a loopback server, with the site that `make book` built. *Cold* is a browser that was never here;
*warm* is one that was started again, with what it kept. Each figure ends when the first cell's answer stands in the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import http.server
import os
import shutil
import statistics
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selenium import webdriver

from benchmarks.measure import Result

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PAGE = "book/control-loops/deployments.html"
RUNS = 3
PATIENCE = 300

FIRST_CELL = """
const done = arguments[arguments.length - 1];
const begin = performance.now();
document.querySelector('.live-bar button').click();
const bar = document.querySelector('.live-bar');
document.querySelector('[data-live] .live-tools button').click();
new MutationObserver(() => bar.dataset.idle && done({
  seconds: (performance.now() - begin) / 1000, ready: Number(bar.dataset.ready ?? 0), warm: bar.dataset.warm,
  state: document.querySelector('.live-state').textContent,
  errors: [...document.querySelectorAll('.live-error')].map((each) => each.textContent),
})).observe(bar, {attributes: true});
"""
"""Press *Run this page here*, and *Run* at the first cell that is shown; until it has answered."""

THREE_PODS = """
import time

from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import rehearse


async def three(cluster):
    client, labels = cluster.client("reader"), {"app": "nginx"}
    containers = [{"name": "nginx", "image": "nginx"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    began = time.perf_counter()
    await client.create(
        resource("deployments.apps"), {"metadata": {"name": "nginx"}, "spec": spec}, "default"
    )
    while sum(p["status"].get("phase") == "Running" for p in await cluster.items("pods")) < 3:
        await asyncio.sleep(0.05)
    return time.perf_counter() - began


import asyncio

print(rehearse(three))
"""

RUN_OTHER = """
const [source, done] = arguments;
const place = document.querySelector('[data-live]');
const editor = place.querySelector('.live-editor');
editor.value = source;
editor.dispatchEvent(new Event('input'));
const bar = document.querySelector('.live-bar');
place.querySelector('.live-tools button').click();
new MutationObserver(() => bar.dataset.idle && done(place.querySelector('.live-output').textContent))
  .observe(bar, {attributes: true});
"""

KEPT = """
const done = arguments[arguments.length - 1];
const look = async () => {
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys())
      if (request.url.endsWith('/memory')) return done(true);
  setTimeout(look, 50);
};
look();
"""

ON_DISK = """
const done = arguments[arguments.length - 1];
navigator.storage.estimate().then((all) => done(all.usage));
"""

MEMORY = """
const done = arguments[arguments.length - 1];
performance.measureUserAgentSpecificMemory().then((all) => done(all.bytes), (error) => done(String(error)));
"""


class Counting(http.server.SimpleHTTPRequestHandler):
    """Serves files, says how many bytes each was, and lets a page measure its memory."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, served: dict[str, int], **named: Any) -> None:
        self.served = served
        super().__init__(*args, **named)

    def end_headers(self) -> None:
        """A page that shares nothing with others may ask for its memory."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """A file whose bytes go out."""
        path = self.translate_path(self.path)
        self.served[path] = self.served.get(path, 0) + os.path.getsize(path)
        super().copyfile(source, outputfile)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """The address, and the bytes that went out, by file."""
    served: dict[str, int] = {}
    handler = functools.partial(Counting, directory=str(folder), served=served)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """A Chromium without a window. Raises RuntimeError if there is none."""
    binary, driver_binary = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver_binary:
        raise RuntimeError("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_binary))
    driver.set_script_timeout(PATIENCE)
    assert not isinstance(driver.command_executor, str)
    driver.command_executor.client_config.timeout = PATIENCE + 10
    try:
        yield driver
    finally:
        driver.quit()


def processor_seconds(parent: int) -> float:
    """What a process's living descendants have used of the processors, in seconds. Needs Linux."""
    children: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            pid = int(stat.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            used[pid] = int(fields[11]) + int(fields[12])
    below, ticks = [parent], 0
    while below:
        pid = below.pop()
        ticks += used.get(pid, 0)
        below += children.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def first_cell(driver: webdriver.Chrome, address: str) -> dict[str, Any]:
    """What a reader's first press costs: `seconds`, `ready` seconds, whether `warm`, and seconds of `processor`."""
    driver.get(address)
    parent = driver.service.process.pid
    before = processor_seconds(parent)
    figures: dict[str, Any] = driver.execute_async_script(FIRST_CELL)
    if not figures["ready"]:
        raise RuntimeError(f"Python did not start: {figures['state']}")
    strange = [error for error in figures["errors"] if error and "no build for a browser tab" not in error]
    if strange:
        raise RuntimeError(f"the first cell failed: {strange[0]}")
    return {**figures, "processor": processor_seconds(parent) - before}


def measure(site: Path) -> dict[str, Any]:
    """One reader: the first visit, the next day, and a look at the cluster."""
    with tempfile.TemporaryDirectory() as profile, serving(site) as (url, served):
        with browser(Path(profile)) as driver:
            cold = first_cell(driver, url + PAGE)
            loaded = {path: size for path, size in served.items() if "/tab-" in path}
            driver.execute_async_script(KEPT)
        with browser(Path(profile)) as driver:
            warm = first_cell(driver, url + PAGE)
            if warm["warm"] != "yes":
                raise RuntimeError("the browser kept nothing")
            pods = float(driver.execute_async_script(RUN_OTHER, THREE_PODS))
            memory = driver.execute_async_script(MEMORY)
            kept = driver.execute_async_script(ON_DISK)
    short = sum(min(size, len(gzip.compress(Path(path).read_bytes(), 6))) for path, size in loaded.items())
    return {
        "cold": cold["seconds"],
        "cold, processor": cold["processor"],
        "warm": warm["seconds"],
        "warm, processor": warm["processor"],
        "warm, ready": warm["ready"],
        "pods": pods,
        "bytes": sum(loaded.values()) / 1e6,
        "compressed": short / 1e6,
        "memory": float(memory) / 1e6,
        "kept": float(kept) / 1e6,
    }


FIGURES = (
    ("cold", "live page: first cell, cold", "s", 6),
    ("cold, processor", "live page: first cell, cold, processor time", "s", None),
    ("warm", "live page: first cell, warm", "s", 2.5),
    ("warm, processor", "live page: first cell, warm, processor time", "s", None),
    ("warm, ready", "live page: Python ready, warm", "s", None),
    ("pods", "live page: create to 3 pods Running", "s", 0.3),
    ("bytes", "live page: loaded", "MB", 25),
    ("compressed", "live page: loaded, compressed", "MB", 15),
    ("memory", "live page: memory", "MB", 400),
    ("kept", "live page: kept by the browser", "MB", None),
)


async def run() -> list[Result]:
    """The same reader, three times."""
    if not (SITE / PAGE).exists():
        raise RuntimeError("the site is not built: run `make book`")
    readers = [await asyncio.to_thread(measure, SITE) for _ in range(RUNS)]
    results = []
    for key, name, unit, goal in FIGURES:
        samples = [reader[key] for reader in readers]
        results.append(Result(name, unit, statistics.median(samples), goal, samples=samples, note=PAGE))
    return results
