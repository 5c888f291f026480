"""What does not fit a plugin's configuration is refused in Go's words: Debian's plugins and ours, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins import bridge_config, portmap, ptp
from lifecycle.cni.plugins.skel import CmdArgs
from tests.cni.conftest import Host

STATIC = {"type": "static", "addresses": [{"address": "10.1.0.5/24"}]}
EVERY: list[dict[str, Any]] = [
    *({"type": wrong} for wrong in (5, [])),
    *({"capabilities": wrong} for wrong in (5, [], {"mac": "x"})),
    *({"ipam": wrong} for wrong in (5, "x", [], {"type": 5})),
    *({"dns": wrong} for wrong in (5, [], {"nameservers": 5}, {"search": [5]}, {"options": "x"}, {"domain": 5})),
    {"prevResult": 5},
]
MISFITS: dict[str, list[dict[str, Any]]] = {
    "bridge": [
        *({name: wrong} for name in ("isGateway", "isDefaultGateway", "forceAddress", "ipMasq") for wrong in (5, "x")),
        *({name: wrong} for name in ("hairpinMode", "promiscMode") for wrong in (5, [])),
        *({"bridge": wrong} for wrong in (5, True, {})),
        *({name: wrong} for name in ("mtu", "vlan") for wrong in ("x", 1.5, True)),
        *({"args": wrong} for wrong in (5, [], {"cni": 5}, {"cni": {"mac": 5}})),
        *({"runtimeConfig": wrong} for wrong in (5, [], {"mac": 5})),
        *({"vlan": wrong} for wrong in (-1, 4095)),
    ],
    "ptp": [{name: wrong} for name, wrong in (("ipMasq", 5), ("ipMasq", "x"), ("mtu", "x"), ("mtu", 1.5), ("mtu", {}))],
    "portmap": [
        *({"snat": wrong} for wrong in (5, "x")),
        *({name: wrong} for name in ("conditionsV4", "conditionsV6") for wrong in (5, [5], "x")),
        *({"markMasqBit": wrong} for wrong in ("x", 1.5, -1, 32)),
        *({"externalSetMarkChain": wrong} for wrong in (5, [])),
        {"markMasqBit": 3, "externalSetMarkChain": "X"},
        *({"runtimeConfig": wrong} for wrong in (5, [], {"portMappings": 5}, {"portMappings": [5]})),
        *(
            {"runtimeConfig": {"portMappings": [{name: wrong}]}}
            for name, wrong in (("hostPort", "x"), ("containerPort", "x"), ("protocol", 5), ("hostIP", 5))
        ),
        *({"runtimeConfig": {"portMappings": [{"hostPort": 80, "containerPort": wrong}]}} for wrong in (0, -1)),
    ],
}
OURS: dict[str, Callable[[CmdArgs], Any]] = {
    "bridge": bridge_config.load_net_conf,
    "ptp": ptp.cmd_add,
    "portmap": portmap.cmd_add,
}


def refusal(plugin: str, conf: dict[str, Any]) -> str:
    args = CmdArgs("cnitool-1", "/proc/self/ns/net", "eth0", "", (), "", json.dumps(conf), conf)
    with pytest.raises(CNIError) as refused:
        OURS[plugin](args)
    return str(refused.value)


@pytest.mark.parametrize("plugin", MISFITS)
def test_what_does_not_fit_is_refused_in_the_same_words(hosts: tuple[Host, Host], plugin: str) -> None:
    theirs = hosts[1]
    told = {}
    for change in [*EVERY, *MISFITS[plugin]]:
        conf = {"cniVersion": "0.4.0", "name": "net", "type": plugin, "ipam": STATIC, **change}
        code, answer = theirs.plugin(plugin, "ADD", conf, netns="/proc/self/ns/net")
        assert code == 1, change
        said = refusal(plugin, conf)
        if said != answer["msg"]:
            told[json.dumps(change)] = (said, answer["msg"])
    assert told == {}
    assert [link["ifname"] for link in theirs.ip("link")] == ["lo"], "nothing was set up for any of these"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(
            ({name: 5}, f"number into Go struct field NetConf.{name} of type bool")
            for name in (
                "macspoofchk",
                "enabledad",
                "preserveDefaultVlan",
                "disableContainerInterface",
                "portIsolation",
            )
        ),
        ({"vlanTrunk": 5}, "number into Go struct field NetConf.vlanTrunk of type []*main.VlanTrunk"),
        ({"vlanTrunk": [5]}, "number into Go struct field NetConf.vlanTrunk of type main.VlanTrunk"),
        *(
            ({"vlanTrunk": [{name: "x"}]}, f"string into Go struct field VlanTrunk.vlanTrunk.{name} of type int")
            for name in ("minID", "maxID", "id")
        ),
    ],
)
def test_what_debians_bridge_is_too_old_for_is_named_by_field_and_type(change: dict[str, Any], words: str) -> None:
    conf = {"cniVersion": "0.4.0", "name": "net", "type": "bridge", **change}
    assert refusal("bridge", conf) == f"failed to load netconf: json: cannot unmarshal {words}"


@pytest.mark.parametrize(
    ("trunk", "vlans"),
    [
        (None, []),
        ([], []),
        ([{"id": 7}], [7]),
        ([{"id": 1}, {"id": 4094}], [1, 4094]),
        ([{"minID": 3, "maxID": 5}], [3, 4, 5]),
        ([{"minID": 1, "maxID": 1}, {"minID": 4094, "maxID": 4094}], [1, 4094]),
        ([{"minID": 3, "maxID": 4, "id": 9}, {"id": 3}, {"id": 2}], [2, 3, 4, 9]),
        ([{}], []),
        ([{"id": 0}], "incorrect trunk id parameter"),
        ([{"id": 4095}], "incorrect trunk id parameter"),
        ([{"minID": 0, "maxID": 3}], "incorrect trunk minID parameter"),
        ([{"minID": 4095, "maxID": 4095}], "incorrect trunk minID parameter"),
        ([{"minID": 3, "maxID": 0}], "incorrect trunk maxID parameter"),
        ([{"minID": 1, "maxID": 4095}], "incorrect trunk maxID parameter"),
        ([{"minID": 4, "maxID": 3}], "minID is greater than maxID in trunk parameter"),
        ([{"minID": 4}], "minID and maxID should be configured simultaneously, maxID is missing"),
        ([{"maxID": 4}], "minID and maxID should be configured simultaneously, minID is missing"),
    ],
)
def test_a_trunk_is_single_vlans_and_ranges(trunk: Any, vlans: Any) -> None:
    conf = {"cniVersion": "0.4.0", "name": "net", "type": "bridge", "vlanTrunk": trunk}
    if isinstance(vlans, str):
        assert refusal("bridge", conf) == vlans
    else:
        assert bridge_config.collect_vlan_trunk(trunk or ()) == vlans


@pytest.mark.parametrize(
    ("env", "more", "mac"),
    [
        ("", {}, ""),
        ("MAC=02:00:00:00:00:01", {}, "02:00:00:00:00:01"),
        ("MAC=a", {"args": {"cni": {"mac": "b"}}}, "b"),
        ("MAC=a", {"args": {"cni": {"mac": ""}}}, "a"),
        ("MAC=a", {"args": {"cni": {"mac": "b"}}, "runtimeConfig": {"mac": "c"}}, "c"),
        ("MAC=a", {"args": {"cni": None}, "runtimeConfig": None}, "a"),
    ],
)
def test_a_wish_for_an_address_counts_more_the_later_it_was_said(env: str, more: dict[str, Any], mac: str) -> None:
    conf = {"cniVersion": "0.4.0", "name": "net", "type": "bridge", **more}
    loaded = bridge_config.load_net_conf(CmdArgs("c", "/proc/self/ns/net", "eth0", env, (), "", json.dumps(conf), conf))
    assert loaded["mac"] == mac
    assert loaded["bridge"] == "cni0"
