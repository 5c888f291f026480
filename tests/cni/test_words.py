"""libcni's small decisions, each with the words of its refusal: versions, names, addresses, results, errors, paths."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni import errors, results
from lifecycle.cni.addresses import is_global_unicast, masked, next_ip, parse_cidr, parse_ip
from lifecycle.cni.config import (
    DEFAULT_CONF_DIR,
    conf_files,
    first_network,
    inject_conf,
    load_conf,
    load_network_conf,
    network_conf_from,
    network_conf_from_file,
    plugin_conf_from,
)
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import Args, decode_result, find_in_path, plugin_err
from lifecycle.cni.launchers import PLUGINS, write_launchers
from lifecycle.cni.naming import validate_container_id, validate_interface_name, validate_network_name
from lifecycle.cni.result_cache import DEFAULT_CACHE_DIR, NetworkAttachment, ResultCache, RuntimeConf
from lifecycle.cni.versions import (
    ALL,
    CURRENT,
    decode_version_info,
    greater_than,
    greater_than_or_equal_to,
    incompatible,
    parse_version,
    version_info,
)


def refused(function: Any, *arguments: Any) -> tuple[str, int]:
    with pytest.raises(CNIError) as caught:
        function(*arguments)
    return str(caught.value), caught.value.code


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("", (0, 1, 0)),
        ("1", (1, 0, 0)),
        ("1.2", (1, 2, 0)),
        ("1.2.3", (1, 2, 3)),
        ("0.3.10", (0, 3, 10)),
        ("10.0.0", (10, 0, 0)),
    ],
)
def test_a_version_is_three_numbers(version: str, numbers: tuple[int, int, int]) -> None:
    assert parse_version(version) == numbers


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.2.3.4", 'invalid version "1.2.3.4": too many parts'),
        *[
            (text, f'failed to convert {name} version part "x": strconv.Atoi: parsing "x": invalid syntax')
            for text, name in (("x", "major"), ("1.x", "minor"), ("1.1.x", "micro"))
        ],
    ],
)  # fmt: skip
def test_what_is_no_version(version: str, words: str) -> None:
    assert refused(parse_version, version) == (words, 999)


def test_which_versions_are_known_and_newer() -> None:
    assert ALL == ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")
    assert CURRENT == "1.1.0"
    assert [greater_than(v, "0.4.0") for v in ("0.3.1", "0.4.0", "0.10.0")] == [False, False, True]
    assert [greater_than_or_equal_to(v, "0.4.0") for v in ("0.3.1", "0.4.0", "0.10.0")] == [False, True, True]
    assert version_info() == {"cniVersion": "1.1.0", "supportedVersions": list(ALL)}
    assert version_info(["x"]) == {"cniVersion": "1.1.0", "supportedVersions": ["x"]}
    assert incompatible("0.4.0", ALL) == ""
    assert incompatible("2.0.0", ["0.1.0", "0.2.0"]) == 'config is "2.0.0", plugin supports ["0.1.0" "0.2.0"]'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"cniVersion": "1.0.0", "supportedVersions": ["a", "b"]}', ["a", "b"]), ('{"cniVersion": "0.2.0"}', ["0.1.0", "0.2.0"]),
        ('{"cniVersion": "0.3.0"}', "decoding version info: missing field supportedVersions"),
        ("{}", "decoding version info: missing field cniVersion"),
        ('{"supportedVersions": ["a"]}', "decoding version info: missing field cniVersion"),
        ("x", "decoding version info: invalid character 'x' looking for beginning of value"),
    ],
)  # fmt: skip
def test_what_a_plugin_says_that_it_supports(text: str, answer: Any) -> None:
    if isinstance(answer, str):
        assert refused(decode_version_info, text) == (answer, 999)
    else:
        assert decode_version_info(text) == answer


@pytest.mark.parametrize(
    ("check", "name", "words", "code"),
    [
        (validate_container_id, "", "missing containerID", 3), (validate_container_id, "-a", "invalid characters in containerID; -a", 4),
        (validate_container_id, "a/b", "invalid characters in containerID; a/b", 4),
        (validate_network_name, "", "missing network name:", 7),
        (validate_network_name, ".a", "invalid characters found in network name; .a", 7),
        (validate_network_name, "a b", "invalid characters found in network name; a b", 7),
        (validate_network_name, "a\n", "invalid characters found in network name; a\n", 7),
        (validate_interface_name, "", "interface name is empty", 4),
        (validate_interface_name, "a" * 16, "interface name is too long; interface name should be less than 16 characters", 4),
        (validate_interface_name, "ä" * 8, "interface name is too long; interface name should be less than 16 characters", 4),
        *[(validate_interface_name, name, "interface name is . or ..", 4) for name in (".", "..")],
        *[
            (validate_interface_name, name, "interface name contains / or : or whitespace characters", 4)
            for name in ("a/b", "a:b", "a b", "a\tb")
        ],
    ],
)  # fmt: skip
def test_names_that_are_refused(check: Any, name: str, words: str, code: int) -> None:
    assert refused(check, name) == (words, code)


@pytest.mark.parametrize("name", ["a", "A0", "0", "a_b.c-d", "eth0"])
def test_names_that_will_do(name: str) -> None:
    for check in (validate_container_id, validate_network_name, validate_interface_name):
        check(name)
    validate_interface_name("a" * 15)
    validate_interface_name("...")
    validate_network_name("a" * 200)


def test_the_numbers_of_errors() -> None:
    assert (errors.UNKNOWN, errors.INCOMPATIBLE_CNI_VERSION, errors.UNKNOWN_CONTAINER) == (0, 1, 3)
    assert (errors.INVALID_ENVIRONMENT_VARIABLES, errors.DECODING_FAILURE, errors.INVALID_NETWORK_CONFIG) == (4, 6, 7)
    assert (errors.INVALID_NET_NS, errors.INTERNAL) == (8, 999)
    plain, told = CNIError("m"), CNIError("m", 7, "d")
    assert (str(plain), plain.as_json()) == ("m", {"code": 999, "msg": "m"})
    assert (str(told), told.as_json()) == ("m; d", {"code": 7, "msg": "m", "details": "d"})
    wrapped = told.wrapped("p")
    assert (str(wrapped), wrapped.code, wrapped.details) == ("p: m; d", 7, "")


@pytest.mark.parametrize(
    ("text", "address"),
    [("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "10.0.0.1"), ("fd00::1", "fd00::1"), ("::", "::")],
)
def test_an_address_in_other_clothes(text: str, address: str) -> None:
    assert str(parse_ip(text)) == address


@pytest.mark.parametrize("text", ["", "10.0.0", "10.0.0.1/24", "x", "10.0.0.256", "010.0.0.1"])
def test_what_is_no_address(text: str) -> None:
    assert refused(parse_ip, text) == (f"invalid IP address: {text}", 999)


@pytest.mark.parametrize(
    "text", ["", "10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/255.0.0.0", "x/8", "10.0.0.1/-1"]
)
def test_what_has_no_prefix(text: str) -> None:
    assert refused(parse_cidr, text) == (f"invalid CIDR address: {text}", 999)


def test_addresses_go_on_and_have_a_network() -> None:
    assert masked(parse_cidr("10.0.0.5/24")) == "10.0.0.0/24"
    assert str(next_ip(parse_ip("10.0.0.255"))) == "10.0.1.0"
    kinds = {
        "10.0.0.1": True, "8.8.8.8": True, "fd00::1": True, "2001:db8::1": True, "255.255.255.255": False, "0.0.0.0": False,
        "127.0.0.1": False, "224.0.0.1": False, "169.254.0.1": False, "::": False, "::1": False, "ff02::1": False, "fe80::1": False,
    }  # fmt: skip
    assert {text: is_global_unicast(ipaddress.ip_address(text)) for text in kinds} == kinds


FULL = {
    "cniVersion": "1.1.0",
    "interfaces": [
        {"name": "eth0", "mac": "m", "mtu": 1500, "sandbox": "s", "socketPath": "p", "pciID": "i", "odd": 1}
    ],
    "ips": [{"interface": 0, "address": "10.0.0.2/24", "gateway": "10.0.0.1"}, {"address": "fd00::2/64"}],
    "routes": [
        {"dst": "0.0.0.0/0", "gw": "10.0.0.1", "mtu": 1400, "table": 0, "scope": 0, "priority": 0},
        {"dst": "::/0"},
    ],
    "dns": {"nameservers": ["n"], "domain": "d", "search": ["s"], "options": ["o"], "odd": 1},
}
DNS = {"nameservers": ["n"], "domain": "d", "search": ["s"], "options": ["o"]}
ROUTE = {"dst": "0.0.0.0/0", "gw": "10.0.0.1", "mtu": 1400, "table": 0, "scope": 0}
IN_WORDS: dict[str, Any] = {
    "1.1.0": {
        "cniVersion": "1.1.0",
        "interfaces": [{"name": "eth0", "mac": "m", "mtu": 1500, "sandbox": "s", "socketPath": "p", "pciID": "i"}],
        "ips": [{"interface": 0, "address": "10.0.0.2/24", "gateway": "10.0.0.1"}, {"address": "fd00::2/64"}],
        "routes": [ROUTE, {"dst": "::/0"}], "dns": DNS,
    },
    "0.4.0": {
        "cniVersion": "0.4.0", "interfaces": [{"name": "eth0", "mac": "m", "sandbox": "s"}],
        "ips": [
            {"version": "4", "interface": 0, "address": "10.0.0.2/24", "gateway": "10.0.0.1"},
            {"version": "6", "address": "fd00::2/64"},
        ],
        "routes": [ROUTE, {"dst": "::/0"}], "dns": DNS,
    },
    "0.2.0": {
        "cniVersion": "0.2.0",
        "ip4": {"ip": "10.0.0.2/24", "gateway": "10.0.0.1", "routes": [{"dst": "0.0.0.0/0", "gw": "10.0.0.1"}]},
        "ip6": {"ip": "fd00::2/64", "routes": [{"dst": "::/0"}]}, "dns": DNS,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("version", "like"),
    [("1.1.0", "1.1.0"), ("1.0.0", "1.1.0"), ("0.4.0", "0.4.0"), ("0.3.1", "0.4.0"), ("0.3.0", "0.4.0"), ("0.2.0", "0.2.0"),
     ("0.1.0", "0.2.0"), ("", "0.2.0")],
)  # fmt: skip
def test_a_result_as_each_version_says_it(version: str, like: str) -> None:
    whole = results.create("1.1.0", FULL)
    assert whole == IN_WORDS["1.1.0"]
    said = results.convert(whole, version)
    assert said == {**IN_WORDS[like], "cniVersion": version or "0.1.0"}
    assert results.ip_addresses(said) == ["10.0.0.2/24", "fd00::2/64"]
    back = results.convert(said, "1.0.0")
    assert back["ips"] == [
        {key: value for key, value in ip.items() if key != "interface" or like != "0.2.0"}
        for ip in IN_WORDS["1.1.0"]["ips"]
    ]
    text = results.marshal(said)
    assert json.loads(text) == said
    assert (list(json.loads(text)) == sorted(said)) or like != "1.1.0"


@pytest.mark.parametrize(
    ("version", "raw", "words"),
    [
        ("2.0.0", {}, 'unsupported CNI result version "2.0.0"'),
        ("1.0.0", {}, 'result type supports [1.0.0 1.1.0] but unmarshalled CNIVersion is ""'),
        ("0.4.0", {"cniVersion": "1.0.0"}, 'result type supports [0.3.0 0.3.1 0.4.0] but unmarshalled CNIVersion is "1.0.0"'),
        ("0.1.0", {"cniVersion": "1.0.0"}, 'result type supports [ 0.1.0 0.2.0] but unmarshalled CNIVersion is "1.0.0"'),
    ],
)  # fmt: skip
def test_results_of_another_version(version: str, raw: Any, words: str) -> None:
    assert refused(results.create, version, raw) == (words, 999)


def test_results_that_say_little() -> None:
    assert results.create("", {}) == {"cniVersion": "0.1.0", "dns": {}}
    assert results.create("0.3.0", {"cniVersion": "0.3.0"}) == {"cniVersion": "0.3.0", "dns": {}}
    assert results.create("1.0.0", {"cniVersion": "1.0.0", "dns": {}, "ips": []}) == {"cniVersion": "1.0.0"}
    for words, (source, target) in {
        "no converter for CNI result version 1.0.0 to 9.9.9": ("1.0.0", "9.9.9"),
        "no converter for CNI result version 9.9.9 to 1.0.0": ("9.9.9", "1.0.0"),
        "cannot convert: no valid IP addresses": ("1.0.0", "0.2.0"),
    }.items():
        assert refused(results.convert, {"cniVersion": source}, target) == (words, 999)


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "words", "number"),
    [
        (b"", b"", 1, "netplugin failed with no error message: exit status 1", 0),
        (b"", b"", -9, "netplugin failed with no error message: signal: 9", 0),
        (b"", b'say "x"', 2, 'netplugin failed: "say \\"x\\"": exit status 2', 0),
        (b'{"code": 7, "msg": "m", "details": "d"}', b"ignored", 1, "m; d", 7), (b'{"msg": "m"}', b"", 1, "m", 0), (b"{}", b"", 1, "", 0),
        (b"null", b"", 1, "", 0),
    ],
)  # fmt: skip
def test_what_a_plugins_failure_means(stdout: bytes, stderr: bytes, code: int, words: str, number: int) -> None:
    error = plugin_err(stdout, stderr, code)
    assert (str(error), error.code) == (words, number)


def test_what_a_plugin_is_told(tmp_path: Path) -> None:
    args = Args("ADD", "c", "/ns", "eth0", [("A", "1"), ("B", "2")], ["/x", "/y"])
    assert args.as_env({"HOME": "h"}) == {
        "HOME": "h", "CNI_COMMAND": "ADD", "CNI_CONTAINERID": "c", "CNI_NETNS": "/ns", "CNI_ARGS": "A=1;B=2", "CNI_IFNAME": "eth0",
        "CNI_PATH": "/x:/y",
    }  # fmt: skip
    assert Args("DEL").as_env({}) == {
        "CNI_COMMAND": "DEL", "CNI_CONTAINERID": "", "CNI_NETNS": "", "CNI_ARGS": "", "CNI_IFNAME": "", "CNI_PATH": "",
    }  # fmt: skip
    assert "PATH" in Args("DEL").as_env()
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        (folder / "both").touch()
    (first / "one").mkdir()
    (second / "one").touch()
    paths = [str(first), str(second)]
    assert find_in_path("both", paths) == str(first / "both")
    assert find_in_path("one", paths) == str(second / "one")
    for arguments, words in (
        (("", paths), "no plugin name provided"), (("a/b", paths), "invalid plugin name: a/b"), (("a", []), "no paths provided"),
        (("a", ["/x", "/y"]), 'failed to find plugin "a" in path [/x /y]'),
    ):  # fmt: skip
        assert refused(find_in_path, *arguments) == (words, 999)


@pytest.mark.parametrize(
    ("netconf", "stdout", "version"),
    [('{"cniVersion": "0.4.0"}', b"{}", "0.4.0"), ("{}", b"{}", "0.1.0"), ('{"cniVersion": "0.4.0"}', b'{"cniVersion": "1.0.0"}', "1.0.0"),
     ('{"cniVersion": "0.4.0"}', b'{"cniVersion": ""}', "0.4.0")],
)  # fmt: skip
def test_a_result_without_a_version_has_the_configurations(netconf: str, stdout: bytes, version: str) -> None:
    assert decode_result(netconf, stdout)["cniVersion"] == version


def test_the_kept_results(tmp_path: Path) -> None:
    assert DEFAULT_CACHE_DIR == "/var/lib/cni"
    cache = ResultCache(tmp_path)
    rt = RuntimeConf("c", "/ns", "eth0", [("A", "1")], {"portMappings": [1]})
    other = RuntimeConf("d", "", "eth0")
    assert list(cache.attachments()) == []
    cache.add(IN_WORDS["1.1.0"], '{"a": 1}', "net", rt)
    cache.add({"cniVersion": "1.0.0"}, "{}", "net", other)
    path = tmp_path / "results" / "net-c-eth0"
    assert cache.path("net", rt) == path
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    kept = json.loads(path.read_text())
    assert list(kept) == [
        "kind",
        "containerId",
        "config",
        "ifName",
        "networkName",
        "netns",
        "cniArgs",
        "capabilityArgs",
        "result",
    ]
    assert (kept["kind"], kept["containerId"], kept["config"], kept["cniArgs"]) == (
        "cniCacheV1",
        "c",
        "eyJhIjogMX0=",
        [["A", "1"]],
    )
    assert list(json.loads((tmp_path / "results" / "net-d-eth0").read_text())) == [
        "kind", "containerId", "config", "ifName", "networkName", "result",
    ]  # fmt: skip
    assert cache.result("net", "1.1.0", rt) == IN_WORDS["1.1.0"]
    assert cache.result("net", "0.4.0", rt) == IN_WORDS["0.4.0"]
    first = NetworkAttachment("net", rt, '{"a": 1}')
    (path.parent / "broken").write_text("{")
    (path.parent / "other").write_text('{"kind": "x"}')
    (path.parent / "half").write_text('{"kind": "cniCacheV1", "ifName": "eth0"}')
    (path.parent / "list").write_text("[]")
    (path.parent / "coded").write_text('{"kind": "cniCacheV1", "ifName": "eth0", "networkName": "n", "config": "?"}')
    assert list(cache.attachments("c")) == [first]
    assert [each.runtime.container_id for each in cache.attachments()] == ["c", "d"]
    words = (
        'failed to convert cached result to config version "9.9.9": no converter for CNI result version 1.1.0 to 9.9.9'
    )
    assert refused(cache.result, "net", "9.9.9", rt) == (words, 999)
    for text, why in (
        ("{", "unexpected end of JSON input"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ):
        path.write_text(text)
        assert refused(cache.result, "net", "1.0.0", rt) == (f"decoding version from network config: {why}", 999)
    path.write_text('{"kind": "x", "cniVersion": "0.2.0"}')
    assert cache.result("net", "0.2.0", rt) == {"cniVersion": "0.2.0", "dns": {}}  # as it was before 2019
    for _ in range(2):
        cache.delete("net", rt)
        assert cache.result("net", "1.0.0", rt) is None
    cache.delete("", rt)
    assert refused(cache.path, "", RuntimeConf("", "", "")) == (
        'cache file path requires network name (""), container ID (""), and interface name ("")', 999,
    )  # fmt: skip


CONF = '{"type": "a", "name": "n", "capabilities": {"x": true, "y": false}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "error parsing configuration: unexpected end of JSON input"),
        ("{}", "error parsing configuration: missing 'type'"),
        ('{"type": ""}', "error parsing configuration: missing 'type'"),
    ],
)
def test_a_plugins_configuration(text: str, words: str) -> None:
    assert refused(plugin_conf_from, text) == (words, 999)
    conf = plugin_conf_from(CONF)
    assert (conf.type, conf.name, conf.capabilities, conf.text) == ("a", "n", ["x"], CONF)
    bare = plugin_conf_from('{"type": "b"}')
    assert (bare.type, bare.name, bare.capabilities) == ("b", "", [])
    assert inject_conf(bare, {"k": 1, "type": "c"}).network == {"type": "c", "k": 1}
    assert refused(inject_conf, bare, {"": 1}) == ("keys cannot be empty", 999)
    assert refused(inject_conf, bare, {"k": None}) == ("key 'k' value must not be nil", 999)


LIST = "error parsing configuration list: "


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, "no name"), ({"name": 1}, "invalid name type float64"), ({"name": "n", "cniVersion": True}, "invalid cniVersion type bool"),
        ({"name": "n", "cniVersions": {}}, "invalid type for cniVersions: []interface {}"),
        ({"name": "n", "cniVersions": ["0.4.0", 1]}, "invalid type for cniVersions index 1: float64"),
        ({"name": "n", "cniVersions": ["x"]},
         'invalid cniVersions entry x at index 0: failed to convert major version part "x": strconv.Atoi: parsing "x": invalid syntax'),
        ({"name": "n", "cniVersion": "1.2.3.4", "cniVersions": []},
         'invalid cniVersion 1.2.3.4: invalid version "1.2.3.4": too many parts'),
        ({"name": "n", "disableCheck": 1}, "invalid type float64 for disableCheck"),
        ({"name": "n", "disableGC": "MayBe"}, 'invalid value "maybe" for disableGC'), ({"name": "n", "plugins": {}},
         "invalid 'plugins' type map[string]interface {}"), ({"name": "n", "plugins": []}, "no plugins in list"),
        ({"name": "n", "loadOnlyInlinedPlugins": True}, "`loadOnlyInlinedPlugins` is true, and no 'plugins' key"),
    ],
)  # fmt: skip
def test_a_list_that_is_none(raw: dict[str, Any], words: str) -> None:
    assert refused(network_conf_from, json.dumps(raw)) == (LIST + words, 999)


@pytest.mark.parametrize(
    ("raw", "version", "flags"),
    [
        ({}, "", (False, False, False)), ({"cniVersion": "0.4.0"}, "0.4.0", (False, False, False)),
        ({"cniVersion": "0.4.0", "cniVersions": ["0.3.1", "1.0.0"]}, "1.0.0", (False, False, False)),
        ({"cniVersion": "1.1.0", "cniVersions": ["0.3.1"]}, "1.1.0", (False, False, False)),
        ({"cniVersion": "9.0.0", "cniVersions": ["0.10.0", "0.4.0", "2.0.0"]}, "0.10.0", (False, False, False)),
        ({"cniVersion": "9.0.0", "cniVersions": ["8.0.0"]}, "9.0.0", (False, False, False)),
        ({"disableCheck": True}, "", (True, False, False)), ({"disableCheck": "TRUE", "disableGC": "False"}, "", (True, False, False)),
        ({"disableGC": "true"}, "", (False, True, False)), ({"loadOnlyInlinedPlugins": True}, "", (False, False, True)),
    ],
)  # fmt: skip
def test_what_a_list_says(raw: dict[str, Any], version: str, flags: tuple[bool, bool, bool]) -> None:
    conf = network_conf_from(json.dumps({"name": "n", "plugins": [{"type": "a"}, {"type": "b"}], **raw}))
    assert (conf.name, conf.cni_version, [plugin.type for plugin in conf.plugins]) == ("n", version, ["a", "b"])
    assert (conf.disable_check, conf.disable_gc, conf.load_only_inlined_plugins) == flags


def test_which_files_are_read_and_in_which_order(tmp_path: Path) -> None:
    assert DEFAULT_CONF_DIR == "/etc/cni/net.d"
    assert conf_files(tmp_path / "none", (".conf",)) == []
    where = str(tmp_path)
    assert refused(load_conf, where, "n") == (f"no net configurations found in {where}", 999)
    nothing, broken = "cni plugin not initialized", "failed to load cni config"
    assert refused(first_network, where) == (
        f"cni config load failed: no network config found in {where}: {nothing}: {broken}",
        999,
    )
    (tmp_path / "0.conf").write_text("{")
    (tmp_path / "1.conflist").write_text('{"name": "n"}')  # without a plugin
    (tmp_path / "dir.conf").mkdir()
    (tmp_path / "x.txt").write_text("")
    unreadable = "error parsing configuration: unexpected end of JSON input"
    assert refused(first_network, where) == (
        f"cni config load failed: failed to load CNI config file {where}/0.conf: {unreadable}: invalid cni config: {broken}",
        999,
    )
    assert refused(network_conf_from_file, tmp_path / "1.conflist") == ("no plugin configs found", 999)
    missing = tmp_path / "y.conflist"
    assert refused(network_conf_from_file, missing) == (
        f"error reading {missing}: open {missing}: no such file or directory",
        999,
    )
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "b.conf").write_text('{"type": "b"}')
    (tmp_path / "n" / "a.conf").write_text('{"type": "a"}')
    (tmp_path / "n" / "c.json").write_text('{"type": "c"}')
    assert [plugin.type for plugin in network_conf_from_file(tmp_path / "1.conflist").plugins] == ["a", "b"]
    (tmp_path / "2.conflist").write_text('{"name": "m", "loadOnlyInlinedPlugins": true, "plugins": [{"type": "only"}]}')
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.conf").write_text('{"type": "a"}')
    assert [plugin.type for plugin in network_conf_from_file(tmp_path / "2.conflist").plugins] == ["only"]
    (tmp_path / "0.conf").write_text('{"type": "single", "name": "s", "cniVersion": "0.3.1"}')
    (tmp_path / "3.json").write_text('{"type": "json", "name": "m"}')
    assert [file.name for file in conf_files(tmp_path, (".conf", ".json"))] == ["0.conf", "3.json"]
    assert first_network(where).plugins[0].type == "single"
    assert load_network_conf(where, "m").plugins[0].type == "only"  # lists come first
    assert load_conf(where, "m").type == "json"
    single = load_network_conf(where, "s")
    assert (single.name, single.cni_version, [plugin.type for plugin in single.plugins]) == ("s", "0.3.1", ["single"])
    words = f'no net configuration with name "x" in {where}'
    assert refused(load_network_conf, where, "x") == refused(load_conf, where, "x") == (words, 999)
    for file in ("0.conf", "3.json"):
        (tmp_path / file).unlink()
    assert refused(load_network_conf, where, "x") == (words, 999)


def test_each_plugin_has_an_executable(tmp_path: Path) -> None:
    folder = write_launchers(tmp_path / "bin" / "cni")
    assert {path.name for path in folder.iterdir()} == set(PLUGINS) == {
        "bridge", "host-local", "loopback", "portmap", "ptp", "static",
    }  # fmt: skip
    for name, module in PLUGINS.items():
        text = (folder / name).read_text()
        assert (folder / name).stat().st_mode & 0o777 == 0o755
        assert text.startswith("#!/")
        assert text.splitlines()[0].endswith(" -IS")
        assert f"from {module} import main\nsys.exit(main())\n" in text
    write_launchers(folder)
    assert len(list(folder.iterdir())) == len(PLUGINS)
