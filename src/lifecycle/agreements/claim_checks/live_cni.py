"""Claims about the bridge plugin and its addresses, put to the reference plugins
(`generators/programs/plugins.py`).
"""

from __future__ import annotations

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers

GATEWAY = "10.200.77.1"
FIRST, SECOND = "10.200.77.2/24", "10.200.77.3/24"


@live("cni-allows-different-network-providers")
def different_providers(answers: ProgramAnswers) -> bool:
    """Two programs, called in the same way, attach a container in two ways."""
    bridge, direct = answers["cni/bridge"], answers["cni/point-to-point"]
    return bool(
        bridge["inside"][0]
        and direct["inside"]
        and bridge["plugged in"] > 0
        and direct["plugged in"] == 0
    )


@live("cni-host-end-joins-linux-bridge")
def joins_the_bridge(answers: ProgramAnswers) -> Partly:
    """Both host ends are in it, with the bridge plugin; with another one a container
    has its address and no bridge.
    """
    direct = answers["cni/point-to-point"]
    return Partly(
        answers["cni/bridge"]["plugged in"] == 2,
        bool(direct["inside"])
        and direct["inside"] == direct["result"]
        and direct["plugged in"] == 0,
    )


@live("cni-bridge-created-on-first-use")
def created_on_first_use(answers: ProgramAnswers) -> bool:
    """Not there before, there afterwards."""
    bridge = answers["cni/bridge"]
    return not bridge["the bridge before"] and bool(bridge["the bridge"])


@live("cni-bridge-gets-gateway-address")
def gateway_address(answers: ProgramAnswers) -> bool:
    """The bridge has the address that the containers' default route leads to."""
    bridge = answers["cni/bridge"]
    return bool(
        bridge["the bridge"] == [f"{GATEWAY}/24"]
        and bridge["routes inside"] == [f"default via {GATEWAY}"]
    )


@live("cni-ip-only-on-container-end")
def only_inside(answers: ProgramAnswers) -> Partly:
    """What is plugged into the bridge has no address; ptp's host end has one."""
    bridge = answers["cni/bridge"]
    return Partly(
        bridge["plugged in"] == 2
        and bridge["addresses of what is plugged in"] == []
        and bridge["inside"] == [[FIRST], [SECOND]],
        answers["cni/point-to-point"]["the host's end"] == [f"{GATEWAY}/32"],
    )


@live("cni-bridge-pure-l2-mode")
def layer_2(answers: ProgramAnswers) -> bool:
    """Plugged in, and no address anywhere."""
    plain = answers["cni/layer-2"]
    return bool(
        plain["plugged in"] == 1
        and plain["the bridge"] == plain["inside"] == plain["result"] == []
    )


@live("cni-sample-config-works")
def sample_works(answers: ProgramAnswers) -> bool:
    """The bridge's half of it: two calls, two addresses, results in the version that it
    asks for.
    """
    results = answers["cni/bridge"]["results"]
    return [(each["version"], each["ips"]) for each in results] == [
        ("0.3.1", [FIRST]),
        ("0.3.1", [SECOND]),
    ]


@live("ipam-delegated-to-separate-executable")
def separate_executable(answers: ProgramAnswers) -> bool:
    """Without a program of that name there is no address."""
    return bool(answers["cni/ipam-is-a-program"]["refused for want of it"])


@live("ipam-host-local-state-on-disk")
def state_on_disk(answers: ProgramAnswers) -> bool:
    """A file for each address, as long as somebody has it."""
    return (
        answers["cni/bridge"]["kept"] == ["10.200.77.2", "10.200.77.3"]
        and answers["cni/bridge-removed"] == []
    )


@live("ipam-kubelet-assigns-the-ip")
def kubelet_assigns(answers: ProgramAnswers) -> bool:
    """No kubelet ran, and there would be no address and no route."""
    bridge = answers["cni/bridge"]
    return not (bridge["inside"] == [[FIRST], [SECOND]] and bridge["routes inside"])
