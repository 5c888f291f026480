"""Claims about addresses: put to the recorded results, and to our own host-local."""

from __future__ import annotations

import ipaddress
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from lifecycle.agreements.claim_checks.cni import (
    ARTICLES,
    kubelet_attaches_pods,
    pods_results,
)
from lifecycle.agreements.cni.overlay import recorded_nodes
from lifecycle.cni.invoke import Args, exec_plugin_now, find_in_path
from lifecycle.cni.paper_netlink import PaperNetlink, attach_on_paper
from lifecycle.cni.plugins.host_local import plugin
from lifecycle.cni.plugins.skel import dispatch
from lifecycle.compare.claims import check, rebuilt
from lifecycle.controllers.nodeipam import CIDRSet
from lifecycle.inspector import Recording

LAST = "last_reserved_ip.0"


def ask(
    directory: str, container: str, command: str = "ADD", subnet: str = "10.244.1.0/24"
) -> Any:
    """Our host-local's answer."""
    ranges = {"ranges": [[{"subnet": subnet}]], "dataDir": directory}
    conf = {**ARTICLES, "cniVersion": "1.0.0", "ipam": {**ARTICLES["ipam"], **ranges}}
    env = Args(command, container, "/none", "eth0", path=("/bin",)).as_env({})
    text = dispatch(
        {"ADD": plugin.cmd_add, "DEL": plugin.cmd_del}, env, lambda: json.dumps(conf)
    )
    return json.loads(text) if text else None


@rebuilt("ipam-delegated-to-separate-executable")
def delegated() -> bool:
    """The program named in the configuration is looked for in CNI_PATH and run, with
    the same input and environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "host-local")
        program.write_text(
            '#!/bin/sh\necho "{\\"told\\":\\"$CNI_COMMAND\\",\\"read\\":$(cat)}"\n'
        )
        program.chmod(0o755)
        path = find_in_path(ARTICLES["ipam"]["type"], ["/none", folder])
        output = json.loads(
            exec_plugin_now(path, '{"name":"x"}', {**os.environ, "CNI_COMMAND": "ADD"})
        )
        return bool(output == {"told": "ADD", "read": {"name": "x"}})


@check("ipam-returns-address-gateway-routes")
def recorded_decision(recording: Recording) -> bool | None:
    """Address with mask, gateway, routes: all in each result."""
    results = [one["result"] for one in pods_results(recording)]
    return (
        all(
            r["ips"][0]["address"] and r["ips"][0]["gateway"] and r["routes"]
            for r in results
        )
        if results
        else None
    )


@rebuilt("ipam-returns-address-gateway-routes")
def our_decision() -> bool:
    """host-local decides, the main plugin applies."""
    with tempfile.TemporaryDirectory() as directory:
        result = ask(directory, "c1")
    pod, _ = attach_on_paper(PaperNetlink(), ARTICLES, result)
    decided = result["ips"] == [
        {"interface": 2, "address": "10.244.1.2/24", "gateway": "10.244.1.1"}
    ]
    applied = [str(address) for address in pod.addrs(pod.link("eth0").index)] == [
        "10.244.1.2/24"
    ]
    return (
        decided
        and applied
        and any(str(route.gateway) == "10.244.1.1" for route in pod.routes())
    )


@check("ipam-host-local-allocates-from-ranges")
def recorded_ranges(recording: Recording) -> bool | None:
    """Each recorded address lies in the range that stands in the same file's
    configuration.
    """
    results = list(pods_results(recording))
    return all(_in_its_range(one) for one in results) if results else None


def _in_its_range(kept: dict[str, Any]) -> bool:
    import base64

    ipam = json.loads(base64.b64decode(kept["config"]))["plugins"][0]["ipam"]
    subnet = ipaddress.ip_network(ipam["ranges"][0][0]["subnet"])
    return ipaddress.ip_interface(kept["result"]["ips"][0]["address"]).ip in subnet


def _written(directory: str) -> dict[str, str]:
    """The plugin's files, by name."""
    return {path.name: path.read_text() for path in Path(directory).glob("bridge/*")}


@rebuilt("ipam-host-local-allocates-from-ranges")
def our_ranges() -> bool:
    """Round and round, past the gateway; what was given back comes last. Where to go on
    is written down each time, and nothing else with it.
    """
    with tempfile.TemporaryDirectory() as directory:
        first = [
            ask(directory, f"c{n}", subnet="10.0.0.0/29")["ips"][0]["address"]
            for n in range(3)
        ]
        ask(directory, "c0", "DEL", "10.0.0.0/29")
        more = [
            ask(directory, f"d{n}", subnet="10.0.0.0/29")["ips"][0]["address"]
            for n in range(3)
        ]
    with tempfile.TemporaryDirectory() as directory:
        for n in range(5):
            ask(directory, f"c{n}", subnet="10.0.0.0/29")
        for gone, new in (("c2", "d"), ("c0", "e")):
            ask(directory, gone, "DEL", "10.0.0.0/29")
            answer = ask(directory, new, subnet="10.0.0.0/29")
            more.append(answer["ips"][0]["address"])
    with tempfile.TemporaryDirectory() as directory:
        for n in range(13):
            ask(directory, f"c{n}", subnet="10.0.0.0/28")
        ask(directory, "c0", "DEL", "10.0.0.0/28")
        rights = {
            path.stat().st_mode & 0o777
            for path in Path(directory).glob("bridge/*")
            if path.name != "lock"
        }
        assert rights == {0o600}, "for root alone"
        after = [_written(directory).get(LAST)]
        ask(directory, "d", subnet="10.0.0.0/28")
        after.append(_written(directory).get(LAST))
    return [*first, *more] == [
        f"10.0.0.{n}/29" for n in (2, 3, 4, 5, 6, 2, 4, 2)
    ] and after == ["10.0.0.14", "10.0.0.2"]


@rebuilt("ipam-host-local-state-on-disk")
def on_disk() -> bool:
    """A file for each address, and no memory beside it: a second process goes on where
    the first one stopped.
    """
    with tempfile.TemporaryDirectory() as directory:
        ask(directory, "c1")
        ask(directory, "c2")
        files = _written(directory)
    held = {
        name: text.split()[0] for name, text in files.items() if name.startswith("10.")
    }
    return (
        held == {"10.244.1.2": "c1", "10.244.1.3": "c2"}
        and files.get(LAST) == "10.244.1.3"
    )


@check("ipam-unique-ip-from-global-pod-subnet")
def recorded_unique(recording: Recording) -> bool | None:
    """All addresses differ, and each lies in its node's piece of one /16."""
    addresses = [
        ipaddress.ip_interface(one["result"]["ips"][0]["address"])
        for one in pods_results(recording)
    ]
    if not addresses:
        return None
    pieces = [
        ipaddress.ip_network(node["spec"]["podCIDR"])
        for node in recorded_nodes(recording)
    ]
    return len(set(addresses)) == len(addresses) and all(
        one.network in pieces for one in addresses
    )


@rebuilt("ipam-unique-ip-from-global-pod-subnet")
def our_unique() -> bool:
    """The node controller cuts, host-local hands out."""
    pieces, seen = CIDRSet("10.244.0.0/16"), set()
    for _ in range(3):
        with tempfile.TemporaryDirectory() as directory:
            subnet = str(pieces.allocate_next())
            seen |= {
                ask(directory, f"c{n}", subnet=subnet)["ips"][0]["address"]
                for n in range(3)
            }
    whole = ipaddress.ip_network("10.244.0.0/16")
    return len(seen) == 9 and all(
        ipaddress.ip_interface(one).ip in whole for one in seen
    )


@rebuilt("ipam-kubelet-assigns-the-ip")
def kubelet_assigns() -> bool:
    """Our kubelet has no means to: addresses are set by the plugin, in the pod's
    namespace.
    """
    pod, _ = attach_on_paper(
        PaperNetlink(), ARTICLES, {"ips": [{"address": "10.0.0.2/24"}]}
    )
    return kubelet_attaches_pods() or not pod.addrs(pod.link("eth0").index)
