"""A host in a namespace of its own, pods in others, and plugins – ours or Debian's – run in it. All of it is gone with the process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni.launchers import write_launchers
from lifecycle.cni.namespaces import Namespace, can_make_namespaces, with_net_ns_path
from tests.cni.forked_plugins import forked_launchers
from tests.conftest import children_are_watched, unavailable

DEBIAN = Path("/usr/lib/cni")


class Host:
    """A network namespace that plays a host. `plugin` runs an executable there, as a runtime would."""

    def __init__(self, bin_dir: Path) -> None:
        self.bin_dir = bin_dir
        self.namespace = Namespace.create("host")
        self._pods: list[Namespace] = []
        self.sh("ip link set lo up")

    def pod(self) -> Namespace:
        pod = Namespace.create("pod")
        self._pods.append(pod)
        return pod

    def sh(self, command: str, where: Namespace | None = None) -> str:
        with with_net_ns_path((where or self.namespace).path):
            process = subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process.communicate()[0]

    def ip(self, command: str, where: Namespace | None = None) -> Any:
        return json.loads(self.sh(f"ip -j {command}", where) or "[]")

    def plugin(self, name: str, command: str, conf: Any, **env: str) -> tuple[int, Any]:
        """Exit code and what was printed, decoded."""
        environment = {
            "PATH": os.environ["PATH"],
            "CNI_COMMAND": command,
            "CNI_CONTAINERID": "cnitool-1",
            "CNI_IFNAME": "eth0",
            "CNI_PATH": str(self.bin_dir),
            **{f"CNI_{key.upper()}": value for key, value in env.items()},
        }
        stdin = conf if isinstance(conf, str) else json.dumps(conf)
        with with_net_ns_path(self.namespace.path):
            process = subprocess.Popen(
                [str(self.bin_dir / name)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={key: value for key, value in environment.items() if value},
            )
        out, err = process.communicate(stdin)
        assert "Traceback" not in err, err
        return process.returncode, json.loads(out) if out.strip() else None

    def close(self) -> None:
        for namespace in (*self._pods, self.namespace):
            namespace.close()


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cni-bin")
    if children_are_watched():
        yield write_launchers(folder)
        return
    with forked_launchers(folder):
        yield folder


@pytest.fixture(scope="session")
def root() -> None:
    if not can_make_namespaces() or shutil.which("ip") is None:
        unavailable("making network namespaces needs root, and iproute2 to look into them")


@pytest.fixture(scope="session")
def debian() -> Path:
    if not (DEBIAN / "bridge").exists():
        unavailable("Debian's CNI plugins are not installed (containernetworking-plugins)")
    return DEBIAN


@pytest.fixture
def hosts(root: None, ours: Path, debian: Path) -> Iterator[tuple[Host, Host]]:
    """The same host twice: one with our plugins, one with Debian's."""
    with contextlib.ExitStack() as stack:
        pair = (Host(ours), Host(debian))
        for host in pair:
            stack.callback(host.close)
        yield pair


@pytest.fixture
def host(root: None, ours: Path) -> Iterator[Host]:
    made = Host(ours)
    with contextlib.closing(made):
        yield made
