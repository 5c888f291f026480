"""Host ports held against the recorded nodes: the chains and rules that our portmap
would set for the recorded pods, beside `iptables-save`.

Which ports a pod asks for, and at which address it is, its object says; the network's
name and mask the node's configuration. Only the id of its sandbox is read off the
rules: it stands nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lifecycle.agreements.node_commands import cni_conf, node_moments
from lifecycle.api.http.wire import Object
from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.plugins.portmap_rules import all_chains
from lifecycle.compare import AgreementTable, Comparison
from lifecycle.inspector import Recording

STAGE = "pod networking"
OWN_CHAIN = "CNI-DN-"


def saved(chain: str, rule: list[str]) -> str:
    """A rule as `iptables-save` prints it: address, protocol, matches, target."""
    words, parts = list(rule), {"-s": "", "-d": "", "-p": "", "m": "", "-j": ""}
    protocol = words[words.index("-p") + 1] if "-p" in words else ""
    loaded = False
    while words:
        word = words.pop(0)
        if word in ("-s", "-d"):
            value = words.pop(0)
            network = parse_cidr(value if "/" in value else f"{value}/32").network
            parts[word] = f" {word} {network}"
        elif word == "-p":
            parts["-p"] = f" -p {words.pop(0)}"
        elif word == "-m":
            name = words.pop(0)
            loaded = loaded or name == "multiport"
            parts["m"] += f" -m {name}"
        elif word == "-j":
            parts["-j"] = f" -j {' '.join(words)}"
            words = []
        elif word == "--comment":
            parts["m"] += " --comment " + json.dumps(words.pop(0))
        elif word == "--dport":
            parts["m"] += f" -m {protocol} --dport {words.pop(0)}"
        elif word == "--destination-ports":
            parts["m"] += f" --dports {words.pop(0)}"
        else:
            parts["m"] += f" {word} {words.pop(0)}"
    return f"-A {chain}" + "".join(parts.values())


def pods_with_host_ports(recording: Recording) -> dict[str, Object]:
    """Pods that forward ports of their node, by address."""
    pods: dict[str, Object] = {}
    for scenario in recording.scenarios():
        for exchange in recording.exchanges(scenario):
            answer = exchange.response
            if not isinstance(answer, dict) or "/pods" not in exchange.path:
                continue
            for pod in answer.get("items") or [answer]:
                spec, status = pod.get("spec") or {}, pod.get("status") or {}
                if (
                    isinstance(status, dict)
                    and status.get("podIP")
                    and not spec.get("hostNetwork")
                    and port_mappings(pod)
                ):
                    pods[status["podIP"]] = pod
    return pods


def port_mappings(pod: Object) -> list[Object]:
    """What the runtime tells portmap: a mapping for each host port."""
    return [
        {
            "hostPort": port["hostPort"],
            "containerPort": port["containerPort"],
            "protocol": port.get("protocol", "TCP").lower(),
        }
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def sandbox_ids(rules: list[str]) -> dict[str, str]:
    """The ids of the sandboxes that ports are forwarded to, by address."""
    ids = {}
    for line in rules:
        entry = re.search(r'id: \\"(.*?)\\"".* -j (\S+)$', line)
        if entry:
            for rule in rules:
                if rule.startswith(f"-A {entry[2]} ") and "--to-destination" in rule:
                    ids[rule.split()[-1].rpartition(":")[0]] = entry[1]
    return ids


def _our_rules(conf: Object, container: str, address: str) -> Iterator[str]:
    for chain in all_chains(conf, container, parse_cidr(address)):
        yield from (saved(chain.name, rule) for rule in chain.rules)
        yield from (saved(entry, rule) for entry, rule in chain.entries())


def _by_chain(rules: list[str]) -> dict[str, list[str]]:
    """Rules in order; in the chains that all containers share, containers come in any
    order.
    """
    chains: dict[str, list[str]] = {}
    for rule in rules:
        chains.setdefault(rule.split()[1], []).append(rule)
    return {
        name: lines if name.startswith(OWN_CHAIN) else sorted(lines)
        for name, lines in chains.items()
    }


def host_port_rows(recording: Recording, table: AgreementTable) -> None:
    """A row for each node and moment at which ports were forwarded."""
    pods = pods_with_host_ports(recording)
    for name, moment, text in node_moments(recording, "iptables-save"):
        theirs = [
            line
            for line in text.splitlines()
            if re.search(r"^-A CNI-|-j CNI-HOSTPORT-(DNAT|MASQ)$", line)
        ]
        ids = sandbox_ids(theirs)
        if not ids:
            continue
        network: dict[str, Any] = json.loads(
            cni_conf(recording.node(name).run("cni-conf"))
        )
        mask = network["plugins"][0]["ipam"]["ranges"][0][0]["subnet"].partition("/")[2]
        ours: list[str] = []
        for address, container in ids.items():
            if address in pods:
                mappings = port_mappings(pods[address])
                conf = {
                    "name": network["name"],
                    "runtimeConfig": {"portMappings": mappings},
                }
                rules = _our_rules(conf, container, f"{address}/{mask}")
                ours += [line for line in rules if line not in ours]
        result = Comparison()
        here, there = _by_chain(ours), _by_chain(theirs)
        for chain in sorted({*here, *there}):
            left, right = here.get(chain, []), there.get(chain, [])
            for index in range(max(len(left), len(right))):
                result.field(
                    f"{chain}/{index}",
                    left[index] if index < len(left) else None,
                    right[index] if index < len(right) else None,
                )
        table.add(
            STAGE,
            f"{name}: forwarded ports, {moment or 'at the end'}",
            f"{len(ours)} rules",
            f"{len(theirs)} rules",
            result,
        )
