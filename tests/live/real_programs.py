"""Kubernetes' own programs, beside ours or instead of them.

`KUBE_BIN` names the folder that holds kube-apiserver, kube-controller-manager, kube-scheduler and kubelet. Everything listens on free
loopback ports, keeps its files in a folder of the test's, and ends with the `with` block that started it.
"""

from __future__ import annotations

import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pytest

from lifecycle.api.http.wire import MASTERS
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.authority import kept_authority
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig
from tests.conftest import unavailable
from tests.ends_with_us import ends_with_us
from tests.etcd.real_etcd import RealEtcd
from tests.loopback import free_port

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


class Program:
    """One process: started with the `with` block and ended with it; what it says is in `log`."""

    def __init__(self, command: Sequence[str | Path], log: Path) -> None:
        self.command = [str(word) for word in command]
        self.log = log

    def __enter__(self) -> Program:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                ends_with_us(self.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.log.parent,
                start_new_session=True,  # Ctrl-C is ours
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
    """A bare cluster of real programs: etcd, API server and, with `controllers`, controller manager and scheduler; no node.

    `kubeconfig` is its administrator's, with one context of the name that was asked for.
    """

    def __init__(self, folder: Path, context: str, *, controllers: bool = True) -> None:
        self.folder = folder
        self.programs: list[Program] = []
        self.url = f"https://127.0.0.1:{free_port()}"
        self.pki = folder / "pki"
        self._controllers = controllers
        folder.mkdir(parents=True, exist_ok=True)
        self._authority = kept_authority(self.pki)
        self.kubeconfig = self.identity("kubernetes-admin", MASTERS, context=context)

    def identity(self, user: str, *groups: str, context: str = "bare") -> Path:
        """The kubeconfig of a user."""
        name = user.removeprefix("system:")
        path = self.folder / f"{name}.kubeconfig"
        return identity(self._authority.certificates, self.url, path, user, *groups, context=context)

    def __enter__(self) -> RealControlPlane:
        folder = self.folder
        programs = kube_bin("kube-apiserver")
        self._etcd = RealEtcd(folder, "--unsafe-no-fsync")
        try:
            self._etcd.start()
            flags = self._api_server_flags(self._etcd.url)
            self._run(Program([programs / "kube-apiserver", *flags], folder / "kube-apiserver.log"))
            self._wait()
            if self._controllers:
                manager = self.identity("system:kube-controller-manager")
                self._run(real_controller_manager(manager, folder, self.pki))
                self._run(real_scheduler(self.identity("system:kube-scheduler"), folder))
        except BaseException:
            self.stop()
            raise
        return self

    def _api_server_flags(self, store: str) -> list[str]:
        certificates, pki = self._authority.certificates, self.pki
        for name, pair in (
            ("apiserver", certificates.server_certificate()),
            ("kubelet-client", certificates.client_certificate("kube-apiserver-kubelet-client", [MASTERS])),
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
            f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'kubelet-client-key.pem'}",
            "--kubelet-preferred-address-types=InternalIP",
            "--allow-privileged=true",
        ]

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
        self._etcd.kill()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
