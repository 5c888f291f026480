"""The kernel of paper says what the real one says, and refuses what it refuses."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import LinkNotFoundError
from lifecycle.cni.paper_netlink import PaperNetlink, attach_on_paper, attach_ptp_on_paper

DECIDED = {"ips": [{"address": "10.9.0.2/24", "gateway": "10.9.0.1"}], "routes": [{"dst": "0.0.0.0/0"}]}
IPAM = {
    "type": "static",
    "addresses": [{"address": "10.9.0.2/24", "gateway": "10.9.0.1"}],
    "routes": [{"dst": "0.0.0.0/0"}],
}


def seen(netlink: Netlink, name: str) -> Any:
    index = netlink.link(name).index
    routes = {
        (str(r.destination), str(r.gateway), r.scope, str(r.source)) for r in netlink.routes(4) if r.link == index
    }
    return [str(address) for address in netlink.addrs(index, 4)], routes


@pytest.mark.parametrize("kind", ["bridge", "ptp"])
def test_paper_and_kernel_agree(host: Any, kind: str) -> None:
    conf = {"cniVersion": "1.0.0", "name": "n", "type": kind, "bridge": "cni0", "isGateway": True, "ipam": IPAM}
    pod, paper_host = host.pod(), PaperNetlink()
    code, result = host.plugin(kind, "ADD", conf, netns=pod.path)
    assert code == 0, json.dumps(result)
    if kind == "bridge":
        paper, paper_result = attach_on_paper(paper_host, conf, json.loads(json.dumps(DECIDED)))
        outside = ("cni0", "cni0")
        assert paper_result["ips"] == result["ips"]
    else:
        paper = attach_ptp_on_paper(paper_host, DECIDED, "veth1")
        outside = (result["interfaces"][0]["name"], "veth1")
    with Netlink(pod.path) as inside, Netlink(host.namespace.path) as real_host:
        assert seen(inside, "eth0") == seen(paper, "eth0")
        assert seen(real_host, outside[0]) == seen(paper_host, outside[1])


def test_both_refuse_the_same(host: Any, tmp_path: Path) -> None:
    with Netlink(host.namespace.path) as real:
        for netlink in (real, PaperNetlink()):
            netlink.bridge_add("br0")
            index = netlink.link("br0").index
            netlink.addr_add(index, parse_cidr("10.1.0.1/24"))
            for again in (
                lambda n=netlink: n.bridge_add("br0"),
                lambda n=netlink, i=index: n.addr_add(i, parse_cidr("10.1.0.1/24")),
            ):
                with pytest.raises(OSError, match=r"exists$") as raised:
                    again()
                assert raised.value.errno == errno.EEXIST
            with pytest.raises(LinkNotFoundError):
                netlink.link("br1")
