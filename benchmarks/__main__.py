"""`python -m benchmarks [NAME…]`: run the measurements, write `results/results.json` and a picture.

Each figure is kept with the day on which it was measured.

Names: starting, journey, requests, beside_real (needs `KUBE_BIN`), fanout, services, curves, scale, scheduling, building, linux (real
containers: needs root), live_page (a Chromium and the built site). Without a name, all of them but what takes most of an hour: largest.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import Result
from benchmarks.picture import draw

NAMES = (
    "starting",
    "journey",
    "requests",
    "beside_real",
    "fanout",
    "services",
    "curves",
    "scale",
    "scheduling",
    "building",
    "linux",
    "live_page",
)
ONLY_BY_NAME = ("largest",)
RESULTS = Path(__file__).resolve().parent / "results"


async def measure(names: list[str]) -> list[Result]:
    """Run them one after another: they share the machine."""
    results: list[Result] = []
    for name in names:
        print(f"measuring {name} …", flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        found = await module.run()
        for result in found:
            goal = f"   (goal {result.goal:g})" if result.goal is not None else ""
            print(f"  {result.name:<48} {result.value:>10.4g} {result.unit}{goal}", flush=True)
        results += found
    return results


def main() -> None:
    """Measure, keep the figures of measurements not run this time, draw."""
    names = sys.argv[1:] or list(NAMES)
    known = (*NAMES, *ONLY_BY_NAME)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"benchmarks: no measurement called {', '.join(unknown)}; there are {', '.join(known)}")
    results = asyncio.run(measure(names))
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / "results.json"
    kept = json.loads(file.read_text())["results"] if file.exists() else []
    fresh = {result.name for result in results}
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    every = [entry for entry in kept if entry["name"] not in fresh]
    every += [{**result.to_dict(), "when": today} for result in results]
    document = {
        "machine": {"cpus": os.cpu_count(), "python": platform.python_version(), "system": platform.system()},
        "results": every,
    }
    file.write_text(json.dumps(document, indent=1) + "\n")
    draw(every, RESULTS / "results.png")
    print(f"written: {file} and {RESULTS / 'results.png'}")


if __name__ == "__main__":
    main()
