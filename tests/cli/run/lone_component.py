"""`lifecycle run …` as a process, and a cluster whose component it is.

To load the program takes longer than most of these tests, so the process is forked from one that has loaded it. Of each component one
test starts the program itself, as everybody does.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from forked_process import ForkedProcess

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client

PATIENCE = 60.0
"""Seconds for anything at all: machines may be busy."""

NURSERY = Path(__file__).with_name("command_nursery.py")


def started(words: list[str], streams: tuple[int, int]) -> Any:
    out, err = streams
    command = [sys.executable, "-m", "lifecycle", *words]
    return subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)


def forked(words: list[str], streams: tuple[int, int]) -> Any:
    return ForkedProcess(NURSERY, words, os.environ, streams=streams)


class LoneComponent:
    """`lifecycle run COMPONENT …` for the time of a `with` block; it is ready inside. `url`: of its health port. `program`: it is
    started, not forked."""

    ready_line = r"ready (http://127\.0\.0\.1:\d+)$"

    def __init__(self, *words: str | Path, ready: bool = True, program: bool = False) -> None:
        self._words = ["run", *map(str, words)]
        self._ready = ready
        self._start = started if program else forked
        self.said: list[str] = []
        """Lines on stderr so far."""
        self._heard: queue.Queue[str] = queue.Queue()
        self.printed: list[str] = []
        """Lines on stdout so far."""
        self.url = ""

    def __enter__(self) -> LoneComponent:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self.process = self._start(self._words, (out_end, err_end))
        os.close(out_end)
        os.close(err_end)
        self._pipes = [os.fdopen(out), os.fdopen(err)]
        self._threads = [
            threading.Thread(target=self._read, args=(pipe, lines), daemon=True)
            for pipe, lines in zip(self._pipes, (self.printed, self.said), strict=True)
        ]
        for thread in self._threads:
            thread.start()
        if self._ready:
            try:
                self.url = self.hear(self.ready_line)
            except BaseException:
                self.stop(signal.SIGKILL)
                raise
        return self

    def _read(self, pipe: Any, lines: list[str]) -> None:
        for line in pipe:
            lines.append(line.rstrip("\n"))
            self._heard.put(line.rstrip("\n"))
        self._heard.put("")

    def hear(self, pattern: str) -> str:
        """Wait for a line that matches; its first group. Raises AssertionError if it ends instead."""
        while True:
            for line in (*self.printed, *self.said):
                if match := re.search(pattern, line):
                    return match[1] if match.lastindex else match[0]
            if self.process.poll() is not None and self._heard.empty():
                raise AssertionError(f"no {pattern} in {self.printed + self.said}")
            self._heard.get(timeout=PATIENCE)

    def get(self, path: str) -> tuple[int, str]:
        """Ask its health port: status and text."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it; its exit code, once everything it said was heard."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code: int = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for pipe in self._pipes:
            pipe.close()
        return code

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGTERM)


async def until(client: Client, name: str, namespace: str, done: Callable[[list[Object]], bool]) -> list[Object]:
    """Watch a resource until its objects are as they should be; those."""
    row = resource(name)
    listed = await client.list(row, namespace)
    items = {each["metadata"]["name"]: each for each in listed["items"]}
    if done(list(items.values())):
        return list(items.values())
    revision = listed["metadata"]["resourceVersion"]
    frames: Any = await client.watch(row, namespace, resource_version=revision, bookmarks=False)
    try:
        async for frame in frames:
            key = frame.object["metadata"]["name"]
            if frame.type == "DELETED":
                items.pop(key, None)
            else:
                items[key] = frame.object
            if done(list(items.values())):
                return list(items.values())
    finally:
        await frames.aclose()
    raise AssertionError(f"the watch of {name} ended")


def running(count: int) -> Callable[[list[Object]], bool]:
    """So many pods run, and are ready."""

    def done(pods: list[Object]) -> bool:
        ready = [
            pod
            for pod in pods
            if (pod.get("status") or {}).get("phase") == "Running"
            and any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"]["conditions"])
        ]
        return len(ready) == count

    return done


def deployment(name: str, replicas: int) -> Object:
    """Of nginx."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    }
