"""What makes Services visible: a kube-proxy on every node, and the cluster's DNS.

In a real cluster these are pods, put there by kubeadm: the DaemonSet `kube-proxy`, the
Deployment `coredns` and its Service `kube-dns`. Here they are tasks of the one process,
under the identities and with the rights that kubeadm gives them.

Hollow nodes have no kernel of their own for the rules to go to. So the proxy of a node
starts when somebody asks for its rules for the first time, and keeps them from then on;
the proxies of all nodes share one picture of the Services and slices. A cluster in
which nobody asks pays nothing. DNS listens on a loopback port, and everybody on this
machine can ask it.

Upstream: kubeadm `app/phases/addons/{proxy,dns}`, v1.36. Left out: the ConfigMaps of
both, since nothing here is configured through them.
"""

from __future__ import annotations

import asyncio
import contextlib

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.dns.server import ClusterDNS
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner

DNS_ADDRESS = "10.96.0.10"
"""The tenth address of the range for Services: kubeadm's rule, and what the kubelets
write into resolv.conf.
"""

DNS_ACCOUNT = "system:serviceaccount:kube-system:coredns"
DNS_GROUPS = (
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
)
PROXY_USER = "system:kube-proxy"


class NodeProxies:
    """The kube-proxies of hollow nodes, each started when it is first asked for.
    `client` is theirs.
    """

    def __init__(self, client: Client, *, clock: Clock, cluster_cidr: str) -> None:
        self._client = client
        self._addresses: dict[str, str] = {}
        self._clock = clock
        self._config = ProxierConfig(cluster_cidr=cluster_cidr)
        self._informers = SharedInformerFactory(client)
        self._running: dict[str, tuple[Proxier, TextRunner, asyncio.Task[None]]] = {}

    def add(self, node: str, address: str) -> None:
        """There is a node of that name, with that address."""
        self._addresses[node] = address

    async def iptables_save(self, node: str, *tables: str) -> str:
        """What `iptables-save` prints on a node, of all tables or the named ones.
        Raises KeyError for a node that there is not.
        """
        return (await self.rules(node)).tables.save(*tables)

    async def rules(self, node: str) -> TextRunner:
        """The rules of a node, kept up to date from now on. Raises KeyError for a node
        that there is not.
        """
        if node not in self._running:
            runner = TextRunner()
            proxier = Proxier(
                self._client,
                self._informers,
                node_name=node,
                node_ip=self._addresses[node],
                clock=self._clock,
                sink=runner,
                config=self._config,
            )
            task = asyncio.create_task(proxier.run(), name=f"kube-proxy {node}")
            self._running[node] = proxier, runner, task
        proxier, runner, task = self._running[node]
        synced = asyncio.ensure_future(proxier.synced.wait())
        try:
            await asyncio.wait([synced, task], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                await task
        finally:
            synced.cancel()
        return runner

    async def stop(self) -> None:
        """End them all; the rules stay readable."""
        for _, _, task in self._running.values():
            task.cancel()
        for _, _, task in self._running.values():
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        await self._informers.stop()


async def install_dns(client: Client) -> None:
    """What kubeadm writes so that there can be a cluster DNS: its account, its rights,
    its Service. What is there already stays.
    """
    for obj in (_account(), _role(), _role_binding(), _service()):
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        assert row is not None
        with contextlib.suppress(
            StatusError
        ):  # it is there, or its address is somebody else's: then DNS has another
            await client.create(row, obj, obj["metadata"].get("namespace", ""))


class DNSAddon:
    """The cluster's DNS, on a free loopback port. `client` is CoreDNS' own;
    `server.port` is known once `server.started` is set.
    """

    def __init__(self, client: Client, *, clock: Clock) -> None:
        self._informers = SharedInformerFactory(client)
        self.server = ClusterDNS(client, self._informers, clock=clock)

    async def run(self) -> None:
        """Serve until cancelled."""
        try:
            await self.server.run()
        finally:
            await self._informers.stop()


def _account() -> Object:
    metadata = {"name": "coredns", "namespace": "kube-system"}
    return {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": metadata}


def _role() -> Object:
    return {
        "kind": "ClusterRole",
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": "system:coredns"},
        "rules": [
            {
                "verbs": ["list", "watch"],
                "apiGroups": [""],
                "resources": ["endpoints", "services", "pods", "namespaces"],
            },
            {
                "verbs": ["list", "watch"],
                "apiGroups": ["discovery.k8s.io"],
                "resources": ["endpointslices"],
            },
        ],
    }


def _role_binding() -> Object:
    return {
        "kind": "ClusterRoleBinding",
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": "system:coredns"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}
        ],
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:coredns",
        },
    }


def _service() -> Object:
    ports = [("dns", "UDP", 53), ("dns-tcp", "TCP", 53), ("metrics", "TCP", 9153)]
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": {
                "k8s-app": "kube-dns",
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
            "annotations": {
                "prometheus.io/port": "9153",
                "prometheus.io/scrape": "true",
            },
        },
        "spec": {
            "selector": {"k8s-app": "kube-dns"},
            "clusterIP": DNS_ADDRESS,
            "ports": [
                {
                    "name": name,
                    "protocol": protocol,
                    "port": number,
                    "targetPort": number,
                }
                for name, protocol, number in ports
            ],
        },
    }
