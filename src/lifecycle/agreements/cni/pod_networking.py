"""Pod networking held against the recorded nodes: what containerd, libcni, ptp and
host-local did there, asked of ours. (portmap: see `host_ports`.)

Three kinds of questions. The node's configuration file: does our libcni read it as
containerd's did? Each kept result: would ours have written that file? Each pod's
namespace and its way on the host: are these the addresses and routes that our ptp would
set for that result?

What no recording holds is taken from the recording as input: names and MAC addresses of
interfaces, DNS settings and cgroup paths (the kubelet's), and which address was handed
out before; that the next one has this number, mask and gateway is asked.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.cni.host_ports import host_port_rows
from lifecycle.agreements.node_commands import cni_conf, lines_equal, node_moments
from lifecycle.cni import results
from lifecycle.cni.addresses import parse_cidr, parse_ip
from lifecycle.cni.config import NetworkConfigList, network_conf_from
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.addr import SCOPES
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.plugins.host_local.allocator import IPAllocator
from lifecycle.cni.plugins.host_local.config import load_ipam_config
from lifecycle.cni.plugins.host_local.disk_store import DiskStore
from lifecycle.cni.plugins.ptp import host_route, pod_routes
from lifecycle.cni.pod_network import LOOPBACK, Sandbox, runtime_conf
from lifecycle.cni.result_cache import RuntimeConf, cached_info
from lifecycle.compare import AgreementTable, Comparison
from lifecycle.inspector import Recording

ANY_ORDER = "order of CNI arguments, from a Go map"
GONE_MEANWHILE = "a pod taken down between two commands"
STAGE = "pod networking"
OURS = "lifecycle.cni, from the recorded configuration"

Routes = Callable[[Any, str], list[Route]]
"""A pod's address and gateway → its routes: what can be sabotaged."""


def recorded_results(text: str) -> list[dict[str, Any]]:
    """The kept results in a dump of the directory."""
    return [
        json.loads(line) for line in text.splitlines() if line.startswith('{"kind"')
    ]


# -- the configuration -----------------------------------------------------------------


def _as_crictl(if_name: str, network: NetworkConfigList) -> dict[str, Any]:
    """A network as `crictl info` shows it."""
    plugins = []
    for plugin in network.plugins:
        plugin_network: dict[str, Any] = {
            "ipam": {
                k: v
                for k, v in (plugin.network.get("ipam") or {}).items()
                if k == "type"
            }
        }
        plugin_network |= {
            key: plugin.network[key]
            for key in ("type", "capabilities")
            if key in plugin.network
        }
        plugins.append({"Network": plugin_network, "Source": plugin.text})
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
        result = Comparison()
        result.field("networks", len(ours), len(info["Networks"]))
        for here, there in zip(ours, info["Networks"], strict=False):
            label = here["Config"]["Name"]
            mine, theirs = here["Config"], there["Config"]
            for key in ("CNIVersion", "Name", "Source"):
                result.field(f"{label}/{key}", mine[key], theirs[key])
            result.field(f"{label}/IFName", here["IFName"], there["IFName"])
            result.field(
                f"{label}/plugins", len(mine["Plugins"]), len(theirs["Plugins"])
            )
            for index, (left, right) in enumerate(
                zip(mine["Plugins"], theirs["Plugins"], strict=False)
            ):
                for key in ("Network", "Source"):
                    result.field(f"{label}/{index}/{key}", left[key], right[key])
        names = " → ".join(
            plugin["Network"]["type"] for plugin in ours[1]["Config"]["Plugins"]
        )
        table.add(
            STAGE,
            f"{name}: configuration as read",
            names,
            names,
            result,
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


def allocated(network: NetworkConfigList, address: str) -> dict[str, str]:
    """Address and gateway as our host-local hands them out after the address before
    this one.
    """
    conf = load_ipam_config(
        {
            **network.plugins[0].network,
            "name": network.name,
            "cniVersion": network.cni_version,
        }
    )
    recorded = parse_cidr(address).ip
    for index, ranges in enumerate(conf.ranges):
        if ranges.version == recorded.version:
            with (
                TemporaryDirectory() as directory,
                DiskStore(network.name, directory) as store,
            ):
                store.reserve("before", "eth0", recorded - 1, str(index))
                try:
                    return IPAllocator(ranges, store, index).get("c", "eth0")
                except CNIError:
                    break
    return {"address": "none", "gateway": "none"}


def _cache_rows(recording: Recording, table: AgreementTable) -> None:
    for name, moment, text in node_moments(recording, "cni-results"):
        result, files = Comparison(), recorded_results(text)
        for theirs in files:
            ours = rebuilt_cache(theirs)
            here, there = dict(ours), dict(theirs)
            if here["cniArgs"] != there["cniArgs"]:
                result.freedoms[ANY_ORDER] += 1
            for side in (here, there):
                side["cniArgs"] = sorted(map(list, side["cniArgs"]))
                side |= {
                    f"result/{key}": value for key, value in side.pop("result").items()
                }
            label = theirs["containerId"][:6]
            result.mapping(f"{label}-{theirs['ifName']}", here, there)
        if files:
            count = f"{len(files)} files"
            table.add(
                STAGE,
                f"{name}: kept results, {moment or 'at the end'}",
                count,
                count,
                result,
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
    lines: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("== "):
            name = line[3:].strip()
            lines[name] = []
        elif (
            name
            and "eth0" in line
            and (line.strip().startswith("inet ") or re.match(r"default|\d+\.", line))
        ):
            lines[name].append(" ".join(line.split()))
    return lines


def _network_rows(recording: Recording, table: AgreementTable, routes: Routes) -> None:
    for name, moment, text in node_moments(recording, "netns"):
        node = recording.node(name)
        if moment not in node.files().get("cni-results", ()):
            continue
        there, in_pods, count = namespaces(text), Comparison(), 0
        on_host: list[str] = []
        for theirs in recorded_results(node.run("cni-results", moment=moment)):
            path = theirs["netns"].rpartition("/")[2]
            if theirs["ifName"] == "lo" or path not in there:
                continue
            count += 1
            in_pods += lines_equal(expected_in_pod(theirs, routes), there[path])
            on_host += expected_on_host(theirs)
        if not count:
            continue
        pods, when = f"{count} pods", moment or "at the end"
        table.add(STAGE, f"{name}: in the pods, {when}", pods, pods, in_pods)
        if moment in node.files().get("ip-route", ()):
            comparison = _on_the_host(node, moment, on_host)
            table.add(STAGE, f"{name}: on the host, {when}", pods, pods, comparison)


def _on_the_host(node: Any, moment: str, ours: list[str]) -> Comparison:
    """The host's addresses and routes of the pods whose results were kept. Addresses
    were only listed at the end.
    """
    listed = [
        " ".join(line.split())
        for line in node.run("ip-route", moment=moment).splitlines()
        if " dev veth" in line
    ]
    if not moment and "ip-addr" in node.files():
        listed += [
            " ".join(line.split())
            for line in node.run("ip-addr").splitlines()
            if re.search(r"inet .* veth\w+$", line)
        ]
    else:
        ours = [line for line in ours if not line.startswith("inet")]
    devices = {_device(line) for line in ours} - {""}
    gone = [
        line
        for line in listed
        if _device(line) and _device(line) not in devices and _is_host_route(line)
    ][: _without_result(node, moment)]
    result = lines_equal(ours, [line for line in listed if line not in gone])
    result.freedoms[GONE_MEANWHILE] += len(gone)
    return result


def _is_host_route(line: str) -> bool:
    """Whether this is the way to one pod, as our ptp would set it."""
    try:
        route = host_route(parse_cidr(f"{line.split()[0]}/32"))
    except CNIError:
        return False
    return line == route_text(route, _device(line))


def _without_result(node: Any, moment: str) -> int:
    """How many sandboxes the runtime still listed of which no result was kept: no more
    pods can have gone in between.
    """
    if moment not in node.files().get("crictl-pods", ()):
        return 0
    kept = {
        result["containerId"]
        for result in recorded_results(node.run("cni-results", moment=moment))
    }
    sandboxes = json.loads(node.run("crictl-pods", moment=moment))["items"]
    return sum(sandbox["id"] not in kept for sandbox in sandboxes)


def _device(line: str) -> str:
    return line.split(" dev ")[1].split()[0] if " dev " in line else ""


def pod_networking_agreement(
    recording: Recording, routes: Routes = pod_routes
) -> AgreementTable:
    """All rows. `routes`: judge these instead of our ptp's."""
    table = AgreementTable(
        "Pod networking",
        OURS,
        f"recording {recording.provenance}",
        lambda table: (
            "How pods were wired to their nodes: addresses, routes, configuration, kept"
            " results and forwarded ports, read on the nodes at several moments and"
            f" worked out by our plugins: of {table.total:,} lines and fields"
            f" {table.fields_equal:,} are the same."
        ),
    )
    _configuration_rows(recording, table)
    _cache_rows(recording, table)
    _network_rows(recording, table, routes)
    host_port_rows(recording, table)
    return table
