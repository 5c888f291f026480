"""What the plugins of a list are given one after the other, what is kept of it, and which one it was that failed."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni import config
from lifecycle.cni.config import PluginConfig
from lifecycle.cni.errors import CNIError
from lifecycle.cni.libcni import CNIConfig
from lifecycle.cni.result_cache import RuntimeConf


@pytest.mark.parametrize(
    ("plugin", "described"),
    [({"type": "nope"}, 'type="nope"'), ({"type": "nope", "name": "mine"}, 'type="nope" name="mine"')],
)
def test_one_that_is_not_there_is_named_and_nothing_is_kept(
    plugin: dict[str, str], described: str, tmp_path: Path
) -> None:
    network = config.network_conf_from(json.dumps({"cniVersion": "1.1.0", "name": "net", "plugins": [plugin]}))
    libcni = CNIConfig([tmp_path / "bin"], tmp_path / "cache")
    with pytest.raises(CNIError) as failed:
        asyncio.run(libcni.add_network_list(network, RuntimeConf("c1", "/run/netns/x", "eth0")))
    missing = f'failed to find plugin "nope" in path [{tmp_path / "bin"}]'
    assert str(failed.value) == f"plugin {described} failed (add): {missing}"
    assert libcni.cached_attachments() == []


ADDRESS = [{"address": "10.0.0.2/24"}]
FIRST: dict[str, Any] = {"cniVersion": "1.1.0", "ips": ADDRESS}
SECOND: dict[str, Any] = {**FIRST, "routes": [{"dst": "0.0.0.0/0"}]}
BRIDGE = {"type": "bridge", "mtu": 1400, "capabilities": {"ips": True, "mac": True, "aliases": False}}
PORTMAP = {"type": "portmap", "name": "mine", "capabilities": {"portMappings": True}}
CAPABLE = {"ips": ["10.0.0.7/24"], "aliases": ["a"], "portMappings": [{"hostPort": 80}], "unknown": 1}


class _Piped(CNIConfig):
    """Runs nothing: keeps what each plugin would have been given, and answers as it would have."""

    def __init__(self, folder: Path, *answers: dict[str, Any]) -> None:
        super().__init__([folder / "bin"], folder / "cache")
        (folder / "bin").mkdir()
        for plugin in ("bridge", "portmap"):
            (folder / "bin" / plugin).touch()
        self.answers = list(answers)
        self.piped: list[tuple[str, str, dict[str, Any]]] = []

    async def _exec(self, path: str, conf: PluginConfig, command: str, rt: RuntimeConf) -> bytes:
        self.piped.append((Path(path).name, command, json.loads(conf.text)))
        return json.dumps(self.answers.pop(0)).encode()


def _network(*plugins: dict[str, Any], name: str = "net", version: str = "1.1.0") -> config.NetworkConfigList:
    return config.network_conf_from(json.dumps({"cniVersion": version, "name": name, "plugins": list(plugins)}))


def test_each_plugin_is_piped_its_own_words_the_networks_and_what_came_before_it(tmp_path: Path) -> None:
    """Of what the runtime can say it hears what it asks for and the runtime has. Upstream: `libcni/api.go`
    (`buildOneConfig`, `addNetwork`).
    """
    libcni = _Piped(tmp_path, FIRST, SECOND)
    rt = RuntimeConf("c1", "/run/netns/x", "eth0", capability_args=CAPABLE)
    result = asyncio.run(libcni.add_network_list(_network(BRIDGE, PORTMAP), rt))
    words = {"cniVersion": "1.1.0", "name": "net"}
    assert libcni.piped == [
        ("bridge", "ADD", {**BRIDGE, **words, "runtimeConfig": {"ips": CAPABLE["ips"]}}),
        (
            "portmap",
            "ADD",
            {**PORTMAP, **words, "prevResult": FIRST, "runtimeConfig": {"portMappings": [{"hostPort": 80}]}},
        ),
    ]
    assert result["routes"] == SECOND["routes"]


@pytest.mark.parametrize("capable", [{}, {"unknown": 1}, {"aliases": ["a"]}])
def test_who_hears_nothing_of_the_runtime_is_not_told_that(capable: dict[str, Any], tmp_path: Path) -> None:
    libcni = _Piped(tmp_path, FIRST)
    asyncio.run(libcni.add_network_list(_network(BRIDGE), RuntimeConf("c1", "/x", "eth0", capability_args=capable)))
    [(_, _, piped)] = libcni.piped
    assert piped == {**BRIDGE, "cniVersion": "1.1.0", "name": "net"}


def test_what_was_given_and_what_came_of_it_lies_in_a_file_until_it_is_taken_back(tmp_path: Path) -> None:
    """The network as its file has it, and the last result. Upstream: `cacheAdd`."""
    libcni, network = _Piped(tmp_path, FIRST, SECOND, {}, {}), _network(BRIDGE, PORTMAP)
    rt = RuntimeConf("c1", "/run/netns/x", "eth0", (("K8S_POD_NAME", "p"),), {"ips": ["10.0.0.7/24"]})
    asyncio.run(libcni.add_network_list(network, rt))
    [file] = (tmp_path / "cache" / "results").iterdir()
    kept = json.loads(file.read_text())
    assert json.loads(base64.b64decode(kept.pop("config"))) == json.loads(network.text)
    assert (file.name, kept) == (
        "net-c1-eth0",
        {
            "kind": "cniCacheV1",
            "containerId": "c1",
            "ifName": "eth0",
            "networkName": "net",
            "netns": "/run/netns/x",
            "cniArgs": [["K8S_POD_NAME", "p"]],
            "capabilityArgs": {"ips": ["10.0.0.7/24"]},
            "result": SECOND,
        },
    )
    del libcni.piped[:]
    asyncio.run(libcni.del_network_list(network, rt))
    assert [(plugin, command, piped["prevResult"]) for plugin, command, piped in libcni.piped] == [
        ("portmap", "DEL", SECOND),
        ("bridge", "DEL", SECOND),
    ]
    assert list((tmp_path / "cache" / "results").iterdir()) == []


@pytest.mark.parametrize(
    ("container", "interface", "why"),
    [
        ("", "eth0", "missing containerID"),
        ("c 1", "eth0", "invalid characters in containerID"),
        ("c1", "", "interface name is empty"),
        ("c1", "sixteen-letters0", "interface name is too long"),
    ],
)
def test_a_name_that_is_none_is_refused_before_any_plugin_hears_of_it(
    container: str, interface: str, why: str, tmp_path: Path
) -> None:
    libcni = _Piped(tmp_path, FIRST)
    with pytest.raises(CNIError, match=why) as refused:
        asyncio.run(libcni.add_network_list(_network(BRIDGE), RuntimeConf(container, "/x", interface)))
    assert str(refused.value).startswith('plugin type="bridge" failed (add): ')
    assert libcni.piped == []


def test_after_one_that_fails_no_other_runs_and_nothing_is_kept(tmp_path: Path) -> None:
    libcni = _Piped(tmp_path, FIRST)

    class Failing(_Piped):
        async def _exec(self, path: str, conf: PluginConfig, command: str, rt: RuntimeConf) -> bytes:
            await super()._exec(path, conf, command, rt)
            raise CNIError("no more addresses")

    libcni.__class__ = Failing
    with pytest.raises(CNIError, match=r'^plugin type="bridge" failed \(add\): no more addresses$'):
        asyncio.run(libcni.add_network_list(_network(BRIDGE, PORTMAP), RuntimeConf("c1", "/x", "eth0")))
    assert [plugin for plugin, *_ in libcni.piped] == ["bridge"]
    assert libcni.cached_attachments() == []


def test_a_list_of_no_plugins_and_a_result_that_cannot_be_kept_are_errors(tmp_path: Path) -> None:
    rt = RuntimeConf("c1", "/x", "eth0")
    none = config.NetworkConfigList(**{**_fields(_network(BRIDGE)), "plugins": ()})
    libcni = _Piped(tmp_path, FIRST)
    with pytest.raises(CNIError, match=r"no plugin configs found$"):
        asyncio.run(libcni.add_network_list(none, rt))
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CNIError, match='failed to set network "net" cached result: '):
        asyncio.run(libcni.add_network_list(_network(BRIDGE), rt))


def _fields(network: config.NetworkConfigList) -> dict[str, Any]:
    return {name: getattr(network, name) for name in network.__slots__}
