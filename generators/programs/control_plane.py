"""Kubernetes' own programs on loopback: etcd, API servers with various flags, a
controller manager, schedulers. No node.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.request import Request, urlopen

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from generators.programs.connection import Connection
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig

PATIENCE = 120
SERVICES = "10.96.0.0/16"
AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


def until(what: str, condition: Callable[[], Any]) -> Any:
    """The first thing that `condition` returns which is not false. Raises TimeoutError
    after two minutes.
    """
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            seen = condition()
        except OSError:
            seen = None
        if seen:
            return seen
        time.sleep(0.1)
    raise TimeoutError(f"waited in vain for: {what}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """An API server that runs: connections to it, its log, its audit log."""

    def __init__(self, plane: ControlPlane, name: str, port: int) -> None:
        self.plane, self.name, self.port = plane, name, port
        self.log = plane.folder / f"{name}.log"
        self._audit = plane.folder / f"{name}.audit"

    def connection(self, user: str = "", *groups: str) -> Connection:
        """As a user with a certificate, or as nobody."""
        authority = self.plane.authority
        identity = authority.client_certificate(user, groups) if user else None
        return Connection(self.port, authority.ca_pem, identity)

    @property
    def admin(self) -> Connection:
        """As somebody who may do everything."""
        return self.connection("admin", "system:masters")

    def requests(self, user: str = "", **fields: str) -> list[dict[str, Any]]:
        """The audit log's requests of a user, whose `objectRef` or `verb` are such."""
        return [
            event
            for event in map(json.loads, self._audit.read_text().split("\n")[:-1])
            if user in ("", event["user"].get("username"))
            and all(
                event.get(key, event.get("objectRef", {}).get(key)) == value
                for key, value in fields.items()
            )
        ]

    def kubeconfig(self, user: str, *groups: str) -> Path:
        """A file that a program can use to be this user."""
        authority = self.plane.authority
        identity = authority.client_certificate(user, groups)
        url = f"https://127.0.0.1:{self.port}"
        path = self.plane.folder / f"{self.name}-{user.replace(':', '-')}.kubeconfig"
        write_kubeconfig(
            kubeconfig(url, authority.ca_pem, *identity, name="bare"), path
        )
        return path


class ControlPlane:
    """`programs` is the folder of Kubernetes' programs. etcd must be on PATH."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.authority = CertificateAuthority()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> ControlPlane:
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        for name, (certificate, key) in {
            "apiserver": self.authority.serving_certificate(
                ["localhost"], ["127.0.0.1"]
            ),
            "proxy": self.authority.client_certificate("front-proxy-client"),
            "accounts": (self.authority.ca_pem, _traditional(self.authority.key_pem)),
        }.items():
            (self.folder / f"{name}.crt").write_bytes(certificate)
            (self.folder / f"{name}.key").write_bytes(key)
        (self.folder / "policy.yaml").write_text(AUDIT_POLICY)
        etcd = shutil.which("etcd")
        if etcd is None:
            raise FileNotFoundError("etcd is not on PATH")
        self.etcd = f"http://127.0.0.1:{free_port()}"
        peers = f"http://127.0.0.1:{free_port()}"
        self._run(
            "etcd",
            etcd,
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self.etcd}",
            f"--advertise-client-urls={self.etcd}",
            f"--listen-peer-urls={peers}",
            "--unsafe-no-fsync",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in reversed(self._processes):
            self.stop(process)
        self._stack.close()

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End one of the programs."""
        process.kill()
        process.wait()

    def file(self, name: str, text: str) -> Path:
        """A file in the folder of this control plane."""
        path = self.folder / name
        path.write_text(text)
        return path

    def api_server(self, name: str, *flags: str, client_ca: bool = True) -> Server:
        """An API server that is ready. The authorization mode is RBAC unless the flags
        say otherwise; `client_ca=False`: no client certificate counts.
        """
        port = free_port()
        own, ca = self.folder, self.folder / "accounts.crt"
        audit = own / f"{name}.audit"
        audit.touch()
        modes = [] if any("authorization-" in flag for flag in flags) else ["Node,RBAC"]
        self._run(
            name,
            str(self.programs / "kube-apiserver"),
            f"--etcd-servers={self.etcd}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={own / name}",
            f"--tls-cert-file={own / 'apiserver.crt'}",
            f"--tls-private-key-file={own / 'apiserver.key'}",
            *([f"--client-ca-file={ca}"] if client_ca else []),
            *(f"--authorization-mode={mode}" for mode in modes),
            f"--service-account-key-file={own / 'accounts.key'}",
            f"--service-account-signing-key-file={own / 'accounts.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-cluster-ip-range={SERVICES}",
            f"--requestheader-client-ca-file={ca}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            f"--proxy-client-cert-file={own / 'proxy.crt'}",
            f"--proxy-client-key-file={own / 'proxy.key'}",
            f"--audit-policy-file={own / 'policy.yaml'}",
            f"--audit-log-path={audit}",
            *flags,
        )
        server = Server(self, name, port)
        probe = server.connection("probe", "system:masters")
        until(f"{name} to listen", lambda: probe("GET", "/livez").status < 500)
        return server

    def refuses_mode(self, mode: str) -> bool:
        """Whether an API server gives up at once over such an authorization mode."""
        process = subprocess.run(
            [
                str(self.programs / "kube-apiserver"),
                f"--etcd-servers={self.etcd}",
                f"--cert-dir={self.folder / 'refused'}",
                f"--authorization-mode={mode}",
            ],
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        return process.returncode != 0 and mode.encode() in process.stderr

    def controller_manager(
        self,
        server: Server,
        *flags: str,
        user: str = "system:kube-controller-manager",
        groups: tuple[str, ...] = (),
    ) -> subprocess.Popen[bytes]:
        """A controller manager. Its log is called `controllers`, or after another
        user.
        """
        usual = user.startswith("system:")
        return self._run(
            "controllers" if usual else user,
            str(self.programs / "kube-controller-manager"),
            f"--kubeconfig={server.kubeconfig(user, *groups)}",
            "--leader-elect=false",
            "--use-service-account-credentials",
            f"--service-account-private-key-file={self.folder / 'accounts.key'}",
            f"--root-ca-file={self.folder / 'accounts.crt'}",
            "--secure-port=0",
            *flags,
        )

    def scheduler(
        self, server: Server, user: str, *flags: str, groups: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """A scheduler that is this user; its log is named after the user."""
        return self._run(
            user.replace(":", "-"),
            str(self.programs / "kube-scheduler"),
            f"--kubeconfig={server.kubeconfig(user, *groups)}",
            "--leader-elect=false",
            "--secure-port=0",
            *flags,
        )

    def keys(self, prefix: str) -> list[str]:
        """The keys in etcd that begin so."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        asked = {
            "key": base64.b64encode(prefix.encode()).decode(),
            "range_end": base64.b64encode(end.encode()).decode(),
            "keys_only": True,
        }
        request = Request(
            f"{self.etcd}/v3/kv/range",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=PATIENCE) as response:
            found = json.load(response).get("kvs", [])
        return [base64.b64decode(each["key"]).decode() for each in found]

    def log(self, name: str) -> str:
        """What a program has said so far."""
        return (self.folder / f"{name}.log").read_text()

    def _run(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._processes.append(process)
        return process


def _traditional(key: bytes) -> bytes:
    """A private key in the form in which a key for service accounts is read."""
    return load_pem_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )


def version_of(program: Path) -> str:
    """`kube-apiserver v1.36.2`. Raises CalledProcessError if it does not run."""
    printed = subprocess.run(
        [program, "--version"], check=True, capture_output=True, text=True
    ).stdout
    return f"{program.name} {printed.split()[-1].partition('-')[0].partition('+')[0]}"
