"""Our plugins and Debian's, on the same input, each in a host of its own: the same result, the same network, the same errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

SEEDS = {
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
"""The configuration that the articles print, with a subnet in place of ${POD_CIDR}."""

V4 = [[{"subnet": "10.201.0.0/24"}]]
V46 = [[{"subnet": "10.201.0.0/24"}], [{"subnet": "fd00:201::/64"}]]

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "the articles' own": SEEDS,
    "oldest version": {**SEEDS, "cniVersion": "0.2.0"},
    "newest of Debian": {**SEEDS, "cniVersion": "1.0.0"},
    "no version at all": {key: value for key, value in SEEDS.items() if key != "cniVersion"},
    "layer 2": {"cniVersion": "0.4.0", "name": "l2", "type": "bridge", "bridge": "br-l2"},
    "default gateway": {**SEEDS, "isDefaultGateway": True, "ipMasq": False, "ipam": {"type": "host-local", "ranges": V4}},
    "both versions of IP": {
        "cniVersion": "0.4.0", "name": "dual", "type": "bridge", "isDefaultGateway": True, "ipMasq": True, "mtu": 1400,
        "ipam": {"type": "host-local", "ranges": V46},
    },
    "hairpin, own DNS": {
        "cniVersion": "0.4.0", "name": "hairpin", "type": "bridge", "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": V4, "routes": [{"dst": "10.0.0.0/8", "gw": "10.201.0.9"}]},
        "dns": {"nameservers": ["10.96.0.10"], "search": ["svc.cluster.local"]},
    },
    "promiscuous": {"cniVersion": "0.4.0", "name": "promisc", "type": "bridge", "promiscMode": True,
        "ipam": {"type": "host-local", "ranges": V4}},
    "a wished-for MAC": {"cniVersion": "0.4.0", "name": "mac", "type": "bridge", "runtimeConfig": {"mac": "02:11:22:33:44:55"}},
    "ptp, as kind has it": {
        "cniVersion": "0.3.1", "name": "kindnet", "type": "ptp", "ipMasq": False, "mtu": 1500,
        "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "10.244.2.0/24"}]]},
    },
    "ptp, both versions, masquerading": {
        "cniVersion": "1.0.0", "name": "ptp6", "type": "ptp", "ipMasq": True, "ipam": {"type": "host-local", "ranges": V46},
    },
    "ptp with static addresses": {
        "cniVersion": "0.4.0", "name": "fixed", "type": "ptp",
        "ipam": {"type": "static", "addresses": [{"address": "10.9.0.7/24", "gateway": "10.9.0.1"}],
        "routes": [{"dst": "10.8.0.0/16", "gw": "10.9.0.1"}]},
    },
    "loopback": {"cniVersion": "1.0.0", "name": "cni-loopback", "type": "loopback"},
}  # fmt: skip


def _with_data_dir(conf: dict[str, Any], directory: Path) -> dict[str, Any]:
    if conf.get("ipam", {}).get("type") == "host-local":
        return {**conf, "ipam": {**conf["ipam"], "dataDir": str(directory)}}
    return conf


def masked(value: Any, pod_path: str) -> Any:
    """Without what is random: names of the host's ends, MAC addresses, the path of a namespace.

    One thing that 1.1 and 1.9 do differently, too: an empty `dns` is left out since the library's 1.1.2.
    """
    text = json.dumps(value, sort_keys=True).replace(pod_path, "POD").replace('"dns": {}, ', "")
    text = re.sub(r"veth[0-9a-f]{8}", "vethN", text)
    return re.sub(r"\b(?!00:00:00:00:00:00|02:11:22)(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", "MAC", text)


def _network(host: Any, pod: Any) -> dict[str, Any]:
    """What `ip` and `iptables` see: in the pod, and on the host."""

    def links(where: Any) -> list[Any]:
        keep = ("ifname", "mtu", "master")
        return sorted(
            [{k: link.get(k) for k in keep} | {"up": "UP" in link["flags"]} for link in host.ip("link", where)],
            key=lambda link: (link["ifname"][:4], link["mtu"]),
        )

    def addresses(where: Any) -> list[str]:
        return sorted(
            f"{link['ifname']} {a['family']} {a['local']}/{a['prefixlen']} {a.get('broadcast')} {a['scope']}"
            for link in host.ip("addr", where)
            for a in link["addr_info"]
            if a["scope"] != "link"
        )

    def routes(where: Any) -> list[str]:
        found = host.sh("ip -4 route", where) + host.sh("ip -6 route", where)
        found = found.replace(" linkdown", "")  # a bridge notices a moment later that its last port is gone
        return sorted(line for line in found.splitlines() if "fe80" not in line and "ff00" not in line)

    return {
        "links": (links(host.namespace), links(pod)),
        "addresses": (addresses(host.namespace), addresses(pod)),
        "routes": (routes(host.namespace), routes(pod)),
        "nat": [line for line in host.sh("iptables-save -t nat").splitlines() if line.startswith("-A")],
        "nat6": [line for line in host.sh("ip6tables-save -t nat").splitlines() if line.startswith("-A")],
        "hairpin": host.sh("cat /proc/sys/net/ipv4/ip_forward"),
    }


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_same_result_and_the_same_network(hosts: Any, tmp_path: Path, name: str) -> None:
    seen = []
    for index, host in enumerate(hosts):
        conf, pod = _with_data_dir(CONFIGURATIONS[name], tmp_path / str(index)), host.pod()
        added = host.plugin(conf["type"], "ADD", conf, netns=pod.path)
        assert added[0] == 0, added
        network = _network(host, pod)
        assert host.plugin(conf["type"], "DEL", conf, netns=pod.path) == (0, None)
        seen.append(masked([added, network, _network(host, pod)], pod.path))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["both versions of IP", "promiscuous", "ptp with static addresses"])
def test_check_agrees_before_and_after_something_was_taken_away(hosts: Any, tmp_path: Path, name: str) -> None:
    seen = []
    for index, host in enumerate(hosts):
        conf, pod = _with_data_dir(CONFIGURATIONS[name], tmp_path / str(index)), host.pod()
        _, result = host.plugin(conf["type"], "ADD", conf, netns=pod.path)
        conf["prevResult"] = result
        answers = [host.plugin(conf["type"], "CHECK", conf, netns=pod.path)]
        host.sh("ip link set eth0 down", pod)
        host.sh("ip addr flush dev eth0 scope global", pod)
        answers.append(host.plugin(conf["type"], "CHECK", conf, netns=pod.path)[0])
        host.sh("ip link del eth0", pod)
        answers.append(host.plugin(conf["type"], "CHECK", conf, netns=pod.path))
        seen.append(masked(answers, pod.path))
    assert seen[0] == seen[1]
    assert seen[0].startswith("[[0, null], 1")


WRONG: dict[str, tuple[str, str, Any, dict[str, str]]] = {
    "no name": ("bridge", "ADD", {"cniVersion": "0.4.0"}, {}),
    "a name with a slash": ("bridge", "ADD", {"cniVersion": "0.4.0", "name": "a/b"}, {}),
    "a version from the future": ("bridge", "ADD", {"cniVersion": "9.0.0", "name": "x"}, {}),
    "no container": ("bridge", "ADD", SEEDS, {"containerid": ""}),
    "no container, no interface": ("bridge", "DEL", SEEDS, {"containerid": "", "ifname": ""}),
    "an odd container": ("bridge", "ADD", SEEDS, {"containerid": "-x"}),
    "an interface with a long name": ("bridge", "ADD", SEEDS, {"ifname": "a23456789012345x"}),
    "an interface with a colon": ("bridge", "ADD", SEEDS, {"ifname": "eth0:1"}),
    "an unknown command": ("bridge", "JUMP", SEEDS, {}),
    "CHECK before its time": ("bridge", "CHECK", SEEDS, {}),
    "CHECK without a result": ("bridge", "CHECK", {"cniVersion": "0.4.0", "name": "x", "type": "bridge"}, {}),
    "VLAN 5000": ("bridge", "ADD", {**SEEDS, "vlan": 5000}, {}),
    "hairpin and promiscuous": ("bridge", "ADD", {**SEEDS, "hairpinMode": True, "promiscMode": True}, {}),
    "an unknown IPAM plugin": ("ptp", "ADD", {**SEEDS, "ipam": {"type": "none-such"}}, {}),
    "unknown arguments": ("host-local", "ADD", SEEDS, {"args": "COLOUR=blue"}),
    "half an argument": ("host-local", "ADD", SEEDS, {"args": "COLOUR"}),
    "no IPAM": ("host-local", "ADD", {"cniVersion": "0.4.0", "name": "x"}, {}),
    "no ranges": ("host-local", "ADD", {"cniVersion": "0.4.0", "name": "x", "ipam": {"type": "host-local"}}, {}),
    "portmap first": ("portmap", "ADD", {"cniVersion": "0.4.0", "name": "x"}, {}),
    "portmap, impossible port": ("portmap", "ADD", {"cniVersion": "0.4.0", "name": "x",
        "runtimeConfig": {"portMappings": [{"hostPort": 0, "containerPort": 1, "protocol": "tcp"}]}}, {}),
    "portmap, bit 32": ("portmap", "ADD", {"cniVersion": "0.4.0", "name": "x", "markMasqBit": 32}, {}),
    "a gateway that is taken": ("bridge", "ADD", {**SEEDS, "bridge": "lo"}, {}),
    "an array where a bridge should be": ("bridge", "ADD", {**SEEDS, "bridge": ["x"]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_the_same_error_with_the_same_code(hosts: Any, tmp_path: Path, name: str) -> None:
    plugin, command, conf, env = WRONG[name]
    seen = []
    for index, host in enumerate(hosts):
        pod = host.pod()
        code, said = host.plugin(
            plugin, command, _with_data_dir(conf, tmp_path / str(index)), **{"netns": pod.path, **env}
        )
        text = repr(said).replace(str(host.bin_dir), "BIN").replace(pod.path, "POD").replace(' "1.1.0"', "")
        text = text.replace("same time.", "same time")  # 1.1.1 ended one sentence with a stop
        seen.append((code, text))
    assert seen[0] == seen[1]
    assert seen[0][0] == 1


def test_del_of_a_pod_that_is_gone_succeeds(hosts: Any, tmp_path: Path) -> None:
    for index, host in enumerate(hosts):
        for plugin in ("bridge", "ptp", "loopback", "portmap"):
            conf = _with_data_dir(SEEDS, tmp_path / str(index))
            assert host.plugin(plugin, "DEL", conf, netns="/var/run/netns/none-such")[0] == 0
            assert host.plugin(plugin, "DEL", conf)[0] == 0


def test_port_forwarding_writes_the_same_rules(hosts: Any, tmp_path: Path) -> None:
    ports = [
        {"hostPort": 18080, "containerPort": 80, "protocol": "tcp"},
        {"hostPort": 5353, "containerPort": 53, "protocol": "udp", "hostIP": "127.0.0.1"},
        *({"hostPort": 20000 + n, "containerPort": n, "protocol": "tcp"} for n in range(1, 17)),
    ]
    seen = []
    for index, host in enumerate(hosts):
        base = {**CONFIGURATIONS["default gateway"], "name": "dual", "bridge": "cni0"}
        base, pod = _with_data_dir(base, tmp_path / str(index)), host.pod()
        _, result = host.plugin("bridge", "ADD", base, netns=pod.path)
        conf = {"cniVersion": "0.4.0", "name": "dual", "prevResult": result, "runtimeConfig": {"portMappings": ports}}
        answers: list[Any] = []
        for command in ("ADD", "ADD", "DEL", "DEL"):  # CHECK of 1.1.1 wants IPv6 rules even without IPv6
            answers.append((command, host.plugin("portmap", command, conf, netns=pod.path)))
            saved = host.sh("iptables-save -t nat") + host.sh("ip6tables-save -t nat")
            answers.append([line for line in saved.splitlines() if line.startswith("-A") or line.startswith(":CNI")])
            answers.append(host.sh("cat /proc/sys/net/ipv4/conf/cni0/route_localnet"))
        seen.append(masked(answers, pod.path))
    assert seen[0] == seen[1]
    assert "CNI-DN-" in seen[0]


def test_check_of_forwarded_ports_notices_a_missing_rule(host: Any, tmp_path: Path) -> None:
    base, pod = _with_data_dir(CONFIGURATIONS["both versions of IP"], tmp_path), host.pod()
    _, result = host.plugin("bridge", "ADD", base, netns=pod.path)
    ports = [{"hostPort": 18080, "containerPort": 80, "protocol": "tcp"}]
    conf = {"cniVersion": "0.4.0", "name": "dual", "prevResult": result, "runtimeConfig": {"portMappings": ports}}
    assert host.plugin("portmap", "ADD", conf, netns=pod.path)[0] == 0
    assert host.plugin("portmap", "CHECK", conf, netns=pod.path) == (0, None)
    host.sh("iptables -t nat -F CNI-HOSTPORT-DNAT")
    code, said = host.plugin("portmap", "CHECK", conf, netns=pod.path)
    assert code == 1
    assert said["msg"] == (
        'could not check ipv4 dnat: rule [[-m comment --comment dnat name: "dual" id: "cnitool-1" -m multiport -p tcp'
        " --destination-ports 18080]] in chain CNI-HOSTPORT-DNAT not found in table nat"
    )
    (chain,) = (rule.split()[1] for rule in host.sh("iptables -t nat -S").splitlines() if rule.startswith("-N CNI-DN-"))
    host.sh(f"iptables -t nat -F {chain}")
    code, said = host.plugin("portmap", "CHECK", conf, netns=pod.path)
    assert said["msg"].startswith("could not check ipv4 dnat: rule [[-p tcp --dport 18080 -s 10.201.0.2/24")
    host.sh(f"iptables -t nat -X {chain}")
    code, said = host.plugin("portmap", "CHECK", conf, netns=pod.path)
    assert said["msg"] == f"could not check ipv4 dnat: chain {chain} not found in iptables table nat"
