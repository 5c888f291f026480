"""libcni: which file, which order, what is piped in, what is kept – with plugins that only write down what they were told."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni import config, results
from lifecycle.cni.errors import CNIError
from lifecycle.cni.launchers import write_launchers
from lifecycle.cni.libcni import CNIConfig
from lifecycle.cni.pod_network import PodNetwork, Sandbox
from lifecycle.cni.result_cache import RuntimeConf

SPY = """#!/bin/sh
dir=$(dirname "$0")
stdin=$(cat)
echo "$(basename "$0") $CNI_COMMAND $CNI_CONTAINERID $CNI_NETNS $CNI_IFNAME $CNI_ARGS $stdin" >> "$dir/log"
[ "$CNI_COMMAND" = VERSION ] && echo '{"cniVersion":"1.1.0","supportedVersions":["0.4.0","1.1.0"]}'
[ -f "$dir/$(basename "$0").$CNI_COMMAND" ] && { cat "$dir/$(basename "$0").$CNI_COMMAND"; exit 1; }
[ "$CNI_COMMAND" = ADD ] && echo '{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.'$(wc -l < "$dir/log")'/24"}]}'
exit 0
"""
CONF = {
    "cniVersion": "1.1.0",
    "name": "net",
    "plugins": [{"type": "first", "capabilities": {"portMappings": True, "dns": False}}, {"type": "second"}],
}
RT = RuntimeConf(
    "c1",
    "/run/netns/x",
    "eth0",
    [("K8S_POD_NAME", "web")],
    {"portMappings": [{"hostPort": 1}], "dns": {"Servers": ["1.1.1.1"]}},
)


@pytest.fixture
def spies(tmp_path: Path) -> Path:
    for name in ("first", "second", "loopback"):
        (tmp_path / name).write_text(SPY)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def calls(directory: Path) -> list[tuple[str, str, Any]]:
    found = []
    for line in (directory / "log").read_text().splitlines():
        name, command, rest = line.split(" ", 2)
        found.append((name, command, json.loads(rest[rest.index("{") :])))
    return found


def test_plugins_run_in_order_and_back(spies: Path) -> None:
    network, libcni = config.network_conf_from(json.dumps(CONF)), CNIConfig([spies], spies / "cache")
    result = asyncio.run(libcni.add_network_list(network, RT))
    asyncio.run(libcni.check_network_list(network, RT))
    asyncio.run(libcni.del_network_list(network, RT))
    log = calls(spies)
    assert [call[:2] for call in log] == [(n, c) for c in ("ADD", "CHECK") for n in ("first", "second")] + [
        ("second", "DEL"),
        ("first", "DEL"),
    ]
    first, second = log[0][2], log[1][2]
    assert "prevResult" not in first
    assert first["runtimeConfig"] == {"portMappings": [{"hostPort": 1}]}
    assert second["prevResult"]["ips"] == [{"address": "10.0.0.1/24"}]
    assert (second["name"], second["cniVersion"]) == ("net", "1.1.0")
    assert "runtimeConfig" not in second
    assert log[4][2]["prevResult"] == result == log[2][2]["prevResult"]
    assert not list((spies / "cache" / "results").iterdir())


def test_a_plugins_error_keeps_its_code_and_names_the_plugin(spies: Path) -> None:
    (spies / "second.ADD").write_text('{"code": 11, "msg": "later", "details": "busy"}')
    network, libcni = config.network_conf_from(json.dumps(CONF)), CNIConfig([spies], spies / "cache")
    with pytest.raises(CNIError, match=r'^plugin type="second" failed \(add\): later; busy$') as raised:
        asyncio.run(libcni.add_network_list(network, RT))
    assert raised.value.code == 11
    assert [call[:2] for call in calls(spies)] == [("first", "ADD"), ("second", "ADD")]


def test_garbage_collection_deletes_what_nobody_claims(spies: Path) -> None:
    network, libcni = config.network_conf_from(json.dumps(CONF)), CNIConfig([spies], spies / "cache")
    for container in ("c1", "c2"):
        asyncio.run(libcni.add_network_list(network, RuntimeConf(container, "/x", "eth0")))
    (spies / "log").unlink()
    asyncio.run(libcni.gc_network_list(network, [("c2", "eth0")]))
    log = calls(spies)
    assert [call[:2] for call in log] == [("second", "DEL"), ("first", "DEL"), ("first", "GC"), ("second", "GC")]
    assert log[-1][2]["cni.dev/valid-attachments"] == [{"containerID": "c2", "ifname": "eth0"}]
    assert [a.runtime.container_id for a in libcni.cached_attachments()] == ["c2"]


def test_validation_asks_every_plugin(spies: Path) -> None:
    libcni = CNIConfig([spies], spies / "cache")
    assert asyncio.run(libcni.validate_network_list(config.network_conf_from(json.dumps(CONF)))) == ["portMappings"]
    old = {**CONF, "cniVersion": "0.3.1", "plugins": [{"type": "first"}, {"type": "none-such"}]}
    words = (
        r'^\[plugin first does not support config version "0.3.1" failed to find plugin "none-such" in path \[.*\]\]$'
    )
    with pytest.raises(CNIError, match=words):
        asyncio.run(libcni.validate_network_list(config.network_conf_from(json.dumps(old))))


def test_a_runtime_takes_the_first_file_and_none_if_that_is_broken(tmp_path: Path) -> None:
    (tmp_path / "00-broken.conflist").write_text("{")
    (tmp_path / "05-notes.txt").write_text("no configuration")
    (tmp_path / "10-one.conf").write_text(json.dumps({"cniVersion": "0.3.1", "name": "one", "type": "bridge"}))
    (tmp_path / "20-list.conflist").write_text(json.dumps({**CONF, "name": "list"}))
    with pytest.raises(CNIError, match=r"^cni config load failed: failed to load CNI config list file .*00-broken"):
        config.first_network(tmp_path)
    (tmp_path / "00-broken.conflist").unlink()
    (tmp_path / "30-broken.conf").write_text("{")
    assert config.first_network(tmp_path).name == "one"
    (tmp_path / "30-broken.conf").unlink()
    assert config.load_network_conf(tmp_path, "list").name == "list"
    assert config.load_network_conf(tmp_path, "one").plugins[0].type == "bridge"
    with pytest.raises(CNIError, match=r'no net configuration with name "two" in'):
        config.load_network_conf(tmp_path, "two")
    with pytest.raises(CNIError, match=r"no network config found in"):
        config.first_network(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "error parsing configuration list: no name"),
        ('{"name": 1}', "error parsing configuration list: invalid name type float64"),
        ('{"name": "x", "cniVersion": []}', "error parsing configuration list: invalid cniVersion type []interface {}"),
        ('{"name": "x", "plugins": []}', "error parsing configuration list: no plugins in list"),
        (
            '{"name": "x", "plugins": {}}',
            "error parsing configuration list: invalid 'plugins' type map[string]interface {}",
        ),
        (
            '{"name": "x", "plugins": [{}]}',
            "failed to parse plugin config 0: error parsing configuration: missing 'type'",
        ),
        (
            '{"name": "x", "disableCheck": "maybe"}',
            'error parsing configuration list: invalid value "maybe" for disableCheck',
        ),
        (
            '{"name": "x", "loadOnlyInlinedPlugins": true}',
            "error parsing configuration list: `loadOnlyInlinedPlugins` is true, and no 'plugins' key",
        ),
    ],
)
def test_bad_lists_are_refused_in_upstreams_words(text: str, words: str) -> None:
    with pytest.raises(CNIError) as raised:
        config.network_conf_from(text)
    assert str(raised.value) == words


def test_the_newest_version_both_know_is_chosen() -> None:
    conf = {**CONF, "cniVersion": "0.4.0", "cniVersions": ["1.0.0", "2.0.0", "0.3.1"]}
    assert config.network_conf_from(json.dumps(conf)).cni_version == "1.0.0"


RESULT = {
    "cniVersion": "1.1.0",
    "interfaces": [{"name": "eth0", "mac": "02:00:00:00:00:01", "mtu": 1450, "sandbox": "/x"}],
    "ips": [
        {"interface": 0, "address": "10.0.0.2/24", "gateway": "10.0.0.1"},
        {"interface": 0, "address": "fd00::2/64"},
    ],
    "routes": [{"dst": "0.0.0.0/0"}, {"dst": "fd01::/64", "gw": "fd00::1", "mtu": 1400}],
}


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"])
def test_results_survive_a_round_trip_as_far_as_the_version_can_say_it(version: str) -> None:
    there = results.convert(results.create("1.1.0", RESULT), version)
    assert there["cniVersion"] == version
    back = results.convert(results.create(version, json.loads(results.marshal(there))), "1.1.0")
    assert [ip["address"] for ip in back["ips"]] == ["10.0.0.2/24", "fd00::2/64"]
    assert back["ips"][0]["gateway"] == "10.0.0.1"
    assert [route["dst"] for route in back["routes"]] == ["0.0.0.0/0", "fd01::/64"]
    assert ("interfaces" in back) == (version >= "0.3.0")
    assert ("version" in there.get("ips", [{}])[0]) == ("0.3.0" <= version < "1.0.0")


def test_old_versions_need_an_address() -> None:
    with pytest.raises(CNIError, match=r"^cannot convert: no valid IP addresses$"):
        results.convert({"cniVersion": "1.0.0", "interfaces": [{"name": "eth0"}]}, "0.2.0")


def test_a_sandbox_gets_loopback_and_the_first_network(spies: Path) -> None:
    (spies / "net.d").mkdir()
    (spies / "net.d" / "10-net.conflist").write_text(json.dumps(CONF))
    network = PodNetwork(spies / "net.d", [spies], spies / "cache")
    sandbox = Sandbox("s1", "web", "shop", "u1", [{"hostPort": 8080, "containerPort": 80}])
    (spies / "loopback.CHECK").touch()
    result = asyncio.run(network.set_up_pod("/x", sandbox))
    assert result.ips == ["10.0.0.3"]
    lines = (spies / "log").read_text().splitlines()
    assert lines[1].startswith(
        "first ADD s1 /x eth0 IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=s1;K8S_POD_UID=u1 "
    )
    assert calls(spies)[1][2]["runtimeConfig"]["portMappings"] == [
        {"hostPort": 8080, "containerPort": 80, "protocol": "tcp", "hostIP": ""}
    ]
    asyncio.run(network.tear_down_pod("/x", sandbox))
    assert not list((spies / "cache" / "results").iterdir())


def test_a_sandbox_that_cannot_be_set_up_leaves_nothing(spies: Path) -> None:
    (spies / "net.d").mkdir()
    (spies / "net.d" / "10-net.conflist").write_text(json.dumps(CONF))
    (spies / "second.ADD").write_text('{"code": 999, "msg": "no"}')
    network = PodNetwork(spies / "net.d", [spies], spies / "cache")
    words = r'^failed to setup network for sandbox "s1": plugin type="second" failed \(add\): no$'
    with pytest.raises(CNIError, match=words):
        asyncio.run(network.set_up_pod("/x", Sandbox("s1", "web", "shop", "u1")))
    assert [call[:2] for call in calls(spies)][-3:] == [("second", "DEL"), ("first", "DEL"), ("loopback", "DEL")]


def network_in(spies: Path, conf: dict[str, Any] = CONF) -> PodNetwork:
    (spies / "net.d").mkdir(exist_ok=True)
    (spies / "net.d" / "10-net.conflist").write_text(json.dumps(conf))
    return PodNetwork(spies / "net.d", [spies], spies / "cache")


WEB = Sandbox("s1", "web", "shop", "u1", dns={"Servers": ["10.0.0.53"]}, cgroup_path="/kubepods/u1")


def test_what_a_sandbox_offers_reaches_only_the_plugins_that_ask_for_it(spies: Path) -> None:
    asking = {"type": "second", "capabilities": {"dns": True, "cgroupPath": True}}
    network = network_in(spies, {**CONF, "plugins": [{"type": "first"}, asking]})
    asyncio.run(network.set_up_pod("/x", WEB))
    _, first, second = calls(spies)
    assert "runtimeConfig" not in first[2]
    assert second[2]["runtimeConfig"] == {"dns": {"Servers": ["10.0.0.53"]}, "cgroupPath": "/kubepods/u1"}


def test_a_sandbox_without_an_address_is_detached_again(spies: Path) -> None:
    (spies / "second").write_text(
        SPY.replace("10.0.0.", "x").replace('"ips":[{"address":"x\'$(wc -l < "$dir/log")\'/24"}]', '"ips":[]')
    )
    with pytest.raises(CNIError, match=r'^failed to find network info for sandbox "s1"$'):
        asyncio.run(network_in(spies).set_up_pod("/x", WEB))
    assert [call[:2] for call in calls(spies)][3:] == [("second", "DEL"), ("first", "DEL"), ("loopback", "DEL")]


def test_a_sandbox_is_detached_from_all_and_the_first_complaint_is_told(spies: Path) -> None:
    network = network_in(spies)
    asyncio.run(network.set_up_pod("/x", WEB))
    for name in ("first", "loopback"):
        (spies / f"{name}.DEL").write_text(json.dumps({"code": 11, "msg": f"{name} is busy"}))
    words = r'^failed to destroy network for sandbox "s1": plugin type="first" failed \(delete\): first is busy$'
    with pytest.raises(CNIError, match=words) as refused:
        asyncio.run(network.tear_down_pod("/x", WEB))
    assert refused.value.code == 11
    assert [call[:2] for call in calls(spies)][3:] == [("second", "DEL"), ("first", "DEL"), ("loopback", "DEL")]
    assert sorted(path.name for path in (spies / "cache" / "results").iterdir()) == [
        "cni-loopback-s1-lo",
        "net-s1-eth0",
    ]
    for name in ("first", "loopback"):
        (spies / f"{name}.DEL").unlink()
    asyncio.run(network.tear_down_pod("/x", WEB))
    assert not list((spies / "cache" / "results").iterdir())


@pytest.mark.parametrize(
    ("netns", "said", "gone"),
    [
        ("/x", "interface eth0 not found", True),
        ("/x", "open /x: no such file or directory", False),
        ("", "open : no such file or directory", True),
        ("", "device or resource busy", False),
    ],
)
def test_a_plugin_that_finds_nothing_to_remove_has_removed_it(spies: Path, netns: str, said: str, gone: bool) -> None:
    """go-cni's `Remove`: else a pod that has lost its network would never end."""
    network = network_in(spies)
    (spies / "first.DEL").write_text(json.dumps({"code": 999, "msg": said}))
    if gone:
        asyncio.run(network.tear_down_pod(netns, WEB))
    else:
        with pytest.raises(CNIError, match=f"{said}$"):
            asyncio.run(network.tear_down_pod(netns, WEB))


def test_without_a_configuration_nothing_is_attached_or_detached_and_the_network_is_not_ready(spies: Path) -> None:
    network = PodNetwork(spies / "none", [spies], spies / "cache")
    for prefix, call in (
        ('failed to setup network for sandbox "s1": ', network.set_up_pod("/x", WEB)),
        ('failed to destroy network for sandbox "s1": ', network.tear_down_pod("/x", WEB)),
        ("", network.status()),
    ):
        with pytest.raises(CNIError, match=f"^{prefix}cni plugin not initialized$"):
            asyncio.run(call)
    assert not (spies / "log").exists()


def test_the_network_is_as_ready_as_its_plugins_say(spies: Path) -> None:
    asyncio.run(network_in(spies).status())
    assert [call[:2] for call in calls(spies)] == [("first", "STATUS"), ("second", "STATUS")]
    assert calls(spies)[0][2] == {**CONF["plugins"][0], "name": "net", "cniVersion": "1.1.0"}  # type: ignore[index]
    assert (spies / "log").read_text().startswith("first STATUS     {"), (
        "it is about no container, namespace or interface"
    )
    (spies / "first.STATUS").write_text('{"code": 50, "msg": "no addresses left"}')
    with pytest.raises(CNIError, match=r"^no addresses left$") as refused:
        asyncio.run(network_in(spies).status())
    assert refused.value.code == 50
    asyncio.run(network_in(spies, {**CONF, "cniVersion": "1.0.0"}).status())
    assert len(calls(spies)) == 3, "older ones cannot be asked"


def test_what_stops_a_list(spies: Path) -> None:
    libcni = CNIConfig([spies], spies / "cache")

    def said(call: Any) -> str:
        with pytest.raises(CNIError) as refused:
            asyncio.run(call)
        return str(refused.value)

    empty = config.network_conf_from('{"name": "net", "cniVersion": "1.0.0"}')
    assert said(libcni.add_network_list(empty, RT)) == "no plugin configs found"
    network = config.network_conf_from(json.dumps(CONF))
    old = config.network_conf_from(json.dumps({**CONF, "cniVersion": "0.3.1"}))
    assert (
        said(libcni.check_network_list(old, RT)) == 'configuration version "0.3.1" does not support the CHECK command'
    )
    (spies / "second.CHECK").write_text('{"code": 20, "msg": "drifted"}')
    assert said(libcni.check_network_list(network, RT)) == "drifted"
    unchecked = config.network_conf_from(json.dumps({**CONF, "disableCheck": True}))
    asyncio.run(libcni.check_network_list(unchecked, RT))
    (spies / "cache").write_text("a file in the way")
    assert said(libcni.add_network_list(network, RT)).startswith('failed to set network "net" cached result: ')


@pytest.mark.parametrize(
    "kept", ["", "[]", '{"cniVersion": "7.0.0"}', '{"kind": "cniCacheV1", "result": {"cniVersion": "7.0.0"}}']
)
def test_a_kept_result_that_cannot_be_read_hinders_check_but_not_the_end(spies: Path, kept: str) -> None:
    network, libcni = config.network_conf_from(json.dumps(CONF)), CNIConfig([spies], spies / "cache")
    asyncio.run(libcni.add_network_list(network, RT))
    (file,) = (spies / "cache" / "results").iterdir()
    file.write_text(kept)
    with pytest.raises(CNIError, match=r'^failed to get network "net" cached result: '):
        asyncio.run(libcni.check_network_list(network, RT))
    asyncio.run(libcni.del_network_list(network, RT))
    assert [(name, command, "prevResult" in conf) for name, command, conf in calls(spies)[2:]] == [
        ("second", "DEL", False),
        ("first", "DEL", False),
    ]
    assert not file.exists()


def test_garbage_collection_goes_on_after_a_refusal_and_tells_all(spies: Path) -> None:
    network, libcni = config.network_conf_from(json.dumps(CONF)), CNIConfig([spies], spies / "cache")
    for container in ("c1", "c2"):
        asyncio.run(libcni.add_network_list(network, RuntimeConf(container, "/x", "eth0")))
    other = config.network_conf_from(json.dumps({**CONF, "name": "other"}))
    asyncio.run(libcni.add_network_list(other, RuntimeConf("c1", "/x", "eth0")))
    for name in ("second.DEL", "first.GC"):
        (spies / name).write_text(json.dumps({"code": 999, "msg": f"no {name}"}))
    (spies / "log").unlink()
    with pytest.raises(CNIError) as refused:
        asyncio.run(libcni.gc_network_list(network, []))
    assert str(refused.value).splitlines() == [
        *(
            f'failed to delete stale attachment {container} eth0: plugin type="second" failed (delete): no second.DEL'
            for container in ("c1", "c2")
        ),
        "failed to GC plugin first: no first.GC",
    ]
    assert [call[:2] for call in calls(spies)] == [("second", "DEL")] * 2 + [("first", "GC"), ("second", "GC")]
    unasked = config.network_conf_from(json.dumps({**CONF, "disableGC": True}))
    asyncio.run(libcni.gc_network_list(unasked, []))
    older = config.network_conf_from(json.dumps({**CONF, "cniVersion": "1.0.0", "name": "older"}))
    asyncio.run(libcni.gc_network_list(older, []))
    assert len(calls(spies)) == 4, "one must not, the other cannot"


def test_a_plugin_from_before_versions_speaks_the_first_one(spies: Path) -> None:
    (spies / "old").write_text(
        '#!/bin/sh\ncat > /dev/null\necho \'{"code": 4, "msg": "unknown CNI_COMMAND: VERSION"}\'\nexit 1\n'
    )
    (spies / "odd").write_text('#!/bin/sh\ncat > /dev/null\necho \'{"code": 4, "msg": "no"}\'\nexit 1\n')
    (spies / "text").write_text("no program")
    for name in ("old", "odd", "text"):
        (spies / name).chmod(0o755)
    libcni = CNIConfig([spies], spies / "cache")
    old = config.network_conf_from('{"name": "net", "plugins": [{"type": "old"}]}')
    assert asyncio.run(libcni.validate_network_list(old)) == []
    odd = config.network_conf_from('{"name": "net", "plugins": [{"type": "odd"}, {"type": "text"}]}')
    words = rf"^\[no netplugin failed with no error message: fork/exec {spies}/text: exec format error\]$"
    with pytest.raises(CNIError, match=words):
        asyncio.run(libcni.validate_network_list(odd))


def test_a_plugin_is_killed_with_whoever_waits_for_it(spies: Path) -> None:
    (spies / "first").write_text('#!/bin/sh\necho $$ > "$(dirname "$0")/pid"\nexec sleep 600\n')
    os.mkfifo(spies / "pid")

    async def given_up() -> int:
        libcni = CNIConfig([spies], spies / "cache")
        adding = asyncio.create_task(libcni.add_network_list(config.network_conf_from(json.dumps(CONF)), RT))
        pid = int(await asyncio.to_thread((spies / "pid").read_text))
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return pid

    pid = asyncio.run(given_up())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("kind", ["ours", "debian"])
def test_a_pod_for_real(host: Any, debian: Path, tmp_path: Path, kind: str) -> None:
    conf = {**CONF, "cniVersion": "1.0.0"}
    ipam = {"type": "host-local", "ranges": [[{"subnet": "10.9.0.0/24"}]], "dataDir": str(tmp_path / "ipam")}
    conf["plugins"] = [
        {"type": "bridge", "isDefaultGateway": True, "ipam": ipam},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]
    (tmp_path / "10.conflist").write_text(json.dumps(conf))
    bin_dir = debian if kind == "debian" else write_launchers(tmp_path / "bin")
    network = PodNetwork(tmp_path, [bin_dir], tmp_path / "cache", host_netns=host.namespace.path)
    pod, sandbox = host.pod(), Sandbox("s1", "web", "shop", "u1", [{"hostPort": 8080, "containerPort": 80}])
    assert asyncio.run(network.set_up_pod(pod.path, sandbox)).ips == ["10.9.0.2"]
    assert "default via 10.9.0.1 dev eth0" in host.sh("ip route", pod)
    assert "--to-destination 10.9.0.2:80" in host.sh("iptables-save -t nat")
    asyncio.run(network.tear_down_pod(pod.path, sandbox))
    asyncio.run(network.tear_down_pod(pod.path, sandbox))
    assert "eth0" not in host.sh("ip link", pod)
    assert "--to-destination" not in host.sh("iptables-save -t nat")


def test_an_observer_sees_each_call_before_it_is_made(spies: Path) -> None:
    seen: list[tuple[str, str, str, str]] = []

    def observer(path: str, conf: config.PluginConfig, args: Any) -> None:
        made = len((spies / "log").read_text().splitlines()) if (spies / "log").exists() else 0
        assert made == len(seen)
        seen.append((Path(path).name, conf.type, args.command, args.container_id))

    network = config.network_conf_from(json.dumps(CONF))
    asyncio.run(CNIConfig([spies], spies / "cache", observer=observer).add_network_list(network, RT))
    assert seen == [("first", "first", "ADD", "c1"), ("second", "second", "ADD", "c1")]
