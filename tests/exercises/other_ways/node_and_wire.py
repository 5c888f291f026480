"""Attempts at what happens on a node and between nodes."""

from __future__ import annotations

import hashlib
import ipaddress
from base64 import b32encode
from collections.abc import Callable
from typing import Any


def pod_phase(slip: str) -> Callable[..., Any]:
    """Each container becomes one word first; then only the words count."""

    def word(status: Any) -> tuple[str, int]:
        state, last = (status or {}).get("state") or {}, (status or {}).get("lastState") or {}
        if "running" in state:
            return "running", 0
        if "terminated" in state:
            return "ended", state["terminated"]["exitCode"]
        if "terminated" in last and "waiting" in state and slip != "no last state":
            return "ended before", last["terminated"]["exitCode"]
        if status is None and slip == "who is not there does not count":
            return "nothing", 0
        return ("waiting" if "waiting" in state else "unknown"), 0

    def get_phase(spec: Any, statuses: Any, pod_is_terminal: bool) -> str:
        policy, by_name = spec.get("restartPolicy") or "Always", {status["name"]: status for status in statuses}
        main = [word(by_name.get(container["name"])) for container in spec["containers"]]
        begun = any(what in ("running", "ended") for what, _ in main)
        words, blocked = [what for what, _ in main], False
        for container in [] if slip == "no init containers" else spec.get("initContainers") or []:
            status = by_name.get(container["name"])
            what, code = word(status)
            stays = container.get("restartPolicy") == "Always" and slip != "a sidecar is an init container"
            if stays:
                words += [what] if what in ("running", "waiting", "unknown") else []
                blocked |= not begun and what == "running" and not status.get("started")
            elif what.startswith("ended") and code and policy == "Never" and slip != "a failed init container":
                return "Failed"
            elif not what.startswith("ended"):
                blocked = True
        if slip == "a running init container":
            blocked = False
        if "waiting" in words or blocked or "unknown" in words:
            return "Pending"
        if "running" in words:
            return "Running"
        ended = [(what, code) for what, code in main if what.startswith("ended")]
        if not ended:
            return "Pending"
        restarts = policy == "Always" or (policy == "OnFailure" and any(code for _, code in ended))
        if restarts and not pod_is_terminal and slip != "the policy does not matter":
            return "Running"
        well = all(what == "ended" and code == 0 for what, code in ended)
        return "Succeeded" if well or slip == "done is done" else "Failed"

    return get_phase


def host_local(slip: str) -> Callable[..., Any]:
    """All addresses of all ranges in one long list, made once."""

    class Allocator:
        def __init__(self, ranges: Any) -> None:
            self.all: list[tuple[Any, int]] = []
            self.held: dict[str, Any] = {}
            self.next = 0
            for one in ranges[: 1 if slip == "one range" else None]:
                net = ipaddress.ip_network(one["subnet"])
                every = list(net)
                gateway = ipaddress.ip_address(one["gateway"]) if "gateway" in one else every[1]
                first = ipaddress.ip_address(one["rangeStart"]) if "rangeStart" in one else every[0]
                last = ipaddress.ip_address(one["rangeEnd"]) if "rangeEnd" in one else every[-1]
                if slip == "the whole subnet":
                    first, last = every[0], every[-1]
                never = {every[0]} if slip == "the gateway too" else {every[0], gateway}
                if net.version == 4 and slip != "the broadcast address too":
                    never.add(every[-1])
                self.all += [(a, net.prefixlen) for a in every if first <= a <= last and a not in never]

        def add(self, container: str) -> Any:
            for step in range(len(self.all)):
                at = (0 if slip == "the lowest free one" else self.next) + step
                address, length = self.all[at % len(self.all)]
                if address not in self.held.values():
                    self.held[container], self.next = address, at + 1
                    return str(address) if slip == "without the prefix" else f"{address}/{length}"
            if slip == "raises when full":
                raise RuntimeError("full")
            return None

        def delete(self, container: str) -> None:
            if slip == "nothing is given back":
                return
            if slip == "strangers are an error":
                del self.held[container]
                return
            address = self.held.pop(container, None)
            if slip == "goes back to what was freed" and address is not None:
                self.next = [a for a, _ in self.all].index(address)

    return Allocator


def iptables_chains(slip: str) -> Callable[..., Any]:
    """One text, hashed."""

    def chain_name(prefix: str, namespace: str, service: str, port: str, protocol: str, endpoint: str) -> str:
        name = f"{namespace}/{service}:{port}" if port or slip == "always a colon" else f"{namespace}/{service}"
        if slip == "no port":
            name = f"{namespace}/{service}"
        said = protocol if slip == "capitals" else protocol.lower()
        parts = [name, said, "" if slip == "one for all endpoints" else endpoint]
        if slip == "no protocol":
            parts[1] = ""
        if slip == "the prefix too":
            parts.insert(0, prefix)
        hashed = hashlib.new("sha1" if slip == "sha1" else "sha256", "".join(parts).encode()).digest()
        text = hashed.hex().upper() if slip == "hexadecimal" else b32encode(hashed).decode()
        return f"{prefix}-{text[:15] if slip == 'fifteen letters' else text[:16]}"

    return chain_name


def dns_records(slip: str) -> Callable[..., Any]:
    """The whole zone is written down first; a question is a look into it."""

    def zone(cluster: Any) -> tuple[set[str], list[tuple[str, str, str]]]:
        names, found = {f"{namespace}.svc.cluster.local." for namespace in cluster["namespaces"]}, []
        for service in cluster["services"]:
            meta, spec = service["metadata"], service["spec"]
            own = f"{meta['name']}.{meta['namespace']}.svc.cluster.local."
            if spec.get("type") == "ExternalName" and slip != "external names are addresses":
                found += [(own, kind, f"CNAME {spec['externalName'].rstrip('.')}.") for kind in ("A", "AAAA", "CNAME")]
                continue
            ips = [ip for ip in spec.get("clusterIPs") or [] if ip != "None"]
            targets = [(ip, own, spec.get("ports") or []) for ip in ips]
            for endpoint_slice in cluster["endpointSlices"]:
                labels, home = endpoint_slice["metadata"].get("labels") or {}, endpoint_slice["metadata"]["namespace"]
                mine = labels.get("kubernetes.io/service-name") == meta["name"] and home == meta["namespace"]
                if not mine:
                    continue
                for endpoint in endpoint_slice.get("endpoints") or []:
                    ready = (endpoint.get("conditions") or {}).get("ready") is not False or slip == "ready or not"
                    for ip in endpoint["addresses"] if ready else []:
                        label = endpoint.get("hostname") or ip.replace(".", "-").replace(":", "-")
                        if slip == "no host names":
                            label = ip.replace(".", "-").replace(":", "-")
                        found += [(f"{label}.{own}", _family(ip), f"{_family(ip)} {ip}")]
                        found.append((_reversed(ip), "PTR", f"PTR {label}.{own}"))
                        if not ips and slip != "headless has no name":
                            targets.append((ip, f"{label}.{own}", endpoint_slice.get("ports") or []))
            found += [(_reversed(ip), "PTR", f"PTR {own}") for ip in ips]
            found += [(own, _family(ip), f"{_family(ip)} {ip}") for ip, _, _ in targets]
            asked: dict[str, list[tuple[int, str]]] = {}
            for _, host, ports in targets:
                for port in ports:
                    if port.get("name"):
                        protocol = "tcp" if slip == "all is TCP" else port["protocol"].lower()
                        asked.setdefault(f"_{port['name']}._{protocol}.{own}", []).append((port["port"], host))
                    asked.setdefault(own, []).append((port["port"], host))
            for name, where in asked.items():
                where = list(dict.fromkeys(where))
                weight = 100 if slip == "each weighs everything" else 100 // len(where)
                found += [(name, "SRV", f"SRV 0 {weight} {port} {host}") for port, host in where]
        found.append(("dns-version.cluster.local.", "TXT", 'TXT "1.1.0"'))
        return names, found

    def records(name: str, type: str, cluster: Any) -> Any:
        _, found = zone(cluster)
        label, _, rest = name.partition(".")
        if rest.endswith(".pod.cluster.local.") and rest.split(".")[0] in cluster["namespaces"] and slip != "no pods":
            for text in (label.replace("-", "."), label.replace("-", ":")):
                try:
                    ip = str(ipaddress.ip_address(text))
                except ValueError:
                    continue
                found.append((name, _family(ip), f"{_family(ip)} {ip}"))
        return {f"{name} IN {answer}" for at, kind, answer in found if (at, kind) == (name, type)}

    return records


def _family(ip: str) -> str:
    return "AAAA" if ":" in ip else "A"


def _reversed(ip: str) -> str:
    return f"{ipaddress.ip_address(ip).reverse_pointer}."
