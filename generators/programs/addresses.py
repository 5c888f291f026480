"""What the reference CNI plugins make of bridges that are gateways, and in which order
addresses are given away. The plugins are called inside a network namespace that stands
for the host, so that the machine's own rules are left alone. Linux and root are needed.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.plugins import a_namespace

HOST = "answers-host"
VERSION = "0.4.0"
"""In which Debian's plugins and newer ones print the same: later versions of the format
leave out what is empty, or not, as the library's age has it.
"""
DEFAULT = [{"dst": "0.0.0.0/0"}]
BRIDGES: dict[str, dict[str, Any]] = {
    "masqueraded": {
        "isGateway": True,
        "ipMasq": True,
        "ipam": {"ranges": [[{"subnet": "10.200.78.0/24"}]], "routes": DEFAULT},
    },
    "both families, the default gateway": {
        "isDefaultGateway": True,
        "ipMasq": True,
        "ipam": {
            "ranges": [[{"subnet": "10.200.79.0/24"}], [{"subnet": "fd00:79::/64"}]]
        },
    },
    "a gateway with an address of its own": {
        "isGateway": True,
        "ipam": {
            "ranges": [[{"subnet": "10.200.80.0/24", "gateway": "10.200.80.254"}]],
            "routes": DEFAULT,
        },
    },
    "no gateway": {
        "isGateway": False,
        "ipam": {"ranges": [[{"subnet": "10.200.81.0/24"}]]},
    },
    "addresses of which nobody says the gateway": {
        "isGateway": True,
        "ipam": {
            "type": "static",
            "addresses": [{"address": "10.200.83.5/24"}, {"address": "fd00:83::5/64"}],
        },
    },
    "the default gateway, of which nobody says": {
        "isDefaultGateway": True,
        "ipam": {"type": "static", "addresses": [{"address": "10.200.84.77/26"}]},
    },
    "a gateway that is said, and is none": {
        "isGateway": False,
        "ipam": {
            "type": "static",
            "addresses": [{"address": "10.200.85.5/24", "gateway": "10.200.85.9"}],
            "routes": [
                {"dst": "10.1.0.0/16"},
                {"dst": "10.2.0.0/16", "gw": "10.200.85.8"},
            ],
        },
    },
    "pods that speak with themselves": {
        "isGateway": True,
        "hairpinMode": True,
        "mtu": 1400,
        "ipam": {"ranges": [[{"subnet": "10.200.86.0/24"}]]},
    },
    "a bridge that hears everything": {
        "isGateway": True,
        "promiscMode": True,
        "ipam": {"ranges": [[{"subnet": "10.200.87.0/24"}]]},
    },
    "a default route that is there already": {
        "isDefaultGateway": True,
        "ipam": {
            "ranges": [[{"subnet": "10.200.82.0/24"}]],
            "routes": [{"dst": "0.0.0.0/0", "gw": "10.200.82.9"}],
        },
    },
}
SMALL = [[{"subnet": "10.200.90.0/29"}], [{"subnet": "fd00:90::/125"}]]
TURNS: tuple[tuple[str, str, str], ...] = (
    ("ADD", "a", ""),
    ("ADD", "b", ""),
    ("ADD", "a", ""),
    ("ADD", "c", "IP=10.200.90.5"),
    ("ADD", "d", "IP=10.200.90.5"),
    ("ADD", "d", "IP=10.200.90.1"),
    ("ADD", "d", "IP=10.200.91.1"),
    ("DEL", "a", ""),
    ("ADD", "e", ""),
    ("ADD", "f", ""),
    ("ADD", "g", ""),
    ("ADD", "h", ""),
    ("DEL", "b", ""),
    ("ADD", "h", ""),
    ("DEL", "nobody", ""),
)
"""Commands of host-local, one after the other: command, container, arguments."""


def _call(
    program: Path, config: dict[str, Any], command: str, container: str, **more: str
) -> dict[str, Any]:
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": container,
        "CNI_IFNAME": "eth0",
        "CNI_PATH": str(program.parent),
        "CNI_NETNS": "/var/run/netns/none",
        **more,
    }
    done = subprocess.run(
        ["ip", "netns", "exec", HOST, program],
        input=json.dumps(config),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    printed: dict[str, Any] = json.loads(done.stdout or "{}")
    return printed


def _inside(namespace: str, *command: str) -> list[Any]:
    done = subprocess.run(
        ["ip", "-n", namespace, "-json", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    listed: list[Any] = json.loads(done.stdout or "[]")
    return listed


def _addresses(namespace: str, link: str) -> list[str]:
    return [
        f"{each['local']}/{each['prefixlen']}"
        for one in _inside(namespace, "address", "show", link)
        for each in one.get("addr_info", ())
        if each["scope"] == "global"
    ]


def _routes(namespace: str) -> list[str]:
    return sorted(
        f"{each['dst']} via {each['gateway']}"
        for family in ("-4", "-6")
        for each in _inside(namespace, family, "route")
        if each.get("gateway")
    )


def _links() -> dict[str, Any]:
    """How the bridge and the two ends of the pair are set."""
    [bridge] = _inside(HOST, "link", "show", "answers0")
    [port] = _inside(HOST, "-details", "link", "show", "master", "answers0")
    [pod] = _inside("answers-pod", "link", "show", "eth0")
    return {
        "hears everything": "PROMISC" in bridge["flags"],
        "hairpin": bool(port["linkinfo"]["info_slave_data"]["hairpin"]),
        "up": ["UP" in link["flags"] for link in (bridge, port, pod)],
        "mtu": [link["mtu"] for link in (port, pod)],
    }


def _rules() -> list[str]:
    printed = [
        subprocess.run(
            ["ip", "netns", "exec", HOST, program, "-t", "nat", "-S"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for program in ("iptables", "ip6tables")
    ]
    lines = "".join(printed).splitlines()
    return [line for line in lines if line.startswith("-A")]


def answers(folder: Path, who: str) -> Iterator[Answer]:
    """All of it."""
    for name, parts in BRIDGES.items():
        with (
            a_namespace(HOST),
            a_namespace("answers-pod") as pod,
            tempfile.TemporaryDirectory() as state,
        ):
            config = {
                "cniVersion": "1.0.0",
                "name": "net",
                "type": "bridge",
                "bridge": "answers0",
                **parts,
                "ipam": {"type": "host-local", "dataDir": state, **parts["ipam"]},
            }
            result = _call(folder / "bridge", config, "ADD", "pod-1", CNI_NETNS=pod)
            yield Answer(
                f"gateways/{name}",
                who,
                "ADD of a bridge: what it says, what the bridge and the pod have then,"
                " and the host's rules for addresses",
                {
                    "config": parts,
                    "ips": result.get("ips"),
                    "routes": result.get("routes"),
                    "bridge": _addresses(HOST, "answers0"),
                    "inside": _addresses("answers-pod", "eth0"),
                    "ways out": _routes("answers-pod"),
                    "links": _links(),
                    "rules": _rules(),
                },
            )
    with a_namespace(HOST), tempfile.TemporaryDirectory() as state:
        config = {
            "cniVersion": VERSION,
            "name": "small",
            "ipam": {"type": "host-local", "dataDir": state, "ranges": SMALL},
        }
        for number, (command, container, arguments) in enumerate(TURNS, 1):
            program = folder / "host-local"
            printed = _call(program, config, command, container, CNI_ARGS=arguments)
            printed.pop("cniVersion", None)
            yield Answer(
                f"turns/{number:02}: {command} {container} {arguments}".strip(),
                who,
                "a command of host-local, with two small ranges: what it prints, and"
                " what lies on the disk then",
                {
                    "version": VERSION,
                    "ranges": SMALL,
                    "turn": [command, container, arguments],
                    "printed": printed,
                    "disk": {
                        path.name: path.read_bytes().decode().replace("\r\n", "\n")
                        for path in sorted((Path(state) / "small").iterdir())
                        if path.name != "lock"
                    },
                },
            )
