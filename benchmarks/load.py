"""Requests per second over HTTPS: a load generator small enough to leave the server most of the machine.

A few connections, each with one request under way at a time, as busy clients behave. The protocol is written by hand: it has to cost less
than what it measures.

`await measure(url, ca, token=…)` gives a dict of figures; `python -m benchmarks.load URL KUBECONFIG` prints them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

Make = Callable[[], bytes]
"""Makes the next request, complete with head and body."""


LAST_CHUNK = b"0\r\n\r\n"


class _Connection(asyncio.Protocol):
    """One connection: `ask` sends a request and waits for its whole answer, whose length is told, or which comes in chunks."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._head = self._tail = b""
        self._missing = self._status = 0
        self._in_chunks = False
        self._waiter: asyncio.Future[int] | None = None
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(exc or ConnectionResetError("the server hung up"))

    def data_received(self, data: bytes) -> None:
        if self._in_chunks:
            self._take_chunks(data)
        elif not self._missing:  # a new answer: read its head, then only count
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            head, self._head = self._head, b""
            self._status = int(head[9:12])
            place = head.lower().find(b"content-length:", 0, end) + 15
            if place < 15:
                self._take_chunks(head[end + 4 :])
            else:
                self._missing = end + 4 + int(head[place : head.index(b"\r", place)]) - len(head)
        else:
            self._missing -= len(data)
        if not self._missing and not self._in_chunks and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(self._status)

    def _take_chunks(self, data: bytes) -> None:
        """Only one request is under way, so the last chunk is the last that comes."""
        self._tail = (self._tail + data)[-len(LAST_CHUNK) :]
        self._in_chunks = self._tail != LAST_CHUNK
        if not self._in_chunks:
            self._tail = b""

    def ask(self, request: bytes) -> asyncio.Future[int]:
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiter

    def close(self) -> None:
        self._transport.close()


class LoadGenerator:
    """Sends requests over `connections` connections. `token` is a bearer token; without one, `certificate` and `key` (PEM) identify us."""

    def __init__(
        self, url: str, ca: bytes, *, token: str = "", certificate: bytes = b"", key: bytes = b"", connections: int = 8
    ) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 443
        self._tls = ssl.create_default_context(cadata=ca.decode())
        if certificate and not token:
            with tempfile.TemporaryDirectory() as folder:
                chain = Path(folder) / "client.pem"
                chain.touch(mode=0o600)
                chain.write_bytes(certificate + key)
                self._tls.load_cert_chain(chain)
        self._head = f"Host: {parts.netloc}\r\nUser-Agent: bench/1\r\nAccept: application/json\r\n"
        if token:
            self._head += f"Authorization: Bearer {token}\r\n"
        self.connections = connections

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A request as it goes over the wire."""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body

    async def run(
        self, make: Make, expected: int, *, seconds: float = 0.0, requests: int = 0, connections: int = 0
    ) -> float:
        """Requests per second, for a while or for a number of requests. Raises RuntimeError for an answer that is not expected."""
        loop = asyncio.get_running_loop()
        made = [
            (await loop.create_connection(_Connection, self._host, self._port, ssl=self._tls))[1]
            for _ in range(connections or self.connections)
        ]
        left = iter(range(requests)) if requests else None
        deadline = time.perf_counter() + seconds if seconds else float("inf")
        done = 0

        async def worker(connection: _Connection) -> None:
            nonlocal done
            while time.perf_counter() < deadline and (left is None or next(left, None) is not None):
                status = await connection.ask(make())
                if status != expected:
                    raise RuntimeError(f"expected {expected}, got {status}")
                done += 1

        started = time.perf_counter()
        try:
            await asyncio.gather(*map(worker, made))
            return done / (time.perf_counter() - started)
        finally:
            for connection in made:
                connection.close()


def config_map(name: str) -> bytes:
    """A small ConfigMap."""
    return json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value"}}
    ).encode()


def pod(name: str, scheduling_gate: bool = True) -> bytes:
    """A pod of one container, held back from scheduling so that only its creation is measured."""
    spec: dict[str, object] = {"containers": [{"name": "nginx", "image": "nginx:1.27"}]}
    if scheduling_gate:
        spec["schedulingGates"] = [{"name": "example.com/bench"}]
    return json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "bench"}}, "spec": spec}
    ).encode()


async def measure(generator: LoadGenerator, *, seconds: float = 4.0, listed_pods: int = 500) -> dict[str, float]:
    """The four figures, in requests per second: `create_configmap`, `create_pod`, `get`, `list_500_pods`.

    Makes a namespace of its own for the list, and leaves what it made.
    """
    run = f"{int(time.time() * 1000) % 10**8:x}"
    numbers: Iterator[int] = count()
    namespace = f"bench-{run}"
    body = json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}).encode()
    await generator.run(lambda: generator.request("POST", "/api/v1/namespaces", body), 201, requests=1, connections=1)
    account = json.dumps({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}).encode()
    for place in (namespace, "default"):  # where no controller makes it; 409 where one does
        path = f"/api/v1/namespaces/{place}/serviceaccounts"
        try:
            await generator.run(
                lambda path=path: generator.request("POST", path, account), 201, requests=1, connections=1
            )  # type: ignore[misc]
        except RuntimeError as error:
            if "409" not in str(error):
                raise

    def new_config_map() -> bytes:
        return generator.request(
            "POST", "/api/v1/namespaces/default/configmaps", config_map(f"cm-{run}-{next(numbers)}")
        )

    def new_pod(place: str = "default") -> bytes:
        return generator.request("POST", f"/api/v1/namespaces/{place}/pods", pod(f"pod-{run}-{next(numbers)}"))

    await generator.run(lambda: new_pod(namespace), 201, requests=listed_pods)
    get = generator.request("GET", f"/api/v1/namespaces/{namespace}")
    pods = generator.request("GET", f"/api/v1/namespaces/{namespace}/pods")
    return {
        "create_configmap": await generator.run(new_config_map, 201, seconds=seconds),
        "create_pod": await generator.run(new_pod, 201, seconds=seconds),
        "get": await generator.run(lambda: get, 200, seconds=seconds),
        "list_500_pods": await generator.run(lambda: pods, 200, seconds=seconds, connections=4),
    }


def from_kubeconfig(path: Path, **options: int) -> LoadGenerator:
    """A generator for the first cluster and user of a kubeconfig."""
    import yaml

    config = yaml.safe_load(path.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    decoded = {key: base64.b64decode(user.get(f"client-{key}-data", "")) for key in ("certificate", "key")}
    ca = base64.b64decode(cluster["certificate-authority-data"])
    return LoadGenerator(cluster["server"], ca, token=user.get("token", ""), **decoded, **options)  # type: ignore[arg-type]


def main() -> None:
    """`python -m benchmarks.load KUBECONFIG [SECONDS]`."""
    import uvloop

    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    for name, value in uvloop.run(measure(from_kubeconfig(Path(sys.argv[1])), seconds=seconds)).items():
        print(f"{name:<20} {value:>8.0f} /s")


if __name__ == "__main__":
    main()
