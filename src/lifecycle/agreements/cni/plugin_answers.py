"""The reference CNI plugins' own answers, and ours: bridges that are gateways, and
whose turn an address is.

The real bridge plugin was called in a network namespace that stood for a host, and
everything it had made there was read. Ours makes the same on paper, from the same
configuration; the host's rules are those that it would append. The real host-local was
sent one command after the other, and after each its disk was read; ours gets the same
commands and a disk of its own.
"""

from __future__ import annotations

import json
import shlex
from copy import deepcopy
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.paper_netlink import PaperNetlink, attach_on_paper
from lifecycle.cni.plugins.host_local import plugin as host_local
from lifecycle.cni.plugins.ipmasq import masquerade_rules
from lifecycle.cni.plugins.skel import dispatch
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.inspector.opening import recordings_directory

COMMANDS = {"ADD": host_local.cmd_add, "DEL": host_local.cmd_del}
CONTAINER, NETWORK, BRIDGE = "pod-1", "net", "answers0"
"""As the real ones were called."""


def called(
    config: dict[str, Any], command: str, container: str, arguments: str = ""
) -> dict[str, Any]:
    """What our host-local prints, without the version."""
    environment = {
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": container,
        "CNI_IFNAME": "eth0",
        "CNI_PATH": "/opt/cni/bin",
        "CNI_NETNS": "/var/run/netns/none",
        "CNI_ARGS": arguments,
    }
    try:
        text = dispatch(COMMANDS, environment, lambda: json.dumps(config))
    except CNIError as error:
        return error.as_json()
    printed: dict[str, Any] = json.loads(text or "{}")
    printed.pop("cniVersion", None)
    return printed


def our_bridge(parts: dict[str, Any]) -> dict[str, Any]:
    """What our bridge plugin makes of such a configuration."""
    host, decided = PaperNetlink(), _decided(parts["ipam"])
    conf = {"name": NETWORK, "bridge": BRIDGE, **parts}
    pod, result = attach_on_paper(host, conf, decided)
    inside = pod.link("eth0").index
    ways_out = [
        f"{route.destination or 'default'} via {route.gateway}"
        for version in (4, 6)
        for route in pod.routes(version)
        if route.gateway
    ]
    rules = [
        [chain, *rule]
        for ip in result["ips"] * bool(parts.get("ipMasq"))
        for chain, rule in masquerade_rules(
            parse_cidr(ip["address"]), NETWORK, CONTAINER
        )
    ]
    return {
        "ips": result["ips"],
        "routes": result.get("routes"),
        "bridge": [str(address) for address in host.addrs(host.link(BRIDGE).index)],
        "inside": [str(address) for address in pod.addrs(inside)],
        "ways out": sorted(ways_out),
        "links": _links(host, pod),
        "rules": sorted(map(_normal, rules)),
    }


def _decided(ipam: dict[str, Any]) -> dict[str, Any]:
    """What the plugin for addresses says, which goes on to the bridge: our host-local,
    or one that says what it was told.
    """
    if ipam.get("type") == "static":
        said = {"ips": ipam["addresses"], "routes": ipam.get("routes")}
        return deepcopy({key: value for key, value in said.items() if value})
    with TemporaryDirectory() as state:
        own = {"type": "host-local", "dataDir": state, **ipam}
        return called(
            {"cniVersion": "1.0.0", "name": NETWORK, "ipam": own}, "ADD", CONTAINER
        )


def _links(host: PaperNetlink, pod: PaperNetlink) -> dict[str, Any]:
    """How the bridge and the two ends of the pair are set."""
    bridge, inside = host.link(BRIDGE), pod.link("eth0")
    [port] = [link for link in host.links() if link.master == bridge.index]
    return {
        "hears everything": bool(bridge.promiscuity),
        "hairpin": host.hairpin.get(port.index, False),
        "up": [link.up for link in (bridge, port, inside)],
        "mtu": [link.mtu for link in (port, inside)],
    }


def _normal(rule: list[str]) -> list[str]:
    """A rule as options with their values, in an order of its own: iptables prints
    them in another than in which they were typed.
    """
    chain, options = rule[0], list[str]()
    for word in rule[1:]:
        begins = word == "!" or (word.startswith("-") and options[-1:] != ["!"])
        if begins:
            options.append(word)
        else:
            options[-1] = f"{options[-1]} {word}"
    return [chain, *sorted(map(_in_iptables_words, options))]


def _in_iptables_words(option: str) -> str:
    """A single address has no length, and a network no host's part."""
    name, _, place = option.partition(" ")
    if name not in ("-s", "-d"):
        return option
    network = ip_network(place, strict=False)
    alone = network.prefixlen == network.max_prefixlen
    return f"{name} {network.network_address if alone else network}"


def _recorded_rules(lines: list[str]) -> list[list[str]]:
    """`-A CHAIN …` as `_normal` says it."""
    return sorted(_normal(shlex.split(line)[1:]) for line in lines)


def plugins_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each bridge, and one for each command of host-local. `programs`: what
    the real ones did; None: as recorded.
    """
    if programs is None:
        programs = newest_programs(recordings_directory())
    answers = programs.answers
    bridges = [each for name, each in answers.items() if name.startswith("gateways/")]
    turns = [each for name, each in answers.items() if name.startswith("turns/")]
    table = AgreementTable(
        "The plugins themselves",
        "lifecycle.cni",
        f"{bridges[0].program}, asked directly",
        lambda table: (
            f"{len(bridges)} bridges, made by the real plugin and by ours: addresses,"
            f" routes, rules; and {len(turns)} commands to the real host-local and to"
            f" ours, with what lies on the disk after each: {table.outcome('rows')}."
        ),
    )
    for each in bridges:
        theirs = {key: value for key, value in each.answer.items() if key != "config"}
        theirs["rules"] = _recorded_rules(theirs["rules"])
        ours = our_bridge(each.answer["config"])
        here, there = (", ".join(side["bridge"]) for side in (ours, theirs))
        table.add(
            "bridge",
            each.question.partition("/")[2],
            here,
            there,
            compare(ours, theirs),
        )
    with TemporaryDirectory() as state:
        for each in turns:
            ipam = {
                "type": "host-local",
                "dataDir": state,
                "ranges": each.answer["ranges"],
            }
            version = each.answer["version"]
            config = {"cniVersion": version, "name": "small", "ipam": ipam}
            ours = {
                "printed": called(config, *each.answer["turn"]),
                "disk": _disk(state),
            }
            theirs = {key: each.answer[key] for key in ours}
            table.add(
                "host-local",
                each.question.partition("/")[2],
                _told(ours),
                _told(theirs),
                compare(ours, theirs),
            )
    return table


def _disk(state: str) -> dict[str, str]:
    return {
        path.name: path.read_bytes().decode().replace("\r\n", "\n")
        for path in sorted((Path(state) / "small").iterdir())
        if path.name != "lock"
    }


def _told(answer: dict[str, Any]) -> str:
    printed = answer["printed"]
    addresses = [ip["address"] for ip in printed.get("ips") or ()]
    return printed.get("msg") or ", ".join(addresses) or "done"
