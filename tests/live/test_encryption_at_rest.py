"""Encryption at rest over etcd: the real kube-apiserver and ours, one after the other over the same etcd, with the same files.

What one has written the other reads, whatever provider it went through; a key that is changed by one is the new key for the other; and
what cannot be read is refused by both in the same words. Runs where `KUBE_BIN` is set.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS, Object
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from lifecycle.etcd.etcd import EtcdStore
from tests.apiserver.asked_server import Asked
from tests.apiserver.encryption_files import configuration, provider, write
from tests.apiserver.test_encryption_config import REFUSED
from tests.live.real_programs import Program, RealControlPlane, kube_bin
from tests.loopback import free_port

SECRETS = "/api/v1/namespaces/default/secrets"
MERGE = "application/merge-patch+json"
MARK = base64.b64encode(b"the-marked-value").decode()


class Plane(RealControlPlane):
    """The real control plane without controllers, whose API server is started anew for each configuration."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "bare", controllers=False)
        certificate, key = self._authority.certificates.client_certificate("admin", [MASTERS])
        (folder / "admin.crt").write_bytes(certificate)
        (folder / "admin.key").write_bytes(key)
        self._tls = ssl.create_default_context(cadata=self._authority.certificates.ca_pem.decode())
        self._tls.load_cert_chain(folder / "admin.crt", folder / "admin.key")

    @property
    def store(self) -> str:
        """The address of its etcd."""
        return self._etcd.url

    def begin(self, *flags: str | Path) -> None:
        """An API server with these flags; returns at once."""
        program = kube_bin("kube-apiserver") / "kube-apiserver"
        self._run(Program([program, *self._api_server_flags(self.store), *flags], self.folder / "kube-apiserver.log"))

    def end(self) -> None:
        """End the API server; etcd goes on."""
        self.programs.pop().__exit__(None, None, None)

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Any]:
        """Status and answer."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": content_type}, method=method)
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    kube_bin("kube-apiserver")
    running = Plane(tmp_path_factory.mktemp("encrypted"))
    with running:
        running.end()
        yield running
        running.programs.clear()


Ask = tuple[str, str, Any]


def real(plane: Plane, requests: Sequence[Ask], file: Path | None, *, ready: bool = True) -> list[tuple[int, Any]]:
    """What the real server answers."""
    plane.begin(*([f"--encryption-provider-config={file}"] if file is not None else []))
    try:
        if ready:
            plane._wait()
        else:
            wait_for_answers(plane)
        return [plane.ask(*request, *([MERGE] if request[0] == "PATCH" else [])) for request in requests]
    finally:
        plane.end()


def wait_for_answers(plane: Plane) -> None:
    """Until the bootstrap roles are written: such a server never becomes ready."""
    for _ in range(600):
        plane.programs[-1].check_alive()
        try:
            status, _ = plane.ask("GET", f"{SECRETS}/absent")
            _, cache = plane.ask("GET", f"{SECRETS}?resourceVersion=0")
        except OSError:
            continue
        if status == 404 and "unable to transform" in cache.get("message", ""):
            return
    raise AssertionError("the real server does not answer")


def ours(plane: Plane, requests: Sequence[Ask], file: Path | None) -> list[tuple[int, Any]]:
    """What ours answers, over the same etcd."""

    async def main() -> list[tuple[int, Any]]:
        store = await EtcdStore.open(plane.store)
        server = create_server_chain(store, encryption=EncryptionOptions(file))
        await server.start()
        try:
            ask = Asked(server)
            headers = {"Content_Type": MERGE}
            return [
                await ask(method, path, body, **(headers if method == "PATCH" else {}))
                for method, path, body in requests
            ]
        finally:
            await server.stop()

    return asyncio.run(main())


def stored(plane: Plane, key: str) -> bytes:
    async def main() -> bytes:
        store = await EtcdStore.open(plane.store)
        try:
            kv = await store.get(key)
            assert kv is not None
            return kv.value
        finally:
            await store.close()

    return asyncio.run(main())


def secret(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"k": MARK}}


WRITTEN: dict[str, tuple[str, str, Object]] = {
    "aescbc": (SECRETS, "secrets", secret("")),
    "aesgcm": (
        "/api/v1/namespaces/default/configmaps",
        "configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"k": MARK}},
    ),
    "secretbox": (
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        "leases",
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {}, "spec": {"holderIdentity": MARK}},
    ),
}
"""What goes through each provider: its URL, the key's part, and the object."""


EVERYTHING = ("*.", "*.coordination.k8s.io")

PLAIN: Object = {"identity": {}}
"""The server has written something before there was any configuration."""


def creating(name: str) -> list[Ask]:
    return [("POST", url, {**body, "metadata": {"name": name}}) for url, _, body in WRITTEN.values()]


def reading(*names: str) -> list[Ask]:
    return [("GET", f"{url}/{name}", None) for url, _, _ in WRITTEN.values() for name in names]


def rewriting(name: str) -> list[Ask]:
    return [("PATCH", f"{url}/{name}", {"metadata": {}}) for url, _, _ in WRITTEN.values()]


def keys_of(name: str) -> dict[str, str]:
    return {kind: f"/registry/{plural}/default/{name}" for kind, (_, plural, _) in WRITTEN.items()}


def rules(path: Path, *first: Object) -> Path:
    """Each resource through its provider, but through `first` if there are such; the old ones stay to read with."""
    resources = {"aescbc": "secrets", "aesgcm": "configmaps", "secretbox": "leases.coordination.k8s.io"}
    document = configuration(
        *(((resources[kind],), [*first, provider(kind, f"{kind}1"), PLAIN]) for kind in resources),
    )
    path.write_text(json.dumps(document))
    return path


def comparable(answer: tuple[int, Any]) -> tuple[int, Any]:
    """Without what depends on how long a server has been up, and on what else was written."""
    status, body = answer
    if status == 429:
        assert 1 <= body["details"].pop("retryAfterSeconds") <= 30
    if status == 200:
        del body["metadata"]["resourceVersion"]
    return status, body


def test_each_reads_what_the_other_wrote_and_changes_its_keys(plane: Plane, tmp_path: Path) -> None:
    """Created by each through three providers; written again, unchanged, by the other with a new key; read by both all the time."""
    first_file = rules(tmp_path / "first")
    assert [status for status, _ in real(plane, creating("real"), first_file)] == [201] * 3
    assert [status for status, _ in ours(plane, creating("ours"), first_file)] == [201] * 3
    for name in ("real", "ours"):
        for kind, key in keys_of(name).items():
            assert stored(plane, key).startswith(f"k8s:enc:{kind}:v1:{kind}1:".encode())

    rotated = rules(tmp_path / "rotated", provider("aesgcm", "new2", "aesgcm1"))
    both = reading("real", "ours")
    own = ours(plane, both, rotated)
    theirs = real(plane, [*both, *rewriting("ours")], rotated)
    assert [status for status, _ in theirs] == [200] * 9
    assert theirs[:6] == own
    assert str(own).count(MARK) == 6
    assert [status for status, _ in ours(plane, rewriting("real"), rotated)] == [200] * 3
    for name in ("real", "ours"):
        for key in keys_of(name).values():
            assert stored(plane, key).startswith(b"k8s:enc:aesgcm:v1:new2:"), key

    alone = write(tmp_path / "alone", provider("aesgcm", "new2"), PLAIN, resources=EVERYTHING)
    again = rewriting("ours")  # nothing is stale now, so nothing is written
    theirs, own = real(plane, [*both, *again], alone), ours(plane, [*both, *again], alone)
    assert str(own).count(MARK) == 9
    assert theirs == own


def test_both_refuse_what_they_cannot_read_in_the_same_words(plane: Plane, tmp_path: Path) -> None:
    asyncio.run(delete(plane, *keys_of("real").values(), *keys_of("ours").values()))  # of the test before, if it ran
    keyed = tmp_path / "keyed"
    # A real server that cannot read its own leases, which the test before has encrypted, takes a minute to become ready.
    others = (EVERYTHING, [PLAIN, provider("aesgcm", "new2")])
    keyed.write_text(json.dumps(configuration((("secrets",), [provider("aescbc", "key1"), PLAIN]), others)))
    real(plane, [("POST", SECRETS, secret("lost"))], keyed)
    lost = f"{SECRETS}/lost"
    asked: list[Ask] = [
        ("GET", lost, None),
        ("GET", SECRETS, None),
        ("GET", f"{SECRETS}?limit=1", None),
        ("GET", f"{SECRETS}?resourceVersion=0", None),
        ("GET", "/api/v1/namespaces/kube-public/secrets", None),
        ("GET", f"{SECRETS}?watch=1&timeoutSeconds=5", None),
        ("POST", SECRETS, secret("lost")),
        ("PUT", lost, secret("lost")),
        ("PATCH", lost, {"data": {}}),
        ("DELETE", lost, None),
        ("DELETE", SECRETS, None),
    ]
    for file in (None, write(tmp_path / "other", provider("aescbc", "key2"))):
        theirs, own = real(plane, asked, file, ready=False), ours(plane, asked, file)
        assert [status for status, _ in theirs] == [500, 500, 500, 429, 200, 429, 409, 500, 500, 500, 500]
        for request, expected, answer in zip(asked, theirs, own, strict=True):
            assert comparable(answer) == comparable(expected), request[:2]


async def delete(plane: Plane, *keys: str) -> None:
    store = await EtcdStore.open(plane.store)
    for key in keys:
        await store.delete(key)
    await store.close()


def test_the_real_server_refuses_each_wrong_file_in_the_words_of_the_table(tmp_path: Path) -> None:
    """The table of `tests/apiserver/test_encryption_config.py`, asked again; a wrong file is noticed before anything is connected."""
    program = kube_bin("kube-apiserver") / "kube-apiserver"
    plane = Plane(tmp_path / "plane")
    flags = plane._api_server_flags("http://127.0.0.1:1")

    def complaint(case: str) -> str:
        path = tmp_path / f"{list(REFUSED).index(case)}.yaml"
        path.write_text(REFUSED[case][0])
        command = [str(program), *flags, f"--secure-port={free_port()}", f"--encryption-provider-config={path}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        [line] = [line for line in done.stderr.splitlines() if '"command failed" err=' in line]
        quoted = line.partition(" err=")[2]
        return str(json.loads(quoted)).replace(str(path), "FILE")

    with ThreadPoolExecutor(2) as pool:
        complaints = dict(zip(REFUSED, pool.map(complaint, REFUSED), strict=True))
    assert complaints == {case: f"error while parsing file: {words}" for case, (_, words) in REFUSED.items()}
