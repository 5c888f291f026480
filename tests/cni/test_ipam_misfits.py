"""What does not fit an IPAM plugin's configuration is refused in Go's words: Debian's plugins and ours, field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.host_local.config import load_ipam_config
from lifecycle.cni.plugins.static import load_addresses
from tests.cni.conftest import Host

WRONG_ADDRESSES = (5, True, [], {}, "x")
ANYWHERE: list[dict[str, Any]] = [
    *({"ipam": wrong} for wrong in (5, "x", [])),
    *({"runtimeConfig": wrong} for wrong in (5, [])),
    *({"runtimeConfig": {"ips": wrong}} for wrong in (5, "x", [5], {})),
    *({"args": wrong} for wrong in (5, [])),
    *({"args": {"cni": wrong}} for wrong in (5, [])),
    *({"args": {"cni": {"ips": wrong}}} for wrong in (5, "x", [5])),
]
RANGE: list[dict[str, Any]] = [
    {name: wrong} for name in ("rangeStart", "rangeEnd", "gateway", "subnet") for wrong in WRONG_ADDRESSES
]
IPAM: dict[str, list[dict[str, Any]]] = {
    "host-local": [
        *RANGE,
        *({"ranges": wrong} for wrong in (5, "x", [5], [[5]], {})),
        *({"ranges": [[{"subnet": "10.1.0.0/24", **change}]]} for change in RANGE),
        *({name: wrong} for name in ("dataDir", "resolvConf") for wrong in (5, [])),
        *({"routes": wrong} for wrong in (5, [5], [{"dst": 5}], [{"dst": "0.0.0.0/0", "gw": 5}], "x")),
    ],
    "static": [
        *({"addresses": wrong} for wrong in (5, "x", [5], {})),
        *({"addresses": [{"address": wrong}]} for wrong in (5, [])),
        *({"addresses": [{"address": "10.1.0.5/24", "gateway": wrong}]} for wrong in WRONG_ADDRESSES),
        *({"routes": wrong} for wrong in (5, [5], [{"dst": 5}], [{"dst": "0.0.0.0/0", "gw": 5}], "x")),
        *({"dns": wrong} for wrong in (5, [], {"nameservers": 5}, {"search": [5]}, {"options": "x"}, {"domain": 5})),
    ],
}
RIGHT: dict[str, dict[str, Any]] = {
    "host-local": {"subnet": "10.1.0.0/24"},
    "static": {"addresses": [{"address": "10.1.0.5/24"}]},
}


def said(plugin: str, conf: dict[str, Any]) -> str:
    """By ours; empty if nothing is said against it."""
    try:
        if plugin == "host-local":
            load_ipam_config(conf)
        else:
            load_addresses(conf, "")
    except CNIError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("plugin", IPAM)
def test_what_does_not_fit_is_refused_in_the_same_words(hosts: tuple[Host, Host], plugin: str, tmp_path: Path) -> None:
    theirs, told = hosts[1], {}
    directory = {"dataDir": str(tmp_path)} if plugin == "host-local" else {}
    ipams: list[dict[str, Any]] = [
        {"ipam": {"type": plugin, **directory, **RIGHT[plugin], **each}} for each in IPAM[plugin]
    ]
    for change in [*ANYWHERE, *ipams]:
        conf = {"cniVersion": "0.4.0", "name": "net", "ipam": {"type": plugin, **directory, **RIGHT[plugin]}, **change}
        code, answer = theirs.plugin(plugin, "ADD", conf, netns="/proc/self/ns/net")
        words = answer["msg"] if code else ""
        if said(plugin, conf) != words:
            told[json.dumps(change)] = (said(plugin, conf), words)
    assert told == {}
