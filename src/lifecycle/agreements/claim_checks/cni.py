"""Claims about CNI: put to what containerd, libcni and the plugins left on the recorded
nodes, and to our own.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.agreements.cni.pod_networking import (
    cni_conf,
    recorded_results,
)
from lifecycle.api.pods.dns import DNSConfig, pod_dns
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cni import config
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import Args
from lifecycle.cni.libcni import CNIConfig, build_one_config
from lifecycle.cni.plugins.skel import cmd_args_from_env
from lifecycle.cni.pod_network import PodNetwork, Sandbox, capability_args, runtime_conf
from lifecycle.cni.result_cache import RuntimeConf
from lifecycle.compare.claims import Partly, check, rebuilt, some
from lifecycle.inspector import Recording

ARTICLES: dict[str, Any] = {
    "cniVersion": "0.3.1",
    "name": "bridge",
    "type": "bridge",
    "bridge": "cnio0",
    "isGateway": True,
    "ipMasq": True,
    "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "10.200.1.0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    },
}
KIND: dict[str, Any] = {
    "cniVersion": "0.3.1",
    "name": "kindnet",
    "plugins": [
        {"type": "ptp"},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}
GIVEN: dict[str, Any] = {
    "cniVersion": "0.3.1",
    "ips": [{"version": "4", "address": "10.200.1.2/24"}],
}
SANDBOX = Sandbox(
    "s1",
    "web",
    "shop",
    "u1",
    [{"hostPort": 80, "containerPort": 80}],
    {"Servers": ["10.96.0.10"]},
)


def decided(number: int = 2) -> dict[str, Any]:
    """What host-local says to the articles' configuration."""
    ips = [{"address": f"10.200.1.{number}/24", "gateway": "10.200.1.1"}]
    return {"ips": ips, "routes": [{"dst": "0.0.0.0/0"}]}


def node_texts(recording: Recording, command: str) -> list[str]:
    """What a command printed at the end, on each node that has it."""
    nodes = [recording.node(name) for name in recording.nodes()]
    return [node.run(command) for node in nodes if command in node.files()]


def pods_results(recording: Recording) -> Iterator[dict[str, Any]]:
    """The kept results of `eth0`."""
    for text in node_texts(recording, "cni-results"):
        yield from (
            result for result in recorded_results(text) if result["ifName"] == "eth0"
        )


@cache
def kubelet_attaches_pods() -> bool:
    """Whether our kubelet has a say in a pod's address. The runtime gets a range of its
    own behind the kubelet's back; whose is it?
    """

    async def scene(node: OneNode) -> bool:
        await node.runtime.update_runtime_config("198.51.100.0/24")
        address = (await node.run_pod("a"))["status"]["podIP"]
        return ip_address(address) not in ip_network("198.51.100.0/24")

    return on_one_node(scene)


@check("cni-kubelet-delegates-to-plugin")
def kubelet_delegates(recording: Recording) -> bool | None:
    """Does the kubelet's command line, or its configuration, say anything of CNI? The
    runtime's does.
    """
    lines = [
        line
        for text in node_texts(recording, "ps")
        for line in text.splitlines()
        if "/kubelet" in line
    ]
    if not lines:
        return None
    return some(
        "--network-plugin" in line or "--cni-" in line
        for line in (*lines, *node_texts(recording, "kubelet-config"))
    )


@rebuilt("cni-kubelet-delegates-to-plugin")
def our_kubelet_delegates() -> bool:
    """Our kubelet imports nothing of CNI; the runtime's side is `PodNetwork`."""
    return kubelet_attaches_pods()


@rebuilt("cni-allows-different-network-providers")
def providers() -> bool:
    """Bridge and point-to-point, each by configuration alone; the caller is the
    same.
    """
    names = []
    for plugins in (
        [{"type": "bridge"}],
        KIND["plugins"],
        [{"type": "somebody-elses"}],
    ):
        network = config.network_conf_from(json.dumps({**KIND, "plugins": plugins}))
        names.append([plugin.type for plugin in network.plugins])
    return names == [["bridge"], ["ptp", "portmap"], ["somebody-elses"]]


@check("cni-json-config-on-stdin")
def kept_config_is_json(recording: Recording) -> bool | None:
    """Each kept result holds the JSON that came from the file."""
    results = list(pods_results(recording))
    return (
        all(
            "config" in one and one["result"]["cniVersion"] == "0.3.1"
            for one in results
        )
        if results
        else None
    )


@cache
def programs_that_ran() -> list[tuple[str, dict[str, Any]]]:
    """Two programs with the names of kind's plugins, started by libcni: who ran, in
    order, and what each found on standard input.
    """

    async def added(folder: Path) -> None:
        network = config.network_conf_from(json.dumps(KIND))
        await CNIConfig([folder], folder / "cache").add_network_list(
            network, runtime_conf(SANDBOX, "/x", "eth0")
        )

    with tempfile.TemporaryDirectory() as directory:
        folder, output = Path(directory), json.dumps(GIVEN)
        for name in ("portmap", "ptp"):
            (folder / name).write_text(
                f"#!/bin/sh\n(echo {name}; cat; echo) >>{folder}/log\necho '{output}'\n"
            )
            (folder / name).chmod(0o755)
        on_a_loop(added(folder))
        assert any((folder / "cache").rglob("*eth0")), "for whoever takes it down"
        lines = (folder / "log").read_text().splitlines()
    return [
        (name, json.loads(text))
        for name, text in zip(lines[::2], lines[1::2], strict=True)
    ]


@rebuilt("cni-json-config-on-stdin")
def stdin() -> bool:
    """What a program reads: its own configuration, and name, version and the result
    before it added.
    """
    _, (name, conf) = programs_that_ran()
    mappings = [{"containerPort": 80, "hostIP": "", "hostPort": 80, "protocol": "tcp"}]
    added = {
        "name": "kindnet",
        "cniVersion": "0.3.1",
        "runtimeConfig": {"portMappings": mappings},
    }
    before = (conf.get("prevResult") or {"ips": [{"address": ""}]})["ips"][0]["address"]
    own = {key: value for key, value in conf.items() if key != "prevResult"}
    return (name, own, before) == (
        "portmap",
        {**KIND["plugins"][1], **added},
        GIVEN["ips"][0]["address"],
    )


@check("cni-conf-dir-flag")
def conf_dir_flag(recording: Recording) -> bool | None:
    """The kubelet's command line."""
    lines = [
        line
        for text in node_texts(recording, "ps")
        for line in text.splitlines()
        if "/kubelet" in line
    ]
    return some("--cni-conf-dir" in line for line in lines)


@check("cni-default-conf-dir")
def default_conf_dir(recording: Recording) -> Partly | None:
    """The directory is the one; but it is the runtime that names it, and nobody tells
    the kubelet.
    """
    infos, kubelets = (
        node_texts(recording, "crictl-info"),
        node_texts(recording, "kubelet-config"),
    )
    if not infos or not kubelets:
        return None
    here = all('"PluginConfDir": "/etc/cni/net.d"' in text for text in infos)
    return Partly(here, not any("net.d" in text for text in kubelets))


@rebuilt("cni-default-conf-dir")
def our_default_conf_dir() -> Partly:
    """The runtime's part looks there unless it is told otherwise; our kubelet has
    nothing to do with it.
    """
    looked: list[str] = []
    with patch.object(
        config, "first_network", lambda directory: looked.append(str(directory))
    ):
        PodNetwork().networks()
    return Partly(looked == ["/etc/cni/net.d"], not kubelet_attaches_pods())


@check("cni-first-file-is-used")
def first_file(recording: Recording) -> bool | None:
    """The first file of the directory is what the runtime shows as its network."""
    pairs = list(
        zip(
            node_texts(recording, "cni-conf"),
            node_texts(recording, "crictl-info"),
            strict=True,
        )
    )
    return (
        all(
            f'"Name": "{json.loads(cni_conf(conf))["name"]}"' in info
            for conf, info in pairs
        )
        if pairs
        else None
    )


@rebuilt("cni-first-file-is-used")
def our_first_file() -> bool:
    """In order of names, whatever the ending."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("20-b.conflist", json.dumps(KIND)),
            ("10-a.conf", json.dumps(ARTICLES)),
            ("15-x.conf", "{"),
        ):
            Path(folder, name).write_text(text)
        return config.first_network(folder).name == "bridge"


@check("cni-plugin-list-runs-in-order")
def plugins_in_order(recording: Recording) -> bool | None:
    """portmap, the second one, passed on what ptp, the first one, had made."""
    results = list(pods_results(recording))
    return (
        all(one["result"]["interfaces"][1]["name"] == "eth0" for one in results)
        if results
        else None
    )


@rebuilt("cni-plugin-list-runs-in-order")
def our_plugins_in_order() -> bool:
    """The programs ran in the list's order, and only the second one was told a
    result.
    """
    return [(name, "prevResult" in conf) for name, conf in programs_that_ran()] == [
        ("ptp", False),
        ("portmap", True),
    ]


@check("cni-add-parameters")
def add_parameters(recording: Recording) -> bool | None:
    """Each kept result knows container, namespace, interface, and the pod."""
    results = list(pods_results(recording))
    expected_args = {
        "K8S_POD_NAME",
        "K8S_POD_NAMESPACE",
        "K8S_POD_UID",
        "K8S_POD_INFRA_CONTAINER_ID",
        "IgnoreUnknown",
    }
    return (
        all(
            one["containerId"]
            and one["netns"]
            and set(dict(one["cniArgs"])) == expected_args
            for one in results
        )
        if results
        else None
    )


@rebuilt("cni-add-parameters")
def our_add_parameters() -> bool:
    """The six variables; and a plugin refuses to run without them. Nor is one called
    with what can be none of them.
    """
    assert [_refused(*each) for each in NOT_CALLED] == list(NOT_CALLED.values())
    env = Args(
        "ADD", "s1", "/run/netns/x", "eth0", [("K8S_POD_NAME", "web")], ["/opt/cni/bin"]
    ).as_env({})
    try:
        cmd_args_from_env({"CNI_COMMAND": "ADD"}, lambda: "")
    except CNIError as why:
        missing = "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"
        return f"[{missing}]" in str(why) and set(env) == {
            *missing.split(","),
            "CNI_COMMAND",
            "CNI_ARGS",
        }
    return False


NOT_CALLED = {
    ("", "eth0", "kindnet"): "missing containerID",
    ("s/1", "eth0", "kindnet"): "invalid characters in containerID; s/1",
    ("s1", "", "kindnet"): "interface name is empty",
    ("s1", "e" * 16, "kindnet"): "interface name is too long; interface name should be"
    " less than 16 characters",
    ("s1", "eth0", "kind/net"): "invalid characters found in network name; kind/net",
    ("s1", "eth0", "empty"): "no plugin configs found",
}


def _refused(container: str, interface: str, name: str) -> str:
    """Why a network is not set up, without the plugin's name."""
    plugins = [] if name == "empty" else [config.plugin_conf_from('{"type": "ptp"}')]
    network = config.NetworkConfigList(name, "0.3.1", plugins, "")
    attachment = RuntimeConf(container, "/x", interface)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "ptp").touch()
        added = CNIConfig([folder], folder).add_network_list(network, attachment)
        try:
            on_a_loop(added)
        except CNIError as error:
            return str(error).rpartition("failed (add): ")[2]
    return ""


@check("cni-dns-server-passed-to-plugin")
def dns_passed(recording: Recording) -> bool | None:
    """The runtime offers the settings, but no plugin of the recorded configuration asks
    for them.
    """
    texts = node_texts(recording, "cni-conf")
    networks = [config.network_conf_from(cni_conf(text)) for text in texts]
    return (
        any(
            "dns" in plugin.capabilities
            for network in networks
            for plugin in network.plugins
        )
        if networks
        else None
    )


@rebuilt("cni-dns-server-passed-to-plugin")
def our_dns_passed() -> bool:
    """What kind's plugins are piped does not have the server's address, although it was
    offered.
    """
    network = config.network_conf_from(json.dumps(KIND))
    rt = runtime_conf(SANDBOX, "/x", "eth0")
    piped = "".join(
        build_one_config("n", "0.3.1", plugin, None, rt).text
        for plugin in network.plugins
    )
    assert "portMappings" in piped, "what a plugin asks for it gets"
    return "10.96.0.10" in piped or "dns" not in capability_args(SANDBOX)


@check("cni-resolv-conf-points-at-cluster-dns")
def resolv_conf(recording: Recording) -> bool | None:
    """The file in each container that searches the cluster's names."""
    files = [
        one
        for text in node_texts(recording, "pod-files")
        for one in text.split("== ")
        if re.search(r"^search .*\bsvc\.cluster\.local", one, re.M)
    ]
    return all("\nnameserver 10.96.0.10\n" in one for one in files) if files else None


@rebuilt("cni-resolv-conf-points-at-cluster-dns")
def our_resolv_conf() -> bool:
    """Of the settings that our kubelet's rules make."""
    pod = {
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"dnsPolicy": "ClusterFirst"},
    }
    dns_config = pod_dns(
        pod,
        DNSConfig(("8.8.8.8",)),
        cluster_dns=("10.96.0.10",),
        cluster_domain="cluster.local",
    )
    return (
        "nameserver 10.96.0.10" in dns_config.resolv_conf()
        and "8.8.8.8" not in dns_config.resolv_conf()
    )
