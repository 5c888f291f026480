"""A plugin that is forked from a nursery is what the package's own launcher starts: so most tests beside Debian's may take it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lifecycle.cni.launchers import PLUGINS, write_launchers
from tests.cni.conftest import Host
from tests.cni.forked_plugins import forked_launchers

LO = {"cniVersion": "1.0.0", "name": "n", "type": "loopback"}
STATIC = {"cniVersion": "1.0.0", "name": "n", "ipam": {"type": "static", "addresses": [{"address": "10.1.0.5/24"}]}}


def said(folder: Path, plugin: str, command: str, text: str, cwd: Path) -> tuple[int, str, str]:
    env = {
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": "c",
        "CNI_NETNS": "/n",
        "CNI_IFNAME": "eth0",
        "CNI_PATH": str(folder),
    }
    done = subprocess.run([folder / plugin], input=text, capture_output=True, text=True, env=env, cwd=cwd, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.usefixtures("debian")
def test_both_say_the_same_and_end_with_the_same_code(tmp_path: Path) -> None:
    own = write_launchers(tmp_path / "own")
    (tmp_path / "forked").mkdir()
    books = {
        "cniVersion": "1.0.0",
        "name": "n",
        "ipam": {"type": "host-local", "subnet": "10.1.0.0/29", "dataDir": "books"},
    }
    with forked_launchers(tmp_path / "forked") as forked:
        for plugin in PLUGINS:
            for command, conf in (("VERSION", LO), ("ADD", STATIC), ("", LO), ("ADD", "{"), ("ADD", {"name": "grüße"})):
                text = conf if isinstance(conf, str) else json.dumps(conf, ensure_ascii=False)
                answers = [said(folder, plugin, command, text, tmp_path) for folder in (own, forked)]
                assert answers[0] == answers[1], (plugin, command, conf)
        homes = [tmp_path / "a", tmp_path / "b"]
        for folder, home in zip((own, forked), homes, strict=True):
            home.mkdir()
            assert said(folder, "host-local", "ADD", json.dumps(books), home)[0] == 0
        assert [sorted(path.name for path in (home / "books" / "n").iterdir()) for home in homes] == [
            ["10.1.0.2", "last_reserved_ip.0", "lock"]
        ] * 2
    assert said(forked, "static", "VERSION", "{}", tmp_path)[0] != 0, "it has ended with the block"


def test_it_works_in_the_namespace_of_whoever_executes_it(host: Host) -> None:
    pod, other = host.pod(), host.pod()
    assert host.plugin("loopback", "ADD", LO, netns=pod.path, ifname="lo")[0] == 0
    assert [("UP" in host.ip("link", each)[0]["flags"]) for each in (pod, other)] == [True, False]
