"""What a network's configuration may say to the bridge plugin.

Upstream: `containernetworking/plugins`, `plugins/main/bridge/bridge.go` (`NetConf`,
`loadNetConf`, `collectVlanTrunk`), v1.9.
"""

from __future__ import annotations

from typing import Any

from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.go_structs import (
    BOOL,
    INT,
    PLUGIN_CONF,
    STRING,
    Slice,
    Struct,
)
from lifecycle.cni.plugins.netconf import plugin_config
from lifecycle.cni.plugins.skel import CmdArgs, load_args

DEFAULT_BRIDGE_NAME = "cni0"
MAX_VLAN = 4094
_MAC = Struct({"mac": STRING}, "main.BridgeArgs")
_NET_CONF = Struct(
    {
        **PLUGIN_CONF,
        **dict.fromkeys(
            (
                "isGateway",
                "isDefaultGateway",
                "forceAddress",
                "ipMasq",
                "hairpinMode",
                "promiscMode",
                "preserveDefaultVlan",
                "macspoofchk",
                "enabledad",
                "disableContainerInterface",
                "portIsolation",
            ),
            BOOL,
        ),
        "bridge": STRING,
        "ipMasqBackend": STRING,
        "mtu": INT,
        "vlan": INT,
        "vlanTrunk": Slice(
            Struct({"minID": INT, "maxID": INT, "id": INT}, "main.VlanTrunk"),
            "[]*main.VlanTrunk",
        ),
        "args": Struct(
            {"cni": _MAC}, 'struct { Cni main.BridgeArgs "json:\\"cni,omitempty\\"" }'
        ),
        "runtimeConfig": Struct(
            {"mac": STRING}, 'struct { Mac string "json:\\"mac,omitempty\\"" }'
        ),
    },
    "main.NetConf",
)


def load_net_conf(args: CmdArgs) -> dict[str, Any]:
    """The configuration, with `mac` and `vlans` worked out. Raises CNIError."""
    conf = {"bridge": DEFAULT_BRIDGE_NAME, **plugin_config(args.conf, _NET_CONF)}
    vlan = conf.get("vlan", 0)
    if not 0 <= vlan <= MAX_VLAN:
        raise CNIError(f"invalid VLAN ID {vlan} (must be between 0 and {MAX_VLAN})")
    conf["vlans"] = collect_vlan_trunk(conf.get("vlanTrunk") or ())
    conf["mac"] = load_args(args.args, ("MAC",)).get("MAC", "")
    for place in (
        (conf.get("args") or {}).get("cni") or {},
        conf.get("runtimeConfig") or {},
    ):
        conf["mac"] = place.get("mac") or conf["mac"]
    return conf


def collect_vlan_trunk(trunk: Any) -> list[int]:
    """All VLANs of a trunk: single ones and ranges. Raises CNIError."""
    vlans: set[int] = set()
    for item in trunk:
        low, high, single = item.get("minID"), item.get("maxID"), item.get("id")
        if low is not None and high is not None:
            if not 0 < low <= MAX_VLAN:
                raise CNIError("incorrect trunk minID parameter")
            if not 0 < high <= MAX_VLAN:
                raise CNIError("incorrect trunk maxID parameter")
            if high < low:
                raise CNIError("minID is greater than maxID in trunk parameter")
            vlans.update(range(low, high + 1))
        elif low is not None or high is not None:
            missing = "minID" if low is None else "maxID"
            raise CNIError(
                f"minID and maxID should be configured simultaneously, {missing} is"
                " missing"
            )
        if single is not None:
            if not 0 < single <= MAX_VLAN:
                raise CNIError("incorrect trunk id parameter")
            vlans.add(single)
    return sorted(vlans)
