"""Kubernetes' own programs, beside ours or instead of them.

`KUBE_BIN` names the folder that holds kube-apiserver, kube-controller-manager and kube-scheduler. Everything listens on free
loopback ports, keeps its files in a folder of the test's, and ends with the `with` block that started it.
"""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from lifecycle.api.wire import MASTERS
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.authority import kept_authority
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig
from tests.conftest import unavailable

ATTEMPTS = 600
"""How often an API server that is starting is asked, a tenth of a second apart."""


def kube_bin(*programs: str) -> Path:
    """The folder of the real programs. Skips where `KUBE_BIN` does not say; where it does, they have to be there."""
    folder = os.environ.get("KUBE_BIN", "")
    if not folder:
        pytest.skip("KUBE_BIN does not name a folder with Kubernetes' own programs")
    missing = [name for name in programs if not os.access(Path(folder) / name, os.X_OK)]
    if missing:
        unavailable(f"KUBE_BIN={folder} has no {', '.join(missing)}")
    return Path(folder)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Program:
    """One process: started with the `with` block and ended with it; what it says is in `log`."""

    def __init__(self, command: Sequence[str | Path], log: Path) -> None:
        self.command = [str(word) for word in command]
        self.log = log

    def __enter__(self) -> Program:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.log.parent
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def check_alive(self) -> None:
        """Raises AssertionError with its last words if it has ended by itself."""
        assert self._process.poll() is None, f"{self.command[0]} has ended: {self.log.read_text()[-2000:]}"


def identity(authority: CertificateAuthority, url: str, path: Path, user: str, *groups: str, context: str) -> Path:
    """Write the kubeconfig of a user whom a server's authority vouches for."""
    certificate, key = authority.client_certificate(user, groups)
    write_kubeconfig(kubeconfig(url, authority.ca_pem, certificate, key, name=context), path)
    return path


def real_scheduler(config: Path, folder: Path, *options: str) -> Program:
    """The real kube-scheduler, working for whoever the kubeconfig connects to."""
    program = kube_bin("kube-scheduler") / "kube-scheduler"
    flags = [f"--kubeconfig={config}", "--leader-elect=false", "--secure-port=0", *options]
    return Program([program, *flags], folder / "kube-scheduler.log")


def real_controller_manager(config: Path, folder: Path, pki: Path, *options: str) -> Program:
    """The real kube-controller-manager; `pki` holds the cluster's keys under kubeadm's names."""
    program = kube_bin("kube-controller-manager") / "kube-controller-manager"
    flags = [
        f"--kubeconfig={config}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials",
        f"--root-ca-file={pki / 'ca.crt'}",
        f"--service-account-private-key-file={pki / 'sa.key'}",
        f"--cluster-signing-cert-file={pki / 'ca.crt'}",
        f"--cluster-signing-key-file={pki / 'ca.key'}",
    ]
    return Program([program, *flags, *options], folder / "kube-controller-manager.log")


class RealControlPlane:
    """A bare cluster of real programs: etcd, API server, controller manager, scheduler, and no node.

    `kubeconfig` is its administrator's, with one context of the name that was asked for.
    """

    def __init__(self, folder: Path, context: str) -> None:
        self.folder = folder
        self.programs: list[Program] = []
        self.url = f"https://127.0.0.1:{free_port()}"
        self.pki = folder / "pki"
        folder.mkdir(parents=True, exist_ok=True)
        self._authority = kept_authority(self.pki)
        self.kubeconfig = self._identity("kubernetes-admin", MASTERS, context=context)

    def _identity(self, user: str, *groups: str, context: str = "bare") -> Path:
        name = user.removeprefix("system:")
        path = self.folder / f"{name}.kubeconfig"
        return identity(self._authority.certificates, self.url, path, user, *groups, context=context)

    def __enter__(self) -> RealControlPlane:
        folder, names = self.folder, ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        programs = kube_bin(*names)
        etcd = shutil.which("etcd")
        if etcd is None:
            unavailable("etcd is not installed")
        store, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        etcd_flags = [f"--listen-client-urls={store}", f"--advertise-client-urls={store}"]
        etcd_flags += [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        etcd_flags += [f"--initial-cluster=default={peer}", f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync"]
        try:
            self._start([etcd or "etcd", *etcd_flags], "etcd")
            self._start([programs / "kube-apiserver", *self._api_server_flags(store)], "kube-apiserver")
            self._wait()
            manager = self._identity("system:kube-controller-manager")
            self._run(real_controller_manager(manager, folder, self.pki))
            self._run(real_scheduler(self._identity("system:kube-scheduler"), folder))
        except BaseException:
            self.stop()
            raise
        return self

    def _api_server_flags(self, store: str) -> list[str]:
        certificates, pki = self._authority.certificates, self.pki
        for name, pair in (
            ("apiserver", certificates.server_certificate()),
            ("front-proxy-client", self._authority.front_proxy.client_certificate("front-proxy-client")),
        ):
            for suffix, content in zip((".crt", "-key.pem"), pair, strict=True):
                (pki / f"{name}{suffix}").write_bytes(content)
        return [
            f"--etcd-servers={store}",
            f"--secure-port={self.url.rpartition(':')[2]}",
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver-key.pem'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            f"--service-account-key-file={pki / 'sa.key'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
            f"--proxy-client-key-file={pki / 'front-proxy-client-key.pem'}",
            "--allow-privileged=true",
        ]

    def _start(self, command: Sequence[Any], name: str) -> None:
        self._run(Program(command, self.folder / f"{name}.log"))

    def _run(self, program: Program) -> None:
        self.programs.append(program.__enter__())

    def _wait(self) -> None:
        """Until the API server is ready; it answers that to anybody."""
        context = ssl.create_default_context(cadata=self._authority.certificates.ca_pem.decode())
        for _ in range(ATTEMPTS):
            for program in self.programs:
                program.check_alive()
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", context=context, timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        unavailable("the real kube-apiserver did not become ready")

    def stop(self) -> None:
        """End all programs, the last one first."""
        while self.programs:
            self.programs.pop().__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
