"""Pod networking held against the recorded nodes: what containerd, libcni, ptp,
host-local and portmap did there, asked of ours.

Four kinds of questions. The node's configuration file: does our libcni read it as
containerd's did? Each kept result: would ours have written that file? Each pod's
namespace and its way on the host: are these the addresses and routes that our ptp would
set for that result? The rules of portmap: the same chains, names and order?

What no recording holds is taken from the recording as input: names and MAC addresses of
interfaces, DNS settings and cgroup paths (the kubelet's), and who had which address;
that *this* address gets this mask and gateway is asked.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import parse_cidr, parse_ip
from lifecycle.cni.config import NetworkConfigList, network_conf_from
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.addr import SCOPES
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.plugins.host_local.allocator import IPAllocator
from lifecycle.cni.plugins.host_local.config import load_ipam_config
from lifecycle.cni.plugins.portmap_rules import all_chains
from lifecycle.cni.plugins.ptp import host_route, pod_routes
from lifecycle.cni.pod_network import LOOPBACK, Sandbox, runtime_conf
from lifecycle.cni.result_cache import RuntimeConf, cached_info
from lifecycle.compare import AgreementTable, Comparison, Difference
from lifecycle.inspector import Recording

ANY_ORDER = "order of CNI arguments, from a Go map"
GONE_MEANWHILE = "a pod taken down between two commands"
OURS = "lifecycle.cni, from the recorded configuration"

Routes = Callable[[Any, str], list[Route]]
"""A pod's address and gateway → its routes: what can be sabotaged."""


def fields_equal(pairs: Iterable[tuple[str, Any, Any]]) -> Comparison:
    """One field for each (name, ours, theirs)."""
    found = Comparison()
    for name, ours, theirs in pairs:
        found.total += 1
        if ours == theirs:
            found.equal += 1
        else:
            found.differences.append(Difference(f"/{name}", ours, theirs))
    return found


def lines_equal(ours: Iterable[str], theirs: Iterable[str]) -> Comparison:
    """One field for each line that either side has."""
    here, there = Counter(ours), Counter(theirs)
    return fields_equal(
        (line, line if here[line] else None, line if there[line] else None)
        for line in sorted(here | there)
    )


def cni_conf(text: str) -> str:
    """The first configuration file in a dump of the directory."""
    return re.split(r"^== .*\n", text, flags=re.MULTILINE)[1]


def recorded_results(text: str) -> list[dict[str, Any]]:
    """The kept results in a dump of the directory."""
    return [
        json.loads(line) for line in text.splitlines() if line.startswith('{"kind"')
    ]


def node_moments(recording: Recording, command: str) -> Iterator[tuple[str, str, str]]:
    """(node, moment, output) of a command, wherever it was recorded."""
    for name in recording.nodes():
        node = recording.node(name)
        for moment in node.files().get(command, ()):
            yield name, moment, node.run(command, moment=moment)


# -- the configuration -----------------------------------------------------------------


def _as_crictl(if_name: str, network: NetworkConfigList) -> dict[str, Any]:
    """A network as `crictl info` shows it."""
    plugins = []
    for plugin in network.plugins:
        shown: dict[str, Any] = {
            "ipam": {
                k: v
                for k, v in (plugin.network.get("ipam") or {}).items()
                if k == "type"
            }
        }
        shown |= {
            key: plugin.network[key]
            for key in ("type", "capabilities")
            if key in plugin.network
        }
        plugins.append({"Network": shown, "Source": plugin.text})
    config = {
        "CNIVersion": network.cni_version,
        "Name": network.name,
        "Plugins": plugins,
        "Source": network.text,
    }
    return {"Config": config, "IFName": if_name}


def _configuration_rows(recording: Recording, table: AgreementTable) -> None:
    for name in recording.nodes():
        node = recording.node(name)
        if not {"cni-conf", "crictl-info"} <= set(node.files()):
            continue
        info = json.JSONDecoder().raw_decode(node.run("crictl-info").lstrip())[0][
            "cniconfig"
        ]
        text = cni_conf(node.run("cni-conf"))
        ours = [
            _as_crictl("lo", network_conf_from(LOOPBACK)),
            _as_crictl("eth0", network_conf_from(text)),
        ]
        pairs: list[tuple[str, Any, Any]] = [
            ("networks", len(ours), len(info["Networks"]))
        ]
        for here, there in zip(ours, info["Networks"], strict=False):
            label = here["Config"]["Name"]
            pairs += [
                (f"{label}/{key}", here["Config"][key], there["Config"][key])
                for key in ("CNIVersion", "Name", "Source")
            ]
            pairs.append((f"{label}/IFName", here["IFName"], there["IFName"]))
            for index, (mine, theirs) in enumerate(
                zip(here["Config"]["Plugins"], there["Config"]["Plugins"], strict=False)
            ):
                pairs += [
                    (f"{label}/{index}/{key}", mine[key], theirs[key])
                    for key in ("Network", "Source")
                ]
        names = " → ".join(
            plugin["Network"]["type"] for plugin in ours[1]["Config"]["Plugins"]
        )
        table.add(
            "pod networking",
            f"{name}: configuration as read",
            names,
            names,
            fields_equal(pairs),
        )


# -- the kept results ------------------------------------------------------------------


def rebuilt_cache(theirs: dict[str, Any]) -> dict[str, Any]:
    """The file that ours would have kept: the pod from its arguments, the result
    through our types.
    """
    args, capabilities = dict(theirs["cniArgs"]), theirs["capabilityArgs"]
    sandbox = Sandbox(
        theirs["containerId"],
        args["K8S_POD_NAME"],
        args["K8S_POD_NAMESPACE"],
        args["K8S_POD_UID"],
        [
            {**one, "protocol": one["protocol"].upper()}
            for one in capabilities.get("portMappings", ())
        ],
        capabilities.get("dns", {}),
        capabilities.get("io.kubernetes.cri.pod-annotations", {}),
        capabilities.get("cgroupPath", ""),
    )
    rt: RuntimeConf = runtime_conf(sandbox, theirs["netns"], theirs["ifName"])
    text = (
        LOOPBACK
        if theirs["ifName"] == "lo"
        else base64.b64decode(theirs["config"]).decode()
    )
    network = network_conf_from(text)
    result = results.create(network.cni_version, theirs["result"])
    if theirs["ifName"] != "lo":
        result["ips"] = [
            {
                "version": str(parse_cidr(one["address"]).version),
                "interface": 1,
                **allocated(network, one["address"]),
            }
            for one in result["ips"]
        ]
        result["routes"] = list(network.plugins[0].network["ipam"]["routes"])
    return cached_info(result, network.text, network.name, rt)


class _AtOneAddress:
    """A store in which only one address is free."""

    def __init__(self, only: Any) -> None:
        self._only = only

    def reserve(
        self, container_id: str, if_name: str, address: Any, range_id: str
    ) -> bool:
        return bool(address == self._only)

    def last_reserved_ip(self, range_id: str) -> None:
        return None

    def get_by_id(self, container_id: str, if_name: str) -> list[Any]:
        return []

    def release_by_id(self, container_id: str, if_name: str) -> None:
        return None


def allocated(network: NetworkConfigList, address: str) -> dict[str, str]:
    """Address and gateway as our host-local hands them out when this address is the
    only free one.
    """
    conf = load_ipam_config(
        {
            **network.plugins[0].network,
            "name": network.name,
            "cniVersion": network.cni_version,
        }
    )
    wanted = parse_cidr(address).ip
    for index, ranges in enumerate(conf.ranges):
        if ranges.version == wanted.version:
            try:
                return IPAllocator(ranges, _AtOneAddress(wanted), index).get(
                    "c", "eth0"
                )
            except CNIError:
                return {"address": "none", "gateway": "none"}
    return {"address": "none", "gateway": "none"}


def _cache_rows(recording: Recording, table: AgreementTable) -> None:
    for name, moment, text in node_moments(recording, "cni-results"):
        found, files = Comparison(), recorded_results(text)
        for theirs in files:
            ours = rebuilt_cache(theirs)
            here, there = dict(ours), dict(theirs)
            if here["cniArgs"] != there["cniArgs"]:
                found.freedoms[ANY_ORDER] += 1
            for side in (here, there):
                side["cniArgs"] = sorted(map(list, side["cniArgs"]))
                side |= {
                    f"result/{key}": value for key, value in side.pop("result").items()
                }
            label = theirs["containerId"][:6]
            found += fields_equal(
                (f"{label}-{theirs['ifName']}/{k}", here.get(k), there.get(k))
                for k in sorted(here | there)
            )
        if files:
            count = f"{len(files)} files"
            table.add(
                "pod networking",
                f"{name}: kept results, {moment or 'at the end'}",
                count,
                count,
                found,
            )


# -- in the pod, and on the host -------------------------------------------------------


def route_text(route: Route, device: str) -> str:
    """As `ip route` prints it, without the protocol."""
    words = [str(route.destination or "default").removesuffix("/32")]
    words += [f"via {route.gateway}"] if route.gateway else []
    words += [f"dev {device}"]
    words += [f"scope {SCOPES[route.scope]}"] if route.scope else []
    words += [f"src {route.source}"] if route.source else []
    return " ".join(words)


def expected_in_pod(theirs: dict[str, Any], routes: Routes = pod_routes) -> list[str]:
    """Address and route lines in a pod with this result, set by our ptp."""
    lines = []
    for one in theirs["result"]["ips"]:
        address, gateway = parse_cidr(one["address"]), one["gateway"]
        lines.append(
            f"inet {address} brd {address.network.broadcast_address} scope global eth0"
        )
        lines += [route_text(route, "eth0") for route in routes(address, gateway)]
        for route in theirs["result"].get("routes", ()):
            via = parse_ip(route.get("gw") or gateway)
            destination = parse_cidr(route["dst"]).network
            lines.append(
                route_text(
                    Route(destination if destination.prefixlen else None, via), "eth0"
                )
            )
    return lines


def expected_on_host(theirs: dict[str, Any]) -> list[str]:
    """The host's lines for a pod with this result."""
    veth = theirs["result"]["interfaces"][0]["name"]
    lines = []
    for one in theirs["result"]["ips"]:
        lines.append(f"inet {one['gateway']}/32 scope global {veth}")
        lines.append(route_text(host_route(parse_cidr(one["address"])), veth))
    return lines


def namespaces(text: str) -> dict[str, list[str]]:
    """Namespace → its IPv4 addresses and routes, of `eth0`."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("== "):
            name = line[3:].strip()
            found[name] = []
        elif (
            name
            and "eth0" in line
            and (line.strip().startswith("inet ") or re.match(r"default|\d+\.", line))
        ):
            found[name].append(" ".join(line.split()))
    return found


def _network_rows(recording: Recording, table: AgreementTable, routes: Routes) -> None:
    for name, moment, text in node_moments(recording, "netns"):
        node = recording.node(name)
        if moment not in node.files().get("cni-results", ()):
            continue
        there, found, count = namespaces(text), Comparison(), 0
        host_lines: list[str] = []
        for theirs in recorded_results(node.run("cni-results", moment=moment)):
            path = theirs["netns"].rpartition("/")[2]
            if theirs["ifName"] == "lo" or path not in there:
                continue
            count += 1
            found += lines_equal(expected_in_pod(theirs, routes), there[path])
            host_lines += expected_on_host(theirs)
        if not count:
            continue
        shown = f"{count} pods"
        table.add(
            "pod networking",
            f"{name}: in the pods, {moment or 'at the end'}",
            shown,
            shown,
            found,
        )
        if moment in node.files().get("ip-route", ()):
            seen = [
                " ".join(line.split())
                for line in node.run("ip-route", moment=moment).splitlines()
                if " dev veth" in line
            ]
            if not moment and "ip-addr" in node.files():
                addresses = node.run("ip-addr").splitlines()
                seen += [
                    " ".join(line.split())
                    for line in addresses
                    if re.search(r"inet .* veth\w+$", line)
                ]
            else:
                host_lines = [
                    line for line in host_lines if not line.startswith("inet")
                ]
            on_host = Comparison()
            kept = {
                line.split(" dev ")[1].split()[0]
                for line in host_lines
                if " dev " in line
            }
            for line in [
                line
                for line in seen
                if " dev " in line and line.split(" dev ")[1].split()[0] not in kept
            ]:
                seen.remove(line)
                on_host.freedoms[GONE_MEANWHILE] += 1
            on_host += lines_equal(host_lines, seen)
            table.add(
                "pod networking",
                f"{name}: on the host, {moment or 'at the end'}",
                shown,
                shown,
                on_host,
            )


# -- host ports ------------------------------------------------------------------------


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


def forwarded(text: str) -> list[tuple[str, dict[str, Any], str]]:
    """(container, configuration, address with mask) of each container with forwarded
    ports, as its rules tell.
    """
    found = []
    for line in text.splitlines():
        entry = re.match(
            r'-A CNI-HOSTPORT-DNAT .*--comment "dnat name: \\"(.*?)\\" id:'
            r' \\"(.*?)\\"".* -j (\S+)$',
            line,
        )
        if not entry:
            continue
        network, container, chain = entry.groups()
        own = [
            shlex.split(one)
            for one in text.splitlines()
            if one.startswith(f"-A {chain} ")
        ]
        mappings, address = [], ""
        subnet = next(
            (
                one[one.index("-s") + 1]
                for one in own
                if "-s" in one and "127.0.0.1/32" not in one
            ),
            "0.0.0.0/24",
        )
        for one in own:
            if "DNAT" in one:
                address, _, port = one[-1].rpartition(":")
                host_port = int(one[one.index("--dport") + 1])
                mappings.append(
                    {
                        "hostPort": host_port,
                        "containerPort": int(port),
                        "protocol": one[one.index("-p") + 1],
                    }
                )
        conf = {"name": network, "runtimeConfig": {"portMappings": mappings}}
        found.append((container, conf, f"{address}/{subnet.rpartition('/')[2]}"))
    return found


def _portmap_rows(recording: Recording, table: AgreementTable) -> None:
    for name, moment, text in node_moments(recording, "iptables-save"):
        theirs = [
            line
            for line in text.splitlines()
            if re.search(r"^-A CNI-|-j CNI-HOSTPORT-(DNAT|MASQ)$", line)
        ]
        ours: list[str] = []
        for container, conf, address in forwarded(text):
            for chain in all_chains(conf, container, parse_cidr(address)):
                rules = [saved(chain.name, rule) for rule in chain.rules]
                rules += [saved(entry, rule) for entry, rule in chain.entries()]
                ours += [line for line in rules if line not in ours]
        if ours:
            shown = f"{len(theirs)} rules"
            row = f"{name}: forwarded ports, {moment or 'at the end'}"
            table.add(
                "pod networking",
                row,
                f"{len(ours)} rules",
                shown,
                lines_equal(ours, theirs),
            )


def pod_networking_agreement(
    recording: Recording, routes: Routes = pod_routes
) -> AgreementTable:
    """All rows. `routes`: judge these instead of our ptp's."""
    table = AgreementTable("Pod networking", OURS, f"recording {recording.provenance}")
    _configuration_rows(recording, table)
    _cache_rows(recording, table)
    _network_rows(recording, table, routes)
    _portmap_rows(recording, table)
    return table
