"""What might go wrong between pods: CNI, addresses, the overlay, Services and names."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from ipaddress import ip_interface
from typing import Any

from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, constant, nothing

CHECKS = "agreements.claim_checks"


def _no_pair(self: Any, name: str, peer: str, *, peer_netns_fd: int, mtu: int = 0, mac: str = "") -> None:
    self.link_add(name, "dummy", mtu=mtu, mac=mac)
    self.peers[peer_netns_fd].link_add(peer, "dummy", mtu=mtu)


def _waits(create: Any) -> Any:
    async def later(obj: Any, *more: Any) -> Any:
        if obj["kind"] == "Service":
            await asyncio.sleep(10)
        return await create(obj, *more)

    return later


BREAKAGES = (
    Breakage(
        "a plugin is handed its configuration as it stands in the file",
        "cni.libcni.build_one_config",
        lambda name, version, plugin, result, rt: plugin,
        ("cni-json-config-on-stdin", "cni-plugin-list-runs-in-order"),
    ),
    Breakage(
        "the runtime offers the DNS server to everybody",
        f"{CHECKS}.cni.build_one_config",
        Wrapped(
            lambda build: (
                lambda name, version, plugin, result, rt: type(plugin)(
                    plugin.network, plugin.text + '{"dns":"10.96.0.10"}'
                )
            )
        ),
        ("cni-dns-server-passed-to-plugin",),
    ),
    Breakage(
        "the last file counts",
        "cni.config.conf_files",
        afterwards(lambda files, *_: list(files)[::-1]),
        ("cni-first-file-is-used",),
    ),
    Breakage(
        "a variable is missing",
        "cni.invoke.Args.as_env",
        afterwards(lambda env, *_: {key: value for key, value in env.items() if key != "CNI_NETNS"}),
        ("cni-add-parameters",),
    ),
    Breakage(
        "pods ask the host's DNS server",
        f"{CHECKS}.cni.pod_dns",
        Wrapped(lambda dns: lambda pod, host, **_: host),
        ("cni-resolv-conf-points-at-cluster-dns",),
    ),
    Breakage(
        "host ends are plugged into nothing",
        "cni.plugins.bridge.plug",
        constant(None),
        ("cni-host-end-joins-linux-bridge",),
    ),
    Breakage(
        "every node gets the same piece",
        f"{CHECKS}.ipam.CIDRSet.allocate_next",
        constant("10.244.0.0/24"),
        ("ipam-unique-ip-from-global-pod-subnet",),
    ),
    Breakage(
        "the kubelet attaches pods",
        f"{CHECKS}.ipam.kubelet_attaches_pods",
        constant(True),
        ("ipam-kubelet-assigns-the-ip",),
    ),
    Breakage(
        "the overlay hears nothing",
        "cni.overlay.vxlan.VxlanBackend.handle",
        constant(None),
        ("inter-host-network-overlay-joins-hosts", "inter-host-network-flannel-only-between-hosts"),
    ),
    Breakage(
        "any subnet will do",
        f"{CHECKS}.inter_host_network.pod_subnet",
        constant(None),
        ("inter-host-network-flannel-l3-ipv4",),
    ),
    # -- Services ---------------------------------------------------------------------------------------------------
    Breakage(
        "no rules are written",
        "proxy.iptables.service_rules.ServiceRules.write_captures",
        constant(None),
        ("kube-proxy-writes-iptables-rules", "services-exposed-to-outside-world"),
    ),
    Breakage(
        "a Service has no name",
        "dns.kubernetes_plugin.KubernetesPlugin._find_services",
        constant([]),
        ("dns-a-record-for-service", "dns-srv-record-for-service", "dns-server-adds-records"),
    ),
    Breakage(
        "every port has a name",
        "dns.kubernetes_plugin._match_port_and_protocol",
        constant(True),
        ("dns-srv-record-for-service",),
    ),
    Breakage(
        "a bridge for each pod",
        "cni.plugins.bridge.ensure_bridge",
        afterwards(lambda link, host, conf: (host.link_add(f"br{len(host.links())}", "bridge"), link)[1]),
        ("cni-bridge-created-on-first-use",),
    ),
    Breakage(
        "the bridge has no address",
        "cni.plugins.bridge.ensure_addr",
        constant(None),
        ("cni-bridge-gets-gateway-address",),
    ),
    Breakage(
        "the bridge has an address of its own",
        "cni.plugins.bridge.ensure_bridge",
        afterwards(lambda link, host, conf: (host.addr_add(link.index, ip_interface("10.9.9.1/24")), link)[1]),
        ("cni-bridge-pure-l2-mode",),
    ),
    Breakage(
        "the host's end has an address",
        "cni.plugins.bridge.plug",
        Wrapped(
            lambda plug: (
                lambda host, bridge, port, conf: (
                    host.addr_add(port.index, ip_interface("10.9.9.2/24")),
                    plug(host, bridge, port, conf),
                )[1]
            )
        ),
        ("cni-ip-only-on-container-end",),
    ),
    Breakage(
        "two interfaces that are no pair",
        "cni.paper_netlink.PaperNetlink.veth_add",
        _no_pair,
        ("cni-veth-into-pod-namespace",),
    ),
    Breakage(
        "only the first plugin is read",
        f"{CHECKS}.cni.config.network_conf_from",
        afterwards(lambda network, *_: replace(network, plugins=network.plugins[:1])),
        ("cni-allows-different-network-providers",),
    ),
    Breakage(
        "a range may be anything",
        "cni.plugins.host_local.config.load_ipam_config",
        constant(None),
        ("cni-sample-config-works",),
    ),
    Breakage(
        "nothing is kept on disk",
        "cni.plugins.host_local.disk_store.DiskStore.reserve",
        constant(True),
        (
            "ipam-host-local-state-on-disk",
            "ipam-host-local-allocates-from-ranges",
            "ipam-unique-ip-from-global-pod-subnet",
        ),
    ),
    Breakage(
        "a program is told nothing",
        f"{CHECKS}.ipam.exec_plugin_now",
        Wrapped(lambda run: lambda path, stdin, env, *more: run(path, "{}", env, *more)),
        ("ipam-delegated-to-separate-executable",),
    ),
    Breakage(
        "addresses are not applied",
        "cni.plugins.ipam.configure_iface",
        constant(None),
        ("ipam-returns-address-gateway-routes", "cni-sample-config-works"),
    ),
    Breakage(
        "a Service is not stored",
        "apiserver.registry.core.service.store.ServiceStore.write",
        nothing,
        ("services-request-repeats-full-pipeline",),
    ),
    Breakage(
        "the Service waits for the pod",
        "kubectl.commands.run._create",
        Wrapped(_waits),
        ("services-created-after-kubelet-deploys",),
    ),
)
