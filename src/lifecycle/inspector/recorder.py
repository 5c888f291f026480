"""Making a recording of a live cluster, in the format of `recordings/`.

Only what `LiveCluster` connects to is recorded, and in it only namespaces that were
made for it; they are deleted again, also after Ctrl-C. Where kubectl is on the PATH,
the journey is driven by the real one and its output kept; else the requests it boils
down to are sent. All watches are open before the first request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from rich.progress import Progress

from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.kubectl_command import kubectl_on_path, run_kubectl
from lifecycle.inspector.live import LiveCluster
from lifecycle.inspector.recording import NAMESPACES
from lifecycle.inspector.runner import run_scenario, until_furnished
from lifecycle.inspector.scenario import Scenario, Step, load_scenario

DEFAULT_SCENARIOS = ("discovery", "objects", "journey", "storage")
PATIENCE = 60.0
"""Seconds to wait for a namespace that is on its way out."""

T = TypeVar("T")


def record(
    cluster: LiveCluster,
    out_dir: str | Path,
    scenarios: Iterable[str] = DEFAULT_SCENARIOS,
    *,
    pause: float = 2.0,
    progress: bool = True,
) -> Path:
    """Record scenarios of a live cluster into a folder, which is returned. Raises
    InspectorError for what is no live cluster.
    """
    if not cluster.live:
        raise InspectorError(f"refusing to record {cluster!r}: it is no live cluster")
    out = Path(out_dir)
    chosen = [load_scenario(name) for name in scenarios]
    for scenario in chosen:  # what an earlier recording left is nobody's answer
        if _touches_default(scenario):
            _make_room(cluster, _stand_in(scenario))
    with Progress(disable=not progress, transient=True) as bar:
        for scenario in chosen:
            task = bar.add_task(scenario.name, total=len(scenario.steps))
            if _touches_default(scenario):  # not ours to touch on somebody's machine
                with cluster.namespace(_stand_in(scenario)) as namespace:
                    _to_the_end(until_furnished(LiveTarget(cluster), namespace))
                    _note_namespace(out, scenario.name, namespace, "default")
                    _record_one(
                        cluster,
                        scenario.in_namespace(namespace),
                        out,
                        pause,
                        lambda _, task=task: bar.advance(task),
                    )
            else:
                _record_one(
                    cluster,
                    scenario,
                    out,
                    pause,
                    lambda _, task=task: bar.advance(task),
                )
    return out


def line_of(exchange: Exchange) -> dict[str, Any]:
    """An exchange as a line of `http/<scenario>.jsonl`."""
    return {
        "n": exchange.n,
        "t": exchange.t,
        "ms": exchange.ms,
        "as": exchange.identity,
        "note": exchange.moment or None,
        "method": exchange.method,
        "path": exchange.path,
        "content_type": exchange.content_type or None,
        "accept": exchange.accept,
        "headers_sent": exchange.headers_sent,
        "body": exchange.body,
        "status": exchange.status,
        "headers": exchange.headers,
        "response": exchange.response,
    }


def _touches_default(scenario: Scenario) -> bool:
    return any(
        step.method != "GET" and "/namespaces/default" in step.path
        for step in scenario.steps
    )


def _stand_in(scenario: Scenario) -> str:
    """The namespace that is made instead of `default`."""
    return f"lifecycle-{scenario.name}"


def _record_one(
    cluster: LiveCluster, scenario: Scenario, out: Path, pause: float, on_step: Any
) -> None:
    for name in scenario.creates:
        _make_room(cluster, name)
    target = LiveTarget(cluster)
    watches = [WatchThread(cluster, path) for path in scenario.watches]
    start = time.monotonic()
    for watch in watches:
        watch.open(start)
    for name in scenario.creates:
        cluster.adopt_namespace(name)

    def kubectl(step: Step, t: float) -> bool:
        if not kubectl_on_path():
            return False
        _keep_kubectl(cluster, step, t, out)
        return True

    try:
        exchanges = _to_the_end(
            run_scenario(
                target, scenario, pause=pause, kubectl=kubectl, on_step=on_step
            )
        )
    finally:
        for name in scenario.creates:
            cluster.delete_namespace(name)
        for watch in watches:
            watch.close()
    _write(
        out / "http" / f"{scenario.name}.jsonl",
        (line_of(exchange) for exchange in exchanges),
    )
    if watches:
        lines = sorted(
            (line for watch in watches for line in watch.lines),
            key=lambda line: line["t"],
        )
        _write(out / "watch" / f"{scenario.name}.jsonl", lines)


def _to_the_end(running: Coroutine[Any, Any, T]) -> T:
    """What `running` returns; in a notebook, which has a loop of its own, on a loop in
    another thread.
    """
    if asyncio._get_running_loop() is None:
        return asyncio.run(running)
    with ThreadPoolExecutor(1, "recorder") as thread:
        return thread.submit(asyncio.run, running).result()


def _make_room(cluster: LiveCluster, namespace: str) -> None:
    """Wait for an earlier recording's namespace to be gone. Raises InspectorError if
    somebody else's is there: it stays untouched.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        namespaces = {
            item["metadata"]["name"]: item
            for item in cluster.get("/api/v1/namespaces")["items"]
        }
        if namespace not in namespaces:
            return
        if "deletionTimestamp" not in namespaces[namespace]["metadata"]:
            raise InspectorError(
                f"namespace {namespace!r} is there already and was not made here: it"
                " stays untouched"
            )
        if time.monotonic() > deadline:
            raise InspectorError(
                f"namespace {namespace!r} has been terminating for {PATIENCE:.0f} s;"
                " try again once it is gone"
            )
        time.sleep(0.2)


def _keep_kubectl(cluster: LiveCluster, step: Step, t: float, out: Path) -> None:
    done = run_kubectl(
        ["--namespace", "journey", *step.kubectl.split()],
        context=cluster.name,
        config_file=cluster.config_file,
    )
    file = out / "kubectl" / f"{step.file}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"$ kubectl {step.kubectl}\n[exit {done.returncode},"
        f" t={t:.3f}]\n{done.stdout}\n[stderr]\n{done.stderr}"
    )


def _note_namespace(out: Path, scenario: str, created: str, instead_of: str) -> None:
    """Keep in the recording that a scenario was played in a namespace of its own: a
    comparison has to know.
    """
    file = out / NAMESPACES
    notes = json.loads(file.read_text()) if file.is_file() else {}
    notes[scenario] = {created: instead_of}
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notes, indent=1) + "\n")


def _write(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


class LiveTarget:
    """A live cluster as a `runner.Responder`, through the official client's own
    connection pool.
    """

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """One request, in a thread: the official client is synchronous."""
        return await asyncio.to_thread(self._send, method, path, headers, body)

    def _send(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        answer = self._cluster.open(method, path, headers, body)
        try:
            return answer.status, dict(answer.headers), answer.read()
        finally:
            answer.release_conn()


class WatchThread:
    """One watch of a live cluster, collecting `watch/<scenario>.jsonl` lines until it
    is closed.
    """

    def __init__(self, cluster: LiveCluster, path: str) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self._cluster = cluster
        self._answer: Any = None
        self._thread: threading.Thread | None = None

    def open(self, start: float) -> None:
        """Open the watch; returns when the server has answered, so that nothing is
        missed.
        """
        query = "watch=true&allowWatchBookmarks=true&timeoutSeconds=3600"
        self._answer = self._cluster.open(
            "GET",
            f"{self.path}?{query}",
            {"Accept": "application/json", "User-Agent": "recorder"},
            b"",
        )
        self._thread = threading.Thread(
            target=self._read, args=(start,), daemon=True, name=f"watch {self.path}"
        )
        self._thread.start()

    def _read(self, start: float) -> None:
        buffer = b""
        try:
            for chunk in self._answer.stream(amt=None, decode_content=False):
                buffer += chunk
                *whole, buffer = buffer.split(b"\n")
                t = round(time.monotonic() - start, 4)
                self.lines += [
                    {"t": t, "path": self.path, "event": json.loads(line)}
                    for line in whole
                    if line
                ]
        except (
            Exception
        ):  # the connection was shut to end the watch; whatever came before is kept
            return

    def close(self) -> None:
        """End the watch."""
        if self._answer is not None:
            with contextlib.suppress(
                RuntimeError, OSError
            ):  # it may have ended by itself
                self._answer.shutdown()
            if self._thread:
                self._thread.join(5)
            self._answer.close()
