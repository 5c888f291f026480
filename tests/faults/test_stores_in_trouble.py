"""`lifecycle up` on stores that fail, for real: nothing that was acknowledged is lost, and the exit is clean.

`kill -9` while clients write to sqlite; a file that may not grow any more; etcd killed under load and started again.
"""

from __future__ import annotations

import contextlib
import json
import resource as limits
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import unavailable
from tests.ends_with_us import ends_with_us
from tests.etcd.real_etcd import real_etcd

TOKEN = "secret"
BARE = ("--without", "scheduler,controllers,kubelet", "--nodes", "1")
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
Answer = tuple[int, Any]


class Up:
    """`lifecycle up` as a process, and a client of it. `file_size`: bytes that no file of it may exceed."""

    def __init__(self, folder: Path, store: str, *options: str, file_size: int = 0) -> None:
        def limit() -> None:
            if file_size:
                limits.setrlimit(limits.RLIMIT_FSIZE, (file_size, file_size))

        self.process = subprocess.Popen(
            ends_with_us([sys.executable, "-m", "lifecycle", "up", "--store", store, "--token", TOKEN, *options]),
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit,
        )  # fmt: skip
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        self.url = first.split()[1] if first.startswith("ready ") else ""
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE

    def ask(self, method: str, path: str, obj: Any = None) -> Answer:
        """Status and document; raises OSError if there is no answer."""
        data = json.dumps(obj).encode() if obj is not None else None
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20, context=self._tls) as answer:
                body = answer.read()
                return answer.status, json.loads(body) if body[:1] == b"{" else body
        except urllib.error.HTTPError as error:
            body = error.read()
            return error.code, json.loads(body) if body[:1] == b"{" else body

    def create(self, name: str, size: int = 1000) -> Answer:
        """A ConfigMap."""
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "x" * size}}
        return self.ask("POST", CONFIG_MAPS, obj)

    def names(self) -> set[str]:
        """The ConfigMaps there are."""
        return {each["metadata"]["name"] for each in self.ask("GET", CONFIG_MAPS)[1]["items"]}

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit code, and what stands on stderr after the first lines."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextlib.contextmanager
def up(folder: Path, store: str, *options: str, file_size: int = 0) -> Iterator[Up]:
    running = Up(folder, store, *options, file_size=file_size)
    try:
        assert running.url, running.process.communicate(timeout=30)
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
        running.process.communicate()


def test_kill_9_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with up(tmp_path, "sqlite:c.db", *BARE) as cluster:

        def write(worker: int) -> None:
            with contextlib.suppress(OSError):
                for number in range(10_000):
                    name = f"w{worker}-{number}"
                    if cluster.create(name)[0] == 201:
                        acknowledged.append(name)

        with ThreadPoolExecutor(4) as pool:
            working = [pool.submit(write, worker) for worker in range(4)]
            while len(acknowledged) < 60:
                time.sleep(0.01)
            assert cluster.end(signal.SIGKILL)[0] == -signal.SIGKILL
            for each in working:
                each.result()
    with up(tmp_path, "sqlite:c.db", *BARE) as cluster:
        assert set(acknowledged) <= cluster.names()
        assert cluster.create(acknowledged[-1])[0] == 409
        assert cluster.create("after")[0] == 201
        assert cluster.end()[0] == 0


def test_two_clusters_cannot_share_one_file(tmp_path: Path) -> None:
    with up(tmp_path, "sqlite:c.db", *BARE) as cluster:
        second = Up(tmp_path, "sqlite:c.db", *BARE, "--kubeconfig", "second")
        _, errors = second.process.communicate(timeout=30)
        assert (second.process.returncode, second.url) == (1, "")
        assert errors == "lifecycle: --store sqlite:c.db: c.db: in use by another process\n"
        assert not (tmp_path / "second").exists()
        assert cluster.create("unharmed")[0] == 201


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of 6 MiB in memory, for as long as the test runs."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        unavailable("mounting a small file system wants root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("kind", ["disk", "limit"])
def test_a_disk_that_fills_up_is_a_status_and_the_server_serves_on(tmp_path: Path, kind: str) -> None:
    """Writes are refused, reads go on, also after a restart, the signal ends it with 0, and with room again all that was
    acknowledged is there."""
    acknowledged, place = [], tmp_path / "disk"
    with contextlib.ExitStack() as stack:
        if kind == "disk":
            stack.enter_context(small_disk(place))
        else:
            place.mkdir()
        # a disk without room is what SQLite calls full; a file that may not grow is an I/O error to it
        why = "etcdserver: mvcc: database space exceeded" if kind == "disk" else "disk/c.db: disk I/O error"
        with up(tmp_path, "sqlite:disk/c.db", *BARE, file_size=(6 << 20) * (kind == "limit")) as cluster:
            for number in range(1000):
                code, answer = cluster.create(f"c{number}", 20_000)
                if code != 201:
                    break
                acknowledged.append(f"c{number}")
            assert (code, answer["kind"], answer["status"], answer["message"]) == (500, "Status", "Failure", why)
            assert len(acknowledged) > 10
            assert cluster.names() == set(acknowledged)
            again, answer = cluster.create("again", 20_000)
            assert (again, answer["message"]) == (500, why)
            assert cluster.ask("GET", f"{CONFIG_MAPS}/{acknowledged[0]}")[0] == 200
            code, errors = cluster.end()
            assert code == 0
            assert "Traceback" not in errors
        with up(tmp_path, "sqlite:disk/c.db", *BARE, file_size=(6 << 20) * (kind == "limit")) as cluster:
            assert cluster.names() == set(acknowledged)
            while (
                cluster.create(f"c{len(acknowledged)}", 10)[0] == 201
            ):  # what is left is too little for a large one only
                acknowledged.append(f"c{len(acknowledged)}")
            assert cluster.ask("DELETE", f"{CONFIG_MAPS}/{acknowledged[0]}")[0] == 500  # a deletion takes room, too
            assert cluster.end()[0] == 0
        (tmp_path / "c.db").write_bytes((place / "c.db").read_bytes())
        if (place / "c.db-wal").exists():
            (tmp_path / "c.db-wal").write_bytes((place / "c.db-wal").read_bytes())
    with up(tmp_path, "sqlite:c.db", *BARE) as cluster:
        assert cluster.names() == set(acknowledged)
        assert cluster.create("again", 20_000)[0] == 201
        assert cluster.end()[0] == 0


def test_a_disk_that_is_full_from_the_start_is_one_line(tmp_path: Path) -> None:
    refused = Up(tmp_path, "sqlite:c.db", *BARE, file_size=100 << 10)
    _, errors = refused.process.communicate(timeout=30)
    assert refused.process.returncode == 1
    assert errors.startswith("lifecycle: ")
    assert errors.count("\n") == 1


@pytest.mark.real
def test_etcd_gone_and_back_under_a_whole_cluster_over_https(tmp_path: Path) -> None:
    """500 with etcd's own words while it is away; then the controllers go on with what they were told, once."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }  # fmt: skip
    deployments, pods = "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/pods"

    def ready(cluster: Up, count: int) -> bool:
        code, found = cluster.ask("GET", f"{deployments}/web")
        return code == 200 and (found.get("status") or {}).get("readyReplicas") == count

    with real_etcd(tmp_path) as etcd, up(tmp_path, f"etcd:{etcd.url}", "--nodes", "2") as cluster:
        assert cluster.ask("POST", deployments, deployment)[0] == 201
        wait_until(lambda: ready(cluster, 2))
        before = {each["metadata"]["uid"] for each in cluster.ask("GET", pods)[1]["items"]}
        acknowledged = [name for name in map("c{}".format, range(20)) if cluster.create(name)[0] == 201]
        etcd.kill()
        code, answer = cluster.create("lost")
        assert (code, answer["kind"]) == (500, "Status")
        assert "Unavailable" in answer["message"] or "etcd" in answer["message"]
        assert cluster.ask("GET", f"{deployments}/web")[0] == 500
        assert cluster.ask("GET", "/livez")[0] == 500
        assert len(cluster.ask("GET", f"{pods}?resourceVersion=0")[1]["items"]) == 2
        time.sleep(1)
        etcd.start()
        wait_until(lambda: cluster.ask("GET", "/livez")[0] == 200)
        assert set(acknowledged) <= cluster.names()
        assert cluster.ask("GET", f"{deployments}/web/scale")[0] == 200
        scaled = {**cluster.ask("GET", f"{deployments}/web/scale")[1], "spec": {"replicas": 4}}
        wait_until(lambda: cluster.ask("PUT", f"{deployments}/web/scale", scaled)[0] in (200, 409))
        wait_until(lambda: ready(cluster, 4))
        after = {each["metadata"]["uid"] for each in cluster.ask("GET", pods)[1]["items"]}
        assert before < after
        assert len(after) == 4
        code, errors = cluster.end()
        assert code == 0
        assert "Traceback" not in errors


@pytest.mark.real
def test_a_cluster_ends_cleanly_though_its_etcd_is_gone(tmp_path: Path) -> None:
    with real_etcd(tmp_path) as etcd, up(tmp_path, f"etcd:{etcd.url}", "--nodes", "1") as cluster:
        etcd.kill()
        assert cluster.create("lost")[0] == 500
        at = time.monotonic()
        code, errors = cluster.end(signal.SIGINT)
        assert code == 0
        assert "Traceback" not in errors
        assert time.monotonic() - at < 15


def wait_until(holds: Any, seconds: float = 40.0) -> None:
    """Look again and again: from outside there is no other way."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            if holds():
                return
        assert time.monotonic() < deadline, holds
        time.sleep(0.1)
