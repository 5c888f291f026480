"""What the reference CNI plugins do when they are called as a runtime calls them. Linux
and root are needed: each call gets a network namespace that goes with it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer

BRIDGE = "claimed0"
SAMPLE = {
    "cniVersion": "0.3.1",
    "name": "bridge",
    "type": "bridge",
    "bridge": BRIDGE,
    "isGateway": True,
    "ipMasq": False,
    "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "10.200.77.0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    },
}
"""The configuration that the articles print, but for the rules of the host's firewall,
which are left alone here.
"""


@contextmanager
def a_namespace(name: str) -> Iterator[str]:
    """A network namespace; its path."""
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        yield f"/var/run/netns/{name}"
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


class Plugins:
    """A folder of plugins, and where they may keep things."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self.state = folder, state

    def call(
        self, command: str, config: dict[str, Any], namespace: str, container: str
    ) -> dict[str, Any]:
        """One plugin, called: what it printed, `{}` if nothing."""
        configured = {**config, "ipam": {**config["ipam"]}}
        if config["ipam"]:
            configured["ipam"]["dataDir"] = str(self.state)
        done = subprocess.run(
            [self.folder / config["type"]],
            input=json.dumps(configured),
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "CNI_COMMAND": command,
                "CNI_CONTAINERID": container,
                "CNI_NETNS": namespace,
                "CNI_IFNAME": "eth0",
                "CNI_PATH": str(self.folder),
            },
        )
        printed: dict[str, Any] = json.loads(done.stdout or "{}")
        return printed


def addresses(link: str, namespace: str = "") -> list[str]:
    """The IPv4 addresses of a link."""
    inside = ["-n", namespace] if namespace else []
    done = subprocess.run(
        ["ip", *inside, "-4", "-json", "address", "show", link],
        capture_output=True,
        text=True,
        check=False,
    )
    return [
        f"{each['local']}/{each['prefixlen']}"
        for link in json.loads(done.stdout or "[]")
        for each in link.get("addr_info", ())
    ]


def routes(namespace: str) -> list[str]:
    """The routes by a gateway in a namespace."""
    done = subprocess.run(
        ["ip", "-n", namespace, "-4", "-json", "route"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        f"{each['dst']} via {each['gateway']}"
        for each in json.loads(done.stdout)
        if "gateway" in each
    ]


def ports(bridge: str) -> list[str]:
    """The links that are plugged into a bridge."""
    done = subprocess.run(
        ["ip", "-json", "link", "show", "master", bridge],
        capture_output=True,
        text=True,
        check=False,
    )
    return [each["ifname"] for each in json.loads(done.stdout or "[]")]


def version_of() -> str:
    """`CNI plugins 1.1.1+ds1-3+b5`, as the Debian package is called that has them."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "containernetworking-plugins"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"CNI plugins {done.stdout or 'of unknown version'}"


def answers(folder: Path) -> Iterator[Answer]:
    """All of it."""
    who = version_of()
    with tempfile.TemporaryDirectory() as state:
        plugins = Plugins(folder, Path(state))
        try:
            yield from _bridge(plugins, who)
            yield from _pure_layer_2(plugins, who)
            yield from _point_to_point(plugins, who)
        finally:
            subprocess.run(["ip", "link", "del", BRIDGE], check=False)


def _bridge(plugins: Plugins, who: str) -> Iterator[Answer]:
    with a_namespace("claim-a") as one, a_namespace("claim-b") as two:
        before = bool(addresses(BRIDGE))
        first = plugins.call("ADD", SAMPLE, one, "a")
        second = plugins.call("ADD", SAMPLE, two, "b")
        plugged = ports(BRIDGE)
        kept = sorted(
            path.name
            for path in (plugins.state / "bridge").iterdir()
            if path.name.startswith("10.")
        )
        yield Answer(
            "cni/bridge",
            who,
            "the articles' configuration, called twice: the bridge and what is plugged"
            " into it, addresses, routes, results, what host-local has kept on disk",
            {
                "the bridge before": before,
                "the bridge": addresses(BRIDGE),
                "plugged in": len(plugged),
                "addresses of what is plugged in": [
                    each for port in plugged for each in addresses(port)
                ],
                "inside": [addresses("eth0", name) for name in ("claim-a", "claim-b")],
                "routes inside": routes("claim-a"),
                "results": [
                    {
                        "version": each["cniVersion"],
                        "ips": [ip["address"] for ip in each["ips"]],
                        "gateways": [ip["gateway"] for ip in each["ips"]],
                    }
                    for each in (first, second)
                ],
                "kept": kept,
            },
        )
        for name, path in (("a", one), ("b", two)):
            plugins.call("DEL", SAMPLE, path, name)
        yield Answer(
            "cni/bridge-removed",
            who,
            "then DEL for both: what host-local keeps",
            sorted(
                path.name
                for path in (plugins.state / "bridge").iterdir()
                if path.name.startswith("10.")
            ),
        )
        elsewhere = Plugins(plugins.folder, plugins.state / "none")
        missing = {**SAMPLE, "ipam": {"type": "no-such-plugin"}}
        refused = elsewhere.call("ADD", missing, one, "a")
        yield Answer(
            "cni/ipam-is-a-program",
            who,
            "the same with an ipam type of which there is no program on CNI_PATH",
            {"refused for want of it": "no-such-plugin" in refused.get("msg", "")},
        )


def _point_to_point(plugins: Plugins, who: str) -> Iterator[Answer]:
    config = {**SAMPLE, "type": "ptp", "name": "ptp"}
    before = set(ports(BRIDGE))
    with a_namespace("claim-a") as one:
        result = plugins.call("ADD", config, one, "p")
        yield Answer(
            "cni/point-to-point",
            who,
            "the ptp plugin with the same ranges: the addresses inside and in the"
            " result, and of the host's end, and how many links more are plugged into a"
            " bridge",
            {
                "the host's end": addresses(result["interfaces"][0]["name"]),
                "inside": [
                    each.partition("/")[0] for each in addresses("eth0", "claim-a")
                ],
                "result": [ip["address"].partition("/")[0] for ip in result["ips"]],
                "plugged in": len(set(ports(BRIDGE)) - before),
            },
        )
        plugins.call("DEL", config, one, "p")


def _pure_layer_2(plugins: Plugins, who: str) -> Iterator[Answer]:
    config = {**SAMPLE, "isGateway": False, "ipam": {}}
    subprocess.run(["ip", "link", "del", BRIDGE], check=False)
    with a_namespace("claim-a") as one:
        result = plugins.call("ADD", config, one, "c")
        yield Answer(
            "cni/layer-2",
            who,
            "the bridge plugin without ipam: addresses of the bridge and inside, the"
            " result's, and how many links are plugged in",
            {
                "the bridge": addresses(BRIDGE),
                "inside": addresses("eth0", "claim-a"),
                "result": result.get("ips", []),
                "plugged in": len(ports(BRIDGE)),
            },
        )
        plugins.call("DEL", config, one, "c")
