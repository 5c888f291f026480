"""What goes wrong half-way, and what is left of it: Debian's plugins and ours, each on a host of its own, step by step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cni.conftest import DEBIAN, Host
from tests.cni.test_side_by_side import masked

ROUTES = [{"dst": "0.0.0.0/0"}]


def host_local(here: Path, subnet: str = "10.201.0.0/24", **more: Any) -> dict[str, Any]:
    return {"type": "host-local", "ranges": [[{"subnet": subnet}]], "dataDir": str(here / "ipam"), **more}


def static(address: str = "10.9.0.7/24", gateway: str = "10.9.0.1", **more: Any) -> dict[str, Any]:
    return {"type": "static", "addresses": [{"address": address, "gateway": gateway}], **more}


def network(plugin: str, ipam: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    conf = {"cniVersion": "1.0.0", "name": "net", "type": plugin, **more}
    return conf if ipam is None else {**conf, "ipam": ipam}


class Story:
    """One host, one pod, and what was seen of them so far."""

    def __init__(self, host: Host, here: Path) -> None:
        self.host, self.here, self.pod = host, here, host.pod()
        self.seen: list[Any] = []

    def call(self, command: str, conf: dict[str, Any], plugin: str = "", **env: str) -> Any:
        """What the plugin answered is noted, and returned."""
        told = {"netns": self.pod.path, **env}
        code, answer = self.host.plugin(plugin or conf["type"], command, conf, **told)
        self.seen.append((command, code, answer))
        return answer

    def sh(self, command: str, inside: bool = False) -> None:
        self.seen.append(self.host.sh(command, self.pod if inside else None))

    def books(self) -> None:
        """Which addresses are taken."""
        books = self.here / "ipam" / "net"
        self.seen.append(sorted(file.name for file in books.iterdir() if file.name[0].isdigit() or ":" in file.name))

    def links(self) -> None:
        self.seen.append(
            [sorted(f"{link['ifname'][:4]}" for link in self.host.ip("link", where)) for where in (None, self.pod)]
        )

    def chain(self, prefix: str) -> str:
        """The first chain of this name."""
        rules = self.host.sh("iptables -t nat -S").splitlines()
        return next(rule.split()[1] for rule in rules if rule.startswith(f"-N {prefix}"))

    def nat(self) -> None:
        saved = self.host.sh("iptables-save -t nat") + self.host.sh("ip6tables-save -t nat")
        self.seen.append([line for line in saved.splitlines() if line.startswith(("-A", ":CNI"))])


def a_bridge_has_another_gateway(story: Story) -> None:
    story.call("ADD", network("bridge", host_local(story.here), isGateway=True), containerid="first")
    other = network("bridge", host_local(story.here, "10.202.0.0/24"), isGateway=True)
    story.call("ADD", other, ifname="eth1")
    story.books()
    story.links()
    story.call("ADD", {**other, "forceAddress": True}, ifname="eth2")
    story.books()
    story.sh("ip -4 -br addr show dev cni0")


def ipam_has_no_address(story: Story) -> None:
    for plugin in ("bridge", "ptp"):
        story.call("ADD", network(plugin, {"type": "static", "addresses": []}))
        story.call("DEL", network(plugin, {"type": "static", "addresses": []}))
    story.links()


def a_range_is_used_up(story: Story) -> None:
    conf = network("ptp", host_local(story.here, "10.201.0.0/30", routes=ROUTES))
    for number, container in enumerate(("one", "two", "three")):
        story.call("ADD", conf, containerid=container, ifname=f"eth{number}")
        story.books()
    story.call("DEL", conf, containerid="one", ifname="eth0")
    story.call("ADD", conf, containerid="three", ifname="eth2")
    story.books()


def a_pod_is_added_twice(story: Story) -> None:
    for plugin in ("bridge", "ptp"):
        conf = network(plugin, host_local(story.here))
        story.call("ADD", conf, containerid="a", ifname="eth0")
        story.call("ADD", conf, containerid="a", ifname="eth0")
        story.call("ADD", conf, containerid="b", ifname="eth0")
        story.books()
        story.call("DEL", conf, containerid="a", ifname="eth0")
        story.books()


def ptp_without_a_gateway(story: Story) -> None:
    conf = network("ptp", {"type": "static", "addresses": [{"address": "10.9.0.7/24"}]})
    story.call("ADD", conf)
    story.call("DEL", conf)


def a_gateway_out_of_reach(story: Story) -> None:
    for gateway, route in (
        ("192.168.7.1", {"dst": "10.8.0.0/16"}),
        ("10.9.0.1", {"dst": "10.8.7.6/16", "gw": "10.77.0.1"}),
    ):
        for plugin in ("bridge", "ptp"):
            conf = network(plugin, static(gateway=gateway, routes=[route]))
            story.call("ADD", conf)
            story.call("DEL", conf)
    story.links()


def a_namespace_that_is_none(story: Story) -> None:
    (story.here / "file").write_text("")
    for plugin in ("bridge", "ptp", "loopback"):
        conf = network(plugin, host_local(story.here))
        for path in (story.here / "file", story.here / "file" / "below", story.here / "none"):
            for command in ("ADD", "DEL"):
                story.call(command, conf, netns=str(path))
    story.books()


def an_address_of_hardware_that_is_none(story: Story) -> None:
    for mac in (
        "zz:11:22:33:44:55",
        "02:11:22:33:44",
        "2:11:22:33:44:55",
        "02:11:22:33:44:155",
        "02-11-22-33-44-66",
        "x",
    ):
        conf = network("bridge", runtimeConfig={"mac": mac})
        story.call("ADD", conf)
        story.sh("cat /sys/class/net/eth0/address", inside=True)
        story.call("DEL", conf)
    story.call("ADD", network("bridge"), args="IgnoreUnknown=1;MAC=02:11:22:33:44:77")
    story.sh("cat /sys/class/net/eth0/address", inside=True)


def loopback_has_another_address(story: Story) -> None:
    conf = network("loopback")
    story.call("CHECK", conf)
    result = story.call("ADD", conf)
    story.call("CHECK", conf)
    prev = {**result, "ips": [{"address": "10.1.0.5/24"}], "routes": [{"dst": "10.2.0.0/16"}]}
    story.call("ADD", {**conf, "prevResult": prev})
    story.call("ADD", {**conf, "prevResult": {**prev, "cniVersion": "0.2.0"}})
    story.call("ADD", {**conf, "prevResult": {"cniVersion": "0.2.0"}, "cniVersion": "0.2.0"})
    story.sh("ip addr add 10.1.0.5/32 dev lo", inside=True)
    story.call("ADD", conf)
    story.call("DEL", conf)
    story.call("CHECK", conf)
    story.sh("ip -o link show dev lo", inside=True)


def masquerading_that_somebody_took_away(story: Story) -> None:
    for plugin in ("bridge", "ptp"):
        conf = network(plugin, host_local(story.here), ipMasq=True)
        story.call("ADD", conf)
        story.sh("iptables -t nat -F POSTROUTING")
        story.call("DEL", conf)
        story.call("DEL", conf)
        story.nat()
        story.books()


def masquerading_that_cannot_be_taken_away(story: Story) -> None:
    ranges = [[{"subnet": "10.201.0.0/24"}], [{"subnet": "fd00:201::/64"}]]
    conf = network("ptp", {**host_local(story.here), "ranges": ranges}, ipMasq=True)
    story.call("ADD", conf)
    story.sh(f"ip6tables -t nat -A POSTROUTING -s fd07::7 -j {story.chain('CNI-')}")
    story.nat()
    story.call("DEL", conf)
    story.nat()
    story.books()


def a_forwarded_port_that_cannot_be_taken_away(story: Story) -> None:
    result = story.call("ADD", network("bridge", host_local(story.here), isGateway=True))
    ports = [{"hostPort": 18080, "containerPort": 80, "protocol": "tcp"}]
    conf = network("portmap", prevResult=result, runtimeConfig={"portMappings": ports})
    story.call("ADD", conf)
    chain = next(
        rule.split()[1] for rule in story.host.sh("iptables -t nat -S").splitlines() if rule.startswith("-N CNI-DN-")
    )
    story.sh(f"iptables -t nat -A PREROUTING -s 10.7.7.7 -j {chain}")
    story.nat()
    story.call("DEL", conf)
    story.nat()
    story.sh(f"iptables -t nat -D PREROUTING -s 10.7.7.7 -j {chain}")
    story.call("DEL", conf)
    story.nat()


def rules_of_forwarding_that_are_missing(story: Story) -> None:
    result = story.call("ADD", network("bridge", host_local(story.here), isGateway=True))
    ports = [{"hostPort": 18080, "containerPort": 80, "protocol": "tcp"}]
    conf = network("portmap", prevResult=result, runtimeConfig={"portMappings": ports})
    story.call("ADD", conf)
    chain = story.chain("CNI-DN-")
    for incomplete in ({**conf, "prevResult": None}, {**conf, "runtimeConfig": {}}):
        story.call("CHECK", incomplete)
    story.call("DEL", {**conf, "runtimeConfig": {}})
    story.nat()
    story.sh(f"iptables -t nat -D {chain} 1")
    story.call("DEL", conf)
    story.nat()


def forwarding_to_an_address_of_somebody_else(story: Story) -> None:
    ports = [{"hostPort": 18080, "containerPort": 80, "protocol": "tcp"}]
    interfaces = [{"name": "cni0"}, {"name": "eth0", "sandbox": "/x"}, {"name": "eth0"}]
    for indices in ((0, 1), (2, 1), (7, 1), (None, 1), (0, 2)):
        ips = [
            {"address": f"10.1.0.{number}/24", **({} if index is None else {"interface": index})}
            for number, index in enumerate(indices, 5)
        ]
        prev = {"cniVersion": "1.0.0", "interfaces": interfaces, "ips": ips}
        conf = network("portmap", prevResult=prev, runtimeConfig={"portMappings": ports})
        story.call("ADD", conf)
        story.nat()
        story.call("DEL", conf)
    story.call("ADD", network("portmap", prevResult={"cniVersion": "0.2.0"}, runtimeConfig={"portMappings": ports}))
    odd = [{**ports[0], "protocol": "carrier-pigeon"}]
    prev = {"cniVersion": "1.0.0", "ips": [{"address": "10.1.0.5/24"}]}
    code, answer = story.host.plugin(
        "portmap", "ADD", network("portmap", prevResult=prev, runtimeConfig={"portMappings": odd}), netns=story.pod.path
    )
    story.seen.append((code, answer["msg"].partition("running [")[0]))


def static_addresses_of_arguments(story: Story) -> None:
    plain = network("static", {"type": "static"})
    configured = network("static", static("10.9.0.7/24", ""))
    configured["ipam"]["addresses"][0].pop("gateway")
    for conf in (plain, configured):
        for args in (
            "IP=10.9.0.5/24",
            "IP=10.9.0.5/24,fd00::5/64;GATEWAY=10.9.0.1, fd00::1",
            "IP= 10.9.0.5/24 ;GATEWAY=10.8.0.1",
            "GATEWAY=10.9.0.1",
            "IP=10.9.0.5",
            "IP=10.9.0.5/24;GATEWAY=nobody",
            "IP=10.9.0.5/24;COLOUR=blue",
            "IP=10.9.0.5/24;COLOUR=blue;IgnoreUnknown=1",
            "IP=10.9.0.5/24;IgnoreUnknown=perhaps",
        ):
            story.call("ADD", conf, args=args)
    for addresses in ([{"address": "10.9.0.7/24"}], [{"address": "10.9.0.7/24", "gateway": "10.9.0.1"}]):
        for gateway in ("10.9.0.1", "10.9.0.2"):
            result = {"cniVersion": "1.0.0", "ips": [{"address": "10.9.0.7/24", "gateway": gateway}]}
            conf = network("static", {"type": "static", "addresses": addresses}, prevResult=result)
            story.call("CHECK", conf)


WRONG = [
    {"mac": "02:00:00:00:00:99"},
    {"mac": ""},
    *({"name": name} for name in ("", "lo", "none")),
    {"sandbox": "/x"},
    {"sandbox": ""},
]


def results_that_are_not_so(story: Story) -> None:
    def check(conf: dict[str, Any]) -> None:
        """The books are looked at by Debian's, which takes less time."""
        story.call("CHECK", conf, path=str(DEBIAN))

    for plugin in ("bridge", "ptp"):
        conf = network(
            plugin, host_local(story.here, routes=ROUTES), **({"isGateway": True} if plugin == "bridge" else {})
        )
        result = story.call("ADD", conf)
        changes: list[Callable[[Any], Any]] = [
            lambda result: None,
            *(
                lambda result, number=number, change=change: result["interfaces"][number].update(change)
                for number in range(len(result["interfaces"]))
                for change in (WRONG[:3] if number < len(result["interfaces"]) - 1 else WRONG)
            ),
            *(lambda result, number=number: result["interfaces"].pop(number) for number in range(len(result["interfaces"]))),
            lambda result: result["interfaces"].append({**result["interfaces"][-1], "name": "eth1"}),
            lambda result: result["interfaces"].append({**result["interfaces"][-1], "sandbox": "/y"}),
            lambda result: result.update(routes=[{"dst": "10.99.0.0/16"}]),
            lambda result: result.update(routes=[{"dst": "10.201.0.0/24", "gw": "10.201.0.9"}]),
            lambda result: result.update(routes=[{"dst": "0.0.0.0/0", "gw": "10.201.0.9"}]),
            lambda result: result.update(routes=[{"dst": "::/0"}]),
            lambda result: result["ips"][0].update(address="10.201.0.99/24"),
            lambda result: result["ips"][0].update(address=result["ips"][0]["address"].replace("/24", "/16")),
        ]  # fmt: skip
        for change in changes:
            changed = json.loads(json.dumps(result))
            change(changed)
            check({**conf, "prevResult": changed})
        check({**conf, "prevResult": result, "promiscMode": True})
        for command in (
            "ip route add 10.88.0.0/16 via 10.201.0.1",
            "ip route add 10.88.0.0/16 via 10.201.0.77 metric 9",
            "ip route del default",
        ):
            story.sh(command, inside=True)
            for gateway in ("10.201.0.1", "10.201.0.77", "10.201.0.78"):
                routes = [{"dst": "10.88.0.0/16", "gw": gateway}]
                check({**conf, "prevResult": {**result, "routes": routes}})
            check({**conf, "prevResult": result})
        if plugin == "bridge":
            veth = next(link["ifname"] for link in story.host.ip("link") if link["ifname"].startswith("veth"))
            story.sh(f"ip link set {veth} nomaster")
            check({**conf, "prevResult": result})
        story.sh("ip link del eth0", inside=True)
        check({**conf, "prevResult": result})
        story.call("DEL", conf)
    story.call("CHECK", network("ptp", host_local(story.here)))


def a_resolver_s_file(story: Story) -> None:
    file = story.here / "resolv.conf"
    file.write_text(
        "# of the host\n; old\n\nnameserver 10.0.0.53\n  nameserver\t10.0.0.54 and more\nnameserver\ndomain first.example\n"
        "domain last.example extra\nsearch a.example b.example\nsearch c.example\noptions ndots:2 edns0\nsortlist 10.0.0.0\n"
    )
    conf = network("host-local", host_local(story.here, resolvConf=str(file)))
    story.call("ADD", conf)
    file.write_text("search\n#nameserver 10.0.0.53\n")
    story.call("ADD", conf, containerid="second")
    missing = network("host-local", host_local(story.here, resolvConf=str(story.here / "none")))
    story.call("ADD", missing, containerid="third")
    story.books()


def books_that_others_wrote(story: Story) -> None:
    books = story.here / "ipam" / "net"
    books.mkdir(parents=True)
    (books / "10.201.0.2").write_text("cnitool-1\n")
    (books / "notes").write_text("cnitool-1")
    (books / "picture").write_bytes(b"\xff\xfe")
    (books / "folder").mkdir()
    conf = network("host-local", host_local(story.here))
    story.call("CHECK", conf)
    story.call("ADD", conf)
    story.call("CHECK", conf, containerid="nobody")
    story.call("DEL", conf)
    story.books()
    story.seen.append((books / "notes").exists())
    (books / "last_reserved_ip.0").write_text("nonsense")
    story.call("ADD", conf)
    story.call("ADD", conf)
    story.books()


STORIES: list[Callable[[Story], None]] = [
    a_bridge_has_another_gateway,
    ipam_has_no_address,
    a_range_is_used_up,
    a_pod_is_added_twice,
    ptp_without_a_gateway,
    a_gateway_out_of_reach,
    a_namespace_that_is_none,
    an_address_of_hardware_that_is_none,
    loopback_has_another_address,
    masquerading_that_somebody_took_away,
    masquerading_that_cannot_be_taken_away,
    a_forwarded_port_that_cannot_be_taken_away,
    rules_of_forwarding_that_are_missing,
    forwarding_to_an_address_of_somebody_else,
    static_addresses_of_arguments,
    results_that_are_not_so,
    a_resolver_s_file,
    books_that_others_wrote,
]


WORDS_OF_1_1 = {
    "container veth name provided (eth0) already exists": 'container veth name (\\"eth0\\") peer provided (\\"vethN\\") already exists',
    "dev eth0': ": "dev eth0 metric 0 (Scope: universe, Table: 0)': ",
    "supports [1.0.0] but": "supports [1.0.0 1.1.0] but",
    ', "dns": {}': "",
}
"""What our version, 1.9, says otherwise than Debian's."""


def told_by(story: Story) -> list[str]:
    said = masked(story.seen, story.pod.path).replace(str(story.host.bin_dir), "BIN").replace(str(story.here), "HERE")
    for old, new in WORDS_OF_1_1.items():
        said = said.replace(old, new)
    said = re.sub(r"(Dst:\{[^}]*\} GW:[^} ]*)\}", r"\1 MTU:0 AdvMSS:0 Priority:0 Table:<nil> Scope:<nil>}", said)
    return [json.dumps(each) for each in json.loads(said)]


@pytest.mark.parametrize("story", STORIES)
def test_the_same_happens(hosts: tuple[Host, Host], tmp_path: Path, story: Callable[[Story], None]) -> None:
    told = []
    for name, host in zip(("ours", "theirs"), hosts):
        here = tmp_path / name
        here.mkdir()
        one = Story(host, here)
        story(one)
        told.append(told_by(one))
    assert told[0] == told[1]
