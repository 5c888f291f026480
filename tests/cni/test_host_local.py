"""host-local: the same addresses, files and complaints as the real one, on the same disk; and what must always be so."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.cni.addresses import parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.host_local import plugin
from lifecycle.cni.plugins.host_local.allocator import IPAllocator, candidates
from lifecycle.cni.plugins.host_local.disk_store import DiskStore
from lifecycle.cni.plugins.host_local.ranges import RangeSet
from lifecycle.cni.plugins.skel import dispatch

COMMANDS = {"ADD": plugin.cmd_add, "DEL": plugin.cmd_del, "CHECK": plugin.cmd_check}


def asked(command: str, container: str, args: str) -> dict[str, str]:
    """What a runtime puts into a plugin's environment."""
    who = {"CONTAINERID": container, "NETNS": "/gone", "IFNAME": "eth0"}
    return {f"CNI_{key}": value for key, value in {"COMMAND": command, **who, "PATH": "/bin", "ARGS": args}.items()}


def call(command: str, conf: dict[str, Any], container: str = "c1", args: str = "") -> Any:
    text = dispatch(COMMANDS, asked(command, container, args), lambda: json.dumps(conf))
    return json.loads(text) if text else None


def conf(directory: Path | str, **ipam: Any) -> dict[str, Any]:
    return {"cniVersion": "1.0.0", "name": "n", "ipam": {"type": "host-local", "dataDir": str(directory), **ipam}}


def addresses(result: Any) -> list[str]:
    return [ip["address"] for ip in result["ips"]]


def test_goes_on_after_the_last_reserved_address(tmp_path: Path) -> None:
    c = conf(tmp_path, ranges=[[{"subnet": "10.1.0.0/29"}]])
    assert [addresses(call("ADD", c, f"c{n}"))[0] for n in range(3)] == ["10.1.0.2/29", "10.1.0.3/29", "10.1.0.4/29"]
    call("DEL", c, "c0")
    assert addresses(call("ADD", c, "c3")) == ["10.1.0.5/29"]
    assert addresses(call("ADD", c, "c4")) == ["10.1.0.6/29"]
    assert addresses(call("ADD", c, "c5")) == ["10.1.0.2/29"]
    with pytest.raises(
        CNIError, match=r"^failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.6$"
    ):
        call("ADD", c, "c6")


def test_the_files_are_upstreams(tmp_path: Path) -> None:
    call("ADD", conf(tmp_path, ranges=[[{"subnet": "10.1.0.0/24"}], [{"subnet": "fd00::/64"}]]))
    files = {path.name: path.read_bytes() for path in (tmp_path / "n").iterdir()}
    assert files == {
        "10.1.0.2": b"c1\r\neth0",
        "fd00::2": b"c1\r\neth0",
        "last_reserved_ip.0": b"10.1.0.2",
        "last_reserved_ip.1": b"fd00::2",
        "lock": b"",
    }


def test_all_or_nothing(tmp_path: Path) -> None:
    c = conf(tmp_path, ranges=[[{"subnet": "10.1.0.0/24"}], [{"subnet": "10.2.0.0/30", "rangeStart": "10.2.0.2"}]])
    call("ADD", c, "c1")
    with pytest.raises(
        CNIError,
        match=r"failed to allocate for range 1: no IP addresses available in range set: 10\.2\.0\.2-10\.2\.0\.2$",
    ):
        call("ADD", c, "c2")
    assert b"c2" not in b"".join(path.read_bytes() for path in (tmp_path / "n").iterdir())


STEPS: list[tuple[str, str, str]] = [
    ("ADD", "a", ""), ("ADD", "b", ""), ("ADD", "a", ""), ("CHECK", "a", ""), ("DEL", "a", ""), ("CHECK", "a", ""),
    ("ADD", "c", "IP=10.7.0.6"), ("ADD", "d", "IP=10.7.0.6"), ("ADD", "d", "IP=10.7.0.1"), ("ADD", "d", "IP=10.9.0.1"),
    ("ADD", "d", "IP=nonsense"), ("DEL", "z", ""), *(("ADD", f"x{n}", "") for n in range(6)),
]  # fmt: skip

ODD: dict[str, Any] = {
    "too small": {"ranges": [[{"subnet": "10.1.0.0/31"}]]},
    "host bits": {"ranges": [[{"subnet": "10.1.0.7/24"}]]},
    "start outside": {"ranges": [[{"subnet": "10.1.0.0/24", "rangeStart": "10.2.0.1"}]]},
    "end before start": {"ranges": [[{"subnet": "10.1.0.0/24", "rangeStart": "10.1.0.9", "rangeEnd": "10.1.0.3"}]]},
    "overlap in a set": {"ranges": [[{"subnet": "10.1.0.0/24"}, {"subnet": "10.1.0.0/25"}]]},
    "overlapping sets": {"ranges": [[{"subnet": "10.1.0.0/24"}], [{"subnet": "10.1.0.0/25"}]]},
    "mixed": {"ranges": [[{"subnet": "10.1.0.0/24"}, {"subnet": "fd00::/64"}]]},
    "empty set": {"ranges": [[]]},
    "no subnet": {"ranges": [[{}]]},
    "nonsense": {"ranges": [[{"subnet": "ten"}]]},
    "old style": {"subnet": "10.1.0.0/24", "rangeStart": "10.1.0.20", "gateway": "10.1.0.254"},
    "no resolver": {"subnet": "10.1.0.0/24", "resolvConf": "/none/such"},
}


def real(program: Path, command: str, c: dict[str, Any], container: str = "c1", args: str = "") -> Any:
    env = asked(command, container, args)
    done = subprocess.run(
        [str(program / "host-local")], input=json.dumps(c), capture_output=True, text=True, env=env, check=False
    )
    said = json.loads(done.stdout) if done.stdout else None
    return {key: value for key, value in (said or {}).items() if key != "dns" or value} or None


def ours_says(*call_args: Any) -> Any:
    try:
        return call(*call_args)
    except CNIError as why:
        return why.as_json()


def test_the_same_answers_to_the_same_calls(debian: Path, tmp_path: Path) -> None:
    sides = [
        conf(tmp_path / side, ranges=[[{"subnet": "10.7.0.0/29"}, {"subnet": "10.8.0.0/30"}]]) for side in ("1", "2")
    ]
    for step in STEPS:
        command, container, args = step
        assert ours_says(command, sides[0], container, args) == real(debian, command, sides[1], container, args), step
    trees = [{p.name: p.read_bytes() for p in (tmp_path / side / "n").iterdir()} for side in ("1", "2")]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("name", ODD)
def test_the_same_answer_to_odd_configurations(debian: Path, tmp_path: Path, name: str) -> None:
    ours, theirs = (conf(tmp_path / side, **ODD[name]) for side in ("1", "2"))
    assert ours_says("ADD", ours) == real(debian, "ADD", theirs)


def test_both_keep_the_same_books(debian: Path, tmp_path: Path) -> None:
    c = conf(tmp_path, ranges=[[{"subnet": "10.7.0.0/28"}]])
    got = [addresses(call("ADD", c, f"o{n}") if n % 2 else real(debian, "ADD", c, f"o{n}"))[0] for n in range(6)]
    assert got == [f"10.7.0.{n + 2}/28" for n in range(6)]
    real(debian, "DEL", c, "o1")
    call("DEL", c, "o2")
    assert sorted(os.listdir(tmp_path / "n")) == [
        "10.7.0.2",
        "10.7.0.5",
        "10.7.0.6",
        "10.7.0.7",
        "last_reserved_ip.0",
        "lock",
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["add", "del"]), st.integers(0, 9)), max_size=40))
def test_no_address_is_ever_given_twice(steps: list[tuple[str, int]]) -> None:
    ranges = RangeSet([{"subnet": "10.7.0.0/29"}])
    with tempfile.TemporaryDirectory() as directory, DiskStore("n", directory) as store:
        allocator, held = IPAllocator(ranges, store, 0), {}
        for what, who in steps:
            if what == "add" and who not in held:
                with contextlib.suppress(CNIError):
                    held[who] = allocator.get(f"c{who}", "eth0")["address"]
                assert who in held or len(held) == 5
            elif what == "del":
                allocator.release(f"c{who}", "eth0")
                held.pop(who, None)
            assert len(set(held.values())) == len(held)
            assert "10.7.0.1/29" not in held.values()


@given(st.integers(0, 7))
def test_every_address_is_tried_once(offset: int) -> None:
    ranges = RangeSet([{"subnet": "10.7.0.0/29"}, {"subnet": "10.8.0.0/30"}])
    last = parse_ip(f"10.7.0.{offset}")
    tried = [str(address) for address, _ in candidates(ranges, last)]
    assert sorted(tried) == sorted([f"10.7.0.{n}" for n in range(2, 7)] + ["10.8.0.2"])


def test_prints_what_it_supports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNI_COMMAND", "VERSION")
    out = io.StringIO()
    assert plugin.plugin_main("host-local", COMMANDS, out=out) == 0
    assert json.loads(out.getvalue())["cniVersion"] == "1.1.0"
