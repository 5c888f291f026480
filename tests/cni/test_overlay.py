"""The overlay: leases and their keys, the three entries for each host, a packet between two hosts."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from typing import Any, ClassVar

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay import lease as leases
from lifecycle.cni.overlay.capture import Capture
from lifecycle.cni.overlay.dissect import dissect
from lifecycle.cni.overlay.echo import ping
from lifecycle.cni.overlay.kept import kept_frame
from lifecycle.cni.overlay.kindnet import cni_configuration
from lifecycle.cni.overlay.laboratory import Laboratory
from lifecycle.cni.overlay.network_config import allocate_subnet, parse_config
from lifecycle.cni.overlay.subnet_manager import NodeLeases, acquire_lease, run
from lifecycle.cni.overlay.vxlan import entries_for, parse_vxlan_config
from tests.conftest import RECORDINGS

ATTRS = leases.LeaseAttrs(ipaddress.IPv4Address("172.19.0.3"), "vxlan", {"VNI": 1, "VtepMAC": "02:00:00:00:00:03"})
SUBNET = ipaddress.IPv4Network("10.244.2.0/24")
NETWORK = ipaddress.IPv4Network("10.244.0.0/16")


def node(name: str = "b", cidr: str = "10.244.2.0/24", attrs: leases.LeaseAttrs | None = ATTRS) -> dict[str, Any]:
    notes = leases.lease_annotations(attrs) if attrs else {}
    return {"metadata": {"name": name, "annotations": notes}, "spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}


@pytest.mark.parametrize("name", ["lifecycle-control-plane", "lifecycle-worker", "lifecycle-worker2"])
def test_kinds_plugin_configures_each_node_as_was_recorded(name: str) -> None:
    recorded = (RECORDINGS / "kind-1.36.2" / "node" / name / "cni-conf.txt").read_text()
    written = json.loads(recorded.partition("10-kindnet.conflist")[2])
    (subnet,) = (one["subnet"] for ranges in written["plugins"][0]["ipam"]["ranges"] for one in ranges)
    assert cni_configuration(subnet) == written
    assert cni_configuration(subnet, 1400)["plugins"][0]["mtu"] == 1400


def test_annotations_are_flannels() -> None:
    assert leases.lease_annotations(ATTRS) == {
        "flannel.alpha.coreos.com/backend-data": '{"VNI":1,"VtepMAC":"02:00:00:00:00:03"}',
        "flannel.alpha.coreos.com/backend-type": "vxlan",
        "flannel.alpha.coreos.com/kube-subnet-manager": "true",
        "flannel.alpha.coreos.com/public-ip": "172.19.0.3",
    }
    assert leases.node_to_lease(node()) == leases.Lease(SUBNET, ATTRS)
    assert leases.node_to_lease(node(attrs=None)) is None


def test_a_lease_survives_etcd() -> None:
    key, value = leases.etcd_key(SUBNET), leases.etcd_value(ATTRS)
    assert key == "/coreos.com/network/subnets/10.244.2.0-24"
    assert leases.etcd_lease(key, value) == leases.Lease(SUBNET, ATTRS)
    with pytest.raises(CNIError, match=r"/coreos\.com/network/config is not the key of a subnet lease \(no dash\)$"):
        leases.parse_etcd_key("/coreos.com/network/config")


def test_acquiring_patches_only_what_is_new() -> None:
    lease, patch = acquire_lease(node(attrs=None), ATTRS, NETWORK)
    assert lease.subnet == SUBNET
    assert patch == {"metadata": {"annotations": leases.lease_annotations(ATTRS)}}
    assert acquire_lease(node(), ATTRS, NETWORK)[1] is None
    with pytest.raises(CNIError, match=r'^node "b" pod cidr not assigned$'):
        acquire_lease(node(cidr=""), ATTRS, NETWORK)
    with pytest.raises(
        CNIError,
        match=r'subnet "10\.244\.0\.0/16" specified in the flannel net config doesn\'t contain "192.168.0.0/24" PodCIDR of the "b" node$',
    ):
        acquire_lease(node(cidr="192.168.0.0/24"), ATTRS, NETWORK)


def test_only_news_of_others_reaches_the_backend() -> None:
    class Recorder:
        seen: ClassVar[list[tuple[str, str]]] = []

        def handle(self, events: list[leases.LeaseEvent]) -> None:
            self.seen += [(event.type, str(event.lease.subnet)) for event in events]

    async def watch() -> Any:
        other = leases.LeaseAttrs(ipaddress.IPv4Address("172.19.0.9"), "vxlan", ATTRS.backend_data)
        for kind, obj in (
            ("ADDED", node("a", "10.244.1.0/24")),
            ("ADDED", node()),
            ("ADDED", node("c", "10.244.3.0/24", None)),
            ("MODIFIED", node()),
            ("MODIFIED", node(attrs=other)),
            ("DELETED", node(attrs=other)),
        ):
            yield {"type": kind, "object": obj}

    asyncio.run(run(watch(), ipaddress.IPv4Network("10.244.1.0/24"), Recorder()))
    assert Recorder.seen == [("added", "10.244.2.0/24"), ("added", "10.244.2.0/24"), ("removed", "10.244.2.0/24")]


def test_a_snapshot_after_a_gap_is_compared() -> None:
    watcher = leases.LeaseWatcher(ipaddress.IPv4Network("10.244.1.0/24"))
    one, two, own = (leases.Lease(ipaddress.IPv4Network(f"10.244.{n}.0/24"), ATTRS) for n in (2, 3, 1))
    assert [e.type for e in watcher.reset([one, own])] == ["added"]
    assert [(e.type, e.lease) for e in watcher.reset([two, own])] == [("added", two), ("removed", one)]


def test_three_entries_for_each_host() -> None:
    entries = entries_for(leases.Lease(SUBNET, ATTRS))
    assert entries.arp == ("10.244.2.0", "02:00:00:00:00:03")
    assert entries.fdb == ("02:00:00:00:00:03", "172.19.0.3")
    assert entries.route == ("10.244.2.0/24", "10.244.2.0")


def test_a_configuration_of_flannels() -> None:
    config = parse_config('{"Network": "10.5.0.0/16", "Backend": {"Type": "vxlan", "VNI": 7, "Port": 4789}}')
    assert (config.subnet_len, str(config.subnet_min), str(config.subnet_max)) == (24, "10.5.1.0", "10.5.255.0")
    vxlan = parse_vxlan_config(config.backend, 1400)
    assert (vxlan.vni, vxlan.port, vxlan.mtu, vxlan.learning) == (7, 4789, 1400, False)
    taken = [ipaddress.IPv4Network("10.5.1.0/24")]
    assert str(allocate_subnet(config, taken, lambda free: free[0])) == "10.5.2.0/24"
    smallest = parse_config('{"Network": "10.5.0.0/16", "SubnetLen": 30}')
    assert (smallest.subnet_len, str(smallest.subnet_min)) == (30, "10.5.0.4")
    for text, words in (
        ('{"Network": "10.5.0.0/29"}', "network is too small. Minimum useful network prefix is /28"),
        ('{"Network": "10.5.0.0/16", "SubnetLen": 31}', "SubnetLen must be less than /31"),
        ('{"Network": "10.5.0.0/16", "SubnetLen": 17}', "network must be able to accommodate at least four subnets"),
        ('{"Network": "10.5.0.0/16", "SubnetMin": "10.6.0.0"}', "SubnetMin is not in the range of the Network"),
        ('{"Network": "10.5.0.0/16", "SubnetMax": "10.5.9.7"}', "SubnetMax is not on a SubnetLen boundary: 10.5.9.7"),
    ):
        with pytest.raises(CNIError) as raised:
            parse_config(text)
        assert str(raised.value) == words


def test_the_kept_packet_holds_a_packet() -> None:
    frame, provenance = kept_frame()
    layers = dissect(frame)
    assert [layer.name for layer in layers] == [
        "Ethernet",
        "IPv4",
        "UDP",
        "VXLAN",
        "Ethernet",
        "IPv4",
        "ICMP",
        "payload",
    ]
    assert sum(layer.length for layer in layers) == len(frame)
    assert layers[3].fields == {"VNI": "1"}
    assert layers[2].fields["to"] == "port 8472"
    assert "10.244.1.2" in provenance
    assert int(layers[1].fields["length"]) - int(layers[5].fields["length"]) == 50
    assert [layer.name for layer in dissect(frame, vxlan_ports=())] == ["Ethernet", "IPv4", "UDP", "payload"]


def test_stumps_of_packets_do_no_harm() -> None:
    frame, _ = kept_frame()
    for length in range(len(frame)):
        assert sum(layer.length for layer in dissect(frame[:length])) == length


def test_a_packet_between_hosts_travels_in_a_packet(root: None) -> None:
    async def scene() -> None:
        with Laboratory(backend="vxlan") as lab:
            one, two = lab.hosts.values()
            await one.run_pod("client")
            target = await two.run_pod("server")
            assert target == "10.244.2.2"
            with Capture(one.namespace.path, "eth0") as capture:
                assert ping(one.pods["client"][0].path, target)
                frame = capture.first(lambda f: any(layer.name == "ICMP" for layer in dissect(f)))
            ours, kept = dissect(frame), dissect(kept_frame()[0])
            assert [(layer.name, layer.length) for layer in ours] == [(layer.name, layer.length) for layer in kept]
            seen = json.loads(one.command("ip -j -d link show flannel.1"))[0]
            assert seen["mtu"] == 1450
            assert seen["linkinfo"]["info_data"]["learning"] is False
            with pytest.raises(OSError, match=r"too long$"):
                ping(one.pods["client"][0].path, target, payload=b"x" * 1423, dont_fragment=True)
            assert ping(one.pods["client"][0].path, target, payload=b"x" * 1422, dont_fragment=True)
            lab.announce("DELETED", lab.nodes["worker2"])
            assert "10.244.2.0" not in one.command("ip route") + one.command("ip neigh") + one.command("bridge fdb")
            await one.stop_pod("client")

    asyncio.run(scene())


def test_host_gw_wraps_nothing(root: None) -> None:
    async def scene() -> None:
        with Laboratory(backend="host-gw") as lab:
            one, two = lab.hosts.values()
            await one.run_pod("client")
            target = await two.run_pod("server")
            with Capture(one.namespace.path, "eth0") as capture:
                assert ping(one.pods["client"][0].path, target)
                frame = capture.first(lambda f: any(layer.name == "ICMP" for layer in dissect(f)))
            assert [layer.name for layer in dissect(frame)] == ["Ethernet", "IPv4", "ICMP", "payload"]
            assert "10.244.2.0/24 via 172.19.0.4 dev eth0" in one.command("ip route")

    asyncio.run(scene())


def test_nodes_that_are_not_flannels_are_passed_over() -> None:
    watcher = NodeLeases(ipaddress.IPv4Network("10.244.1.0/24"))
    broken = node()
    broken["metadata"]["annotations"]["flannel.alpha.coreos.com/public-ip"] = "?"
    assert watcher.node_event("ADDED", broken) == []
