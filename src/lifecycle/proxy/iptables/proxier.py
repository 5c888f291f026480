"""kube-proxy of one node: watches Services and EndpointSlices, and keeps the node's
rules.

Nothing is written before both have been listed once: half a picture would cut
connections. From then on each change asks for a sync, and syncs come at most once in
`min_sync_period`. A full sync writes everything and makes sure of the jumps from the
kernel's chains; the others leave out the chains of Services that did not change. An
empty chain of ours, the canary, tells whether somebody flushed the tables behind our
back; if it is gone, a full sync follows.

Upstream: `pkg/proxy/iptables/proxier.go` (`Proxier`, `NewProxier`),
`cmd/kube-proxy/app/server.go` (`Run`), `pkg/util/iptables/iptables.go` (`Monitor`),
v1.36. Left out: metrics.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Collection
from dataclasses import replace
from math import inf

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.resources import resource
from lifecycle.api.tracing import span
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.bounded_frequency_runner import BoundedFrequencyRunner
from lifecycle.proxy.conntrack import Conntrack, stale_flows
from lifecycle.proxy.endpoints_map import EndpointsMap, ServiceKey, service_key
from lifecycle.proxy.iptables.chains import (
    CANARY_TABLES,
    JUMP_CHAINS,
    KUBE_PROXY_CANARY,
)
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.rule_count import (
    MOST_RULES,
    RULE_LENGTH,
    count_of_rules,
)
from lifecycle.proxy.iptables.runner import Runner
from lifecycle.proxy.iptables.sync_proxy_rules import (
    COUNTERS,
    NodeFacts,
    is_large_cluster,
    sync_proxy_rules,
)
from lifecycle.proxy.iptables.tables import RestoreError
from lifecycle.proxy.iptables.written_service import WrittenServices
from lifecycle.proxy.proxy_health import ProxyHealth
from lifecycle.proxy.service_health import ServiceHealthServer
from lifecycle.proxy.service_map import ServicePortMap
from lifecycle.proxy.topology import LABEL_TOPOLOGY_ZONE

log = logging.getLogger(__name__)


NOT_OURS = "!service.kubernetes.io/service-proxy-name"
"""Services that another proxy looks after say so with this label."""


class Proxier:
    """The proxy of one node and one family of addresses. `sink` is where the rules go;
    `synced` is set once they are there.

    `listen` makes a listening socket on a port of the node; without it nobody answers
    balancers' health checks. `conntrack` is the kernel's table of flows, where there is
    a kernel. `health` says whether the rules keep up.
    """

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        node_name: str,
        node_ip: str,
        clock: Clock,
        sink: Runner,
        config: ProxierConfig | None = None,
        listen: Callable[[int], socket.socket] | None = None,
        conntrack: Conntrack | None = None,
    ) -> None:
        self.client = client
        self.clock = clock
        self.sink = sink
        self.config = config or ProxierConfig()
        family = "IPv6" if ":" in node_ip else "IPv4"
        self.services = ServicePortMap(family)
        self.endpoints = EndpointsMap(node_name, family)
        self.node = NodeFacts(node_name, node_ip)
        self.syncs = 0
        self.synced = asyncio.Event()
        self.last_rule_counts = (0, 0)
        self.health = ProxyHealth(clock, 2 * self.config.sync_period, family)
        self._balancers = (
            ServiceHealthServer(listen, self.health.is_healthy) if listen else None
        )
        self._conntrack = conntrack
        self._written: WrittenServices = {}
        self._changed: set[ServiceKey] = set()
        self._need_full_sync = True
        self._last_full_sync = 0.0
        self._last_cleanup = -inf
        self._runner = BoundedFrequencyRunner(
            self.sync,
            min_interval=self.config.min_sync_period,
            max_interval=self.config.full_sync_period,
        )
        self._services = informers.informer(
            resource("services"),
            label_selector=NOT_OURS,
            field_selector="spec.clusterIP!=None",
        )
        self._slices = informers.informer(
            resource("endpointslices.discovery.k8s.io"),
            label_selector=f"!service.kubernetes.io/headless,{NOT_OURS}",
        )
        self._nodes = informers.informer(
            resource("nodes"), field_selector=f"metadata.name={node_name}"
        )
        self._handlers = (
            (
                self._services,
                self._services.add_event_handler(
                    self.on_service,
                    lambda old, new: self.on_service(new),
                    self.on_service_deleted,
                ),
            ),
            (
                self._slices,
                self._slices.add_event_handler(
                    self.on_endpoint_slice,
                    lambda old, new: self.on_endpoint_slice(new),
                    self.on_endpoint_slice_deleted,
                ),
            ),
            (
                self._nodes,
                self._nodes.add_event_handler(
                    self.on_node, lambda old, new: self.on_node(new)
                ),
            ),
        )

    async def run(self) -> None:
        """Keep the rules until cancelled. They stay when it ends: connections do not
        need a proxy to go on.
        """
        try:
            for informer, _ in self._handlers:
                await informer.wait_for_sync()
            self._runner.run()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    self._runner.loop(), name=f"kube-proxy {self.node.name}"
                )
                tasks.create_task(
                    self._monitor(), name=f"kube-proxy monitor {self.node.name}"
                )
        finally:
            if self._balancers is not None:
                await self._balancers.stop()
            for informer, handlers in self._handlers:
                informer.remove_event_handler(handlers)

    # -- what changed ------------------------------------------------------------------

    def on_service(self, service: Object) -> None:
        """A Service is new or different."""
        if self.services.update(service):
            self._note((service["metadata"]["namespace"], service["metadata"]["name"]))

    def on_service_deleted(self, service: Object) -> None:
        """A Service is gone."""
        if self.services.remove(service):
            self._note((service["metadata"]["namespace"], service["metadata"]["name"]))

    def on_endpoint_slice(self, endpoint_slice: Object) -> None:
        """A slice is new or different."""
        if self.endpoints.update(endpoint_slice):
            self._note(service_key(endpoint_slice))

    def on_endpoint_slice_deleted(self, endpoint_slice: Object) -> None:
        """A slice is gone."""
        if self.endpoints.remove(endpoint_slice):
            self._note(service_key(endpoint_slice))

    def on_node(self, node: Object) -> None:
        """Our node's labels say which zone we are in; a change of that concerns every
        Service, other labels none. Whether it is going away concerns balancers.
        """
        if node["metadata"]["name"] == self.node.name:
            self.health.sync_node(node)
        all_labels = node["metadata"].get("labels") or {}
        labels = (
            {LABEL_TOPOLOGY_ZONE: all_labels[LABEL_TOPOLOGY_ZONE]}
            if LABEL_TOPOLOGY_ZONE in all_labels
            else {}
        )
        if node["metadata"]["name"] == self.node.name and labels != self.node.labels:
            self.node = replace(self.node, labels=labels)
            self._need_full_sync = True
            self._runner.run()

    def _note(self, key: ServiceKey | None) -> None:
        if key is not None:
            self._changed.add(key)
            self.health.queued_update()
            self._runner.run()

    # -- the sync ----------------------------------------------------------------------

    async def sync(self) -> None:
        """Bring the rules up to date. A failure is logged and tried again after
        `sync_period`, then in full.
        """
        now = asyncio.get_running_loop().time()
        full = (
            self._need_full_sync
            or now - self._last_full_sync >= self.config.full_sync_period
        )
        with span("proxy", "syncProxyRules", node=self.node.name, full=full):
            try:
                changed = await self._sync(full)
            except RestoreError as error:
                log.error(
                    "sync of %s failed, retrying in %s s: %s",
                    self.node.name,
                    self.config.sync_period,
                    error,
                )
                self._need_full_sync = True
                self.health.sync_failed()
                self._runner.retry_after(self.config.sync_period)
                return
        self.syncs += 1
        self.health.updated()
        self.synced.set()
        if full:
            self._last_full_sync = now
        if self._balancers is not None:
            await self._balancers.sync(
                self.services.health_check_node_ports(),
                self.endpoints.local_ready_endpoints(),
            )
        if self._conntrack is not None and any(
            s.name.protocol == "UDP" for s in self.services if full or s.key in changed
        ):
            self._forget_stale_flows(self._conntrack)

    def _forget_stale_flows(self, conntrack: Conntrack) -> None:
        """A failure is logged and no more: the rules are in place, and the next change
        tries again.
        """
        try:
            conntrack.forget(
                stale_flows(self.services, self.endpoints, conntrack.udp_flows())
            )
        except OSError as error:
            log.error("stale flows of %s are not forgotten: %s", self.node.name, error)

    async def _sync(self, full: bool) -> set[ServiceKey]:
        if full:
            self._need_full_sync = (
                False  # a change that arrives meanwhile may ask for another
            )
            await self._ensure_jumps()
        existing = await self._chains_to_clean()
        # from here to the worker nothing waits: what the rules are made of and what is
        # said to have changed have to be of the same moment
        changed, self._changed = self._changed, set()
        self.health.sync_begins()
        tables = count_of_rules(self.services, self.endpoints)
        if max(tables) > MOST_RULES:  # nor would the kernel take any of them
            raise RestoreError(f"more than {MOST_RULES} rules do not fit into a table")
        weight = RULE_LENGTH * sum(tables)
        services, endpoints = self.services, self.endpoints
        if weight > LARGE:  # what changes meanwhile is for the next sync
            services, endpoints = services.copy(), endpoints.copy()
        text, counts = await beside(
            weight,
            _written,
            services,
            endpoints,
            self.node,
            self.config,
            existing,
            None if full else changed,
            self._written,
        )
        await self.sink.restore_all(text)
        self.last_rule_counts = counts
        return changed

    async def _chains_to_clean(self) -> Collection[str]:
        """The chains of the nat table, of which the stale ones are removed. To list
        them takes long in a large cluster, and may wait.
        """
        now = asyncio.get_running_loop().time()
        waited = now - self._last_cleanup > self.config.sync_period
        served = (self.endpoints[service.name] for service in self.services)
        if not waited and is_large_cluster(served, self.config):
            return ()
        self._last_cleanup = now
        return await self.sink.chains("nat")

    async def _ensure_jumps(self) -> None:
        """The way from the kernel's chains into ours, and the counters. Not part of the
        restore: those chains have other tenants.
        """
        for table in CANARY_TABLES:
            await self.sink.ensure_chain(table, KUBE_PROXY_CANARY)
        for jump in JUMP_CHAINS:
            await self.sink.ensure_chain(jump.table, jump.destination)
            await self.sink.ensure_rule(jump.table, jump.source, jump.rule)
        counters = frozenset(
            [name for name in COUNTERS if await self.sink.ensure_counter(name)]
        )
        self.node = replace(self.node, counters=counters)

    async def _monitor(self) -> None:
        """Somebody may flush the tables. The kernel announces no such thing, so the
        canary has to be looked at.
        """
        while True:
            await asyncio.sleep(self.config.sync_period)
            if self.syncs and not await self.sink.chain_exists(
                "mangle", KUBE_PROXY_CANARY
            ):
                log.warning(
                    "the rules of %s are gone; writing them again", self.node.name
                )
                self._need_full_sync = True
                self._runner.run()


def _written(
    services: ServicePortMap,
    endpoints: EndpointsMap,
    node: NodeFacts,
    config: ProxierConfig,
    existing: Collection[str],
    changed: Collection[ServiceKey] | None,
    written: WrittenServices,
) -> tuple[str, tuple[int, int]]:
    """The rules as text, and how many they are in each table."""
    rules = sync_proxy_rules(
        services,
        endpoints,
        node,
        config,
        existing_nat_chains=existing,
        changed=changed,
        written=written,
    )
    return rules.text(), (rules.filter_rule_count, rules.nat_rule_count)
