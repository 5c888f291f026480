"""Configurations that nobody should write, and what is said of them: Debian's plugins and ours, word for word.

Nothing is set up here, so it needs neither root nor a namespace of its own. What our version (1.9) says differently from Debian's (1.1)
is left out.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import decode_result, plugin_err
from lifecycle.cni.plugins.go_structs import BOOL, INT, IP, STRING, STRINGS, Slice, Struct, misfit
from tests.conftest import unavailable

DEBIAN = Path("/usr/lib/cni")
RANGES = [[{"subnet": "10.1.0.0/29"}]]


@pytest.fixture(scope="module")
def plugins(ours: Path) -> tuple[Path, Path]:
    if not (DEBIAN / "host-local").exists():
        unavailable("Debian's containernetworking-plugins are not installed")
    return DEBIAN, ours


def call(plugins: Path, plugin: str, command: str, text: str, **env: str) -> tuple[int, Any]:
    told = {
        "CNI_CONTAINERID": "c1",
        "CNI_NETNS": "/proc/1/ns/none",
        "CNI_IFNAME": "eth0",
        "CNI_PATH": str(plugins),
        **env,
    }
    command_line = [str(plugins / plugin)]
    done = subprocess.run(
        command_line, input=text, capture_output=True, text=True, env={"CNI_COMMAND": command, **told}, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    answer = json.loads(done.stdout) if done.stdout.strip() else {}
    if answer.get("dns") == {}:
        del answer["dns"]
    return done.returncode, answer


def host_local(**ipam: Any) -> dict[str, Any]:
    return {"cniVersion": "1.0.0", "name": "net", "ipam": {"type": "host-local", "ranges": RANGES, **ipam}}


def static(**ipam: Any) -> dict[str, Any]:
    return {"cniVersion": "1.0.0", "name": "net", "ipam": {"type": "static", **ipam}}


HOST_LOCAL: list[Any] = [
    *("", "  ", "{", "[]", "null", "5", '"x"', '{"name":"n"} x', '{"name": "x",}', '{"name": "x" "y"}', "{'name': 1}"),
    *('{"name": tru}', '{"name": "x"', "[1,", r'{"name": "\x"}', '{"name"; 1}', "[1 2]", "nul", '{"name": "a\nb"}'),
    *({**host_local(), "name": name} for name in (5, "", "a/b", None)),
    *({**host_local(), "cniVersion": version} for version in (3, True)),
    {"cniVersion": "1.0.0", "name": "net", "ipam": 5},
    *(host_local(ranges=ranges) for ranges in ("x", [], [[]], [[{}]], [5], [[5]], [{"subnet": "10.1.0.0/24"}])),
    *(host_local(ranges=[[{"subnet": subnet}]]) for subnet in (5, "bogus", "10.1.0.1/29", "10.1.0.0/31", "fd00::1/64")),
    *(host_local(routes=routes) for routes in ("x", [5], [{"dst": 5}], [{"dst": "bogus"}], [{"gw": "1.2.3.4"}])),
    *(host_local(**{key: 7}) for key in ("dataDir", "resolvConf", "type", "gateway", "subnet")),
    *({**host_local(), "args": args} for args in (5, {"cni": 5}, {"cni": {"ips": "x"}}, {"cni": {"ips": [5]}})),
    *({**host_local(), "runtimeConfig": runtime} for runtime in ([], {"ipRanges": 5}, {"ips": ["zzz"]})),
]
STATIC: list[Any] = [
    {"cniVersion": "1.0.0", "name": "n"},
    *(static(addresses=addresses) for addresses in (5, [5], [{}], [{"address": 5}], [{"address": "10.1.0.5"}])),
    *(static(addresses=[{"address": "10.1.0.5/24", "gateway": gateway}]) for gateway in (5, "zz", "10.1.0.1")),
    *(static(routes=5), static(routes=[5]), static(dns=5), static(dns={"nameservers": 5})),
    *({**static(), "runtimeConfig": {"ips": ips}} for ips in ({}, ["10.9.0.5"], ["x/4"], ["10.9.0.5/24"])),
]


@pytest.mark.parametrize(
    ("plugin", "conf"), [*(("host-local", conf) for conf in HOST_LOCAL), *(("static", conf) for conf in STATIC)]
)
def test_the_same_words(plugins: tuple[Path, Path], tmp_path: Path, plugin: str, conf: Any) -> None:
    seen = []
    for number, where in enumerate(plugins):
        if isinstance(conf, dict) and isinstance(conf.get("ipam"), dict) and "dataDir" not in conf["ipam"]:
            conf = {**conf, "ipam": {**conf["ipam"], "dataDir": "HERE"}}
        text = conf if isinstance(conf, str) else json.dumps(conf).replace("HERE", str(tmp_path / str(number)))
        seen.append([call(where, plugin, command, text) for command in ("ADD", "CHECK", "DEL")])
    assert seen[1] == seen[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": "x", "b": [True], "c": {"d": 1}}, ""),
        ({"a": None, "b": None, "c": None}, ""),
        ({"c": {"d": "x"}, "a": 5}, "Go struct field Inner.c.d of type int"),
        ({"c": {"d": 1.5}}, "cannot unmarshal number 1.5 into Go struct field Inner.c.d of type int"),
        ({"b": [True, 0]}, "cannot unmarshal number into Go struct field Outer.b of type bool"),
        ({"b": {}}, "cannot unmarshal object into Go struct field Outer.b of type []bool"),
        ({"e": False}, "cannot unmarshal bool into Go struct field Outer.e of type net.IP"),
        ([], "cannot unmarshal array into Go value of type main.Outer"),
    ],
)
def test_the_first_misfit_is_named_with_its_path(value: Any, said: str) -> None:
    inner = Struct({"d": INT}, "main.Inner")
    outer = Struct({"a": STRING, "b": Slice(BOOL, "[]bool"), "c": inner, "e": IP, "f": STRINGS}, "main.Outer")
    assert misfit(value, outer).endswith(said)
    assert bool(misfit(value, outer)) == bool(said)


def test_what_is_no_json_is_refused_as_go_does() -> None:
    with pytest.raises(ValueError, match=r"^invalid character ']' looking for beginning of value$"):
        unmarshal("[1,]")
    assert unmarshal('{"a": [1, {"b": "}"}]}') == {"a": [1, {"b": "}"}]}


@pytest.mark.parametrize(
    ("stdout", "complaint"),
    [
        (b"", "unexpected end of JSON input"),
        (b"oops", "invalid character 'o' looking for beginning of value"),
        (b"[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_a_result_that_is_none_is_refused_as_go_does(stdout: bytes, complaint: str) -> None:
    with pytest.raises(CNIError, match=f"^{re.escape(f'failed to unmarshal raw result: {complaint}')}$"):
        decode_result("{}", stdout)


@pytest.mark.parametrize(
    ("stdout", "complaint"),
    [
        (b"oops", "invalid character 'o' looking for beginning of value"),
        (b"[]", "json: cannot unmarshal array into Go value of type types.Error"),
        (b'{"code":"x"}', "json: cannot unmarshal string into Go struct field Error.code of type uint"),
    ],
)
def test_a_plugin_s_complaint_that_is_none_is_told_with_go_s(stdout: bytes, complaint: str) -> None:
    error = plugin_err(stdout, b"", 1)
    assert str(error).endswith(f"error parsing its diagnostic message {go_quote(stdout.decode())}: {complaint}")
    assert plugin_err(b'{"code":11,"msg":"m","details":"d"}', b"", 1).code == 11
