"""Both servers: started here on free ports of the loopback interface, or given as kubeconfigs."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar
from urllib.parse import urlsplit

import aiohttp
import yaml
import yarl

from tests.ends_with_us import ends_with_us
from tests.live.real_programs import RealControlPlane

LOOPBACK = ("127.0.0.1", "localhost", "::1")
START = 60.0

T = TypeVar("T")


class NotAvailableError(Exception):
    """Something that is needed is not there; the text says what."""


class HTTPTarget:
    """A server behind a kubeconfig, which must be on this machine."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        current = next(row["context"] for row in config["contexts"] if row["name"] == config["current-context"])
        cluster = next(row["cluster"] for row in config["clusters"] if row["name"] == current["cluster"])
        user = next(row["user"] for row in config["users"] if row["name"] == current["user"])
        self._url = cluster["server"]
        if urlsplit(self._url).hostname not in LOOPBACK:
            raise NotAvailableError(
                f"{self._url} is not on this machine: only servers on the loopback interface are asked"
            )
        self._ssl = ssl.create_default_context()
        self._ssl.check_hostname = False
        self._ssl.verify_mode = ssl.CERT_NONE
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        if "token" not in user:
            with tempfile.TemporaryDirectory() as folder:
                paths = []
                for name in ("client-certificate", "client-key"):
                    path = Path(folder, name)
                    data = user.get(f"{name}-data")
                    path.write_bytes(base64.b64decode(data) if data else Path(user[name]).read_bytes())
                    paths.append(path)
                self._ssl.load_cert_chain(*paths)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> HTTPTarget:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._session is not None
        await self._session.close()

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body; status 0 if the server closed the connection instead of answering."""
        assert self._session is not None
        url = yarl.URL(self._url + path, encoded=True)
        try:
            async with self._session.request(
                method, url, data=body or None, headers={**headers, **self._headers}, ssl=self._ssl
            ) as answer:
                warnings = answer.headers.getall("Warning", [])
                sent = {**answer.headers, **({"Warning": ", ".join(warnings)} if warnings else {})}
                return answer.status, sent, await answer.read()
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            return 0, {}, b""


def check_available() -> None:
    """Raises NotAvailableError where there is no real server to start."""
    folder = os.environ.get("KUBE_BIN", "")
    if not folder or not Path(folder, "kube-apiserver").exists():
        raise NotAvailableError("KUBE_BIN is not set to a folder with Kubernetes' own kube-apiserver")
    if shutil.which("etcd") is None:
        raise NotAvailableError("etcd is not on PATH")


@contextmanager
def _running(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            ends_with_us(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,  # Ctrl-C is ours
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def real_server(folder: Path) -> Iterator[Path]:
    """A bare kube-apiserver with an etcd of its own; the kubeconfig of an administrator. Raises NotAvailableError."""
    check_available()
    with RealControlPlane(folder, "real", controllers=False) as plane:
        yield plane.kubeconfig


@contextmanager
def our_server(folder: Path) -> Iterator[Path]:
    """`lifecycle up` with nothing but an API server; its kubeconfig."""
    folder.mkdir(parents=True, exist_ok=True)
    kubeconfig = folder / "kubeconfig"
    without = "scheduler,controllers,kubelet,proxy,dns"
    command = [sys.executable, "-m", "lifecycle", "up", "--without", without, "--kubeconfig", str(kubeconfig)]
    with _running(command, folder / "lifecycle.log") as process:
        for _ in range(int(START * 10)):
            if kubeconfig.exists():
                break
            if process.poll() is not None:
                raise NotAvailableError(f"lifecycle up ended: {(folder / 'lifecycle.log').read_text()[-500:]}")
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        yield kubeconfig


async def ready(target: HTTPTarget) -> None:
    """Wait until a server answers that it is ready. Raises NotAvailableError."""
    for _ in range(int(START * 5)):
        try:
            status, _, _ = await target.request("GET", "/readyz", {}, b"")
        except aiohttp.ClientError:
            status = 0
        if status == 200:
            return
        await asyncio.sleep(0.2)
    raise NotAvailableError("the server does not become ready")


def ask_real_server(questions: Callable[[HTTPTarget], Awaitable[T]]) -> T:
    """What comes of asking a real server that nobody has asked anything before. Raises NotAvailableError."""

    async def ask(kubeconfig: Path) -> T:
        async with HTTPTarget(kubeconfig) as target:
            await ready(target)
            return await questions(target)

    with (
        tempfile.TemporaryDirectory(prefix="real-", ignore_cleanup_errors=True) as folder,
        real_server(Path(folder)) as kubeconfig,
    ):
        return asyncio.run(ask(kubeconfig))
