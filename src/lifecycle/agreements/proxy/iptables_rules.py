"""kube-proxy's rules held against recorded nodes, line by line.

A recording holds `iptables-save` of every node at several moments, and the Services and
EndpointSlices the cluster had then. Our kube-proxy gets those, writes its rules for
each node into empty tables, and both savings are compared: every chain, every rule, and
the order of the rules in each chain. Lines of other tenants of the tables are counted
by owner and compared with nobody.

Freedoms: real kube-proxy walks a Go map of its Services, so the order *between*
Services in the chains that all of them share is another one at every sync; there, rules
are put in the order of their Services' names on both sides. The kubelet and kube-proxy
both make the jump to `KUBE-FIREWALL`, and it stands where the first of them put it.

The Services of the scenario before may still be there when the next one begins. Whether
they are was not recorded; where only the node's own rules tell, our side was *given*
that part of the answer, and the row is not counted.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.protobuf import decode
from lifecycle.compare import AgreementTable, Comparison, Difference
from lifecycle.inspector import Recording
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.iptables.chains import (
    CANARY_TABLES,
    JUMP_CHAINS,
    KUBE_EXTERNAL_SERVICES,
    KUBE_FIREWALL,
    KUBE_NODEPORTS,
    KUBE_PROXY_CANARY,
    KUBE_PROXY_FIREWALL,
    KUBE_SERVICES,
)
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.owners import KUBE_PROXY, SavedLine, saved_lines
from lifecycle.proxy.iptables.proxier import NOT_OURS
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts, sync_proxy_rules
from lifecycle.proxy.iptables.tables import BUILT_IN, Tables
from lifecycle.proxy.service_map import ServicePortMap

MAP_ORDER = "order between Services, from a Go map"
FIRST_COMER = "place of the kubelet's jump: whoever came first"
STILL_THERE = (
    "a Service of the scenario before was still there: only the compared rules say so"
)
"""Why a row is given."""
PROXIED_BY_OTHERS = NOT_OURS.removeprefix("!")
"""kube-proxy does not even ask for Services with this label."""
SHARED_CHAINS = (
    KUBE_SERVICES,
    KUBE_NODEPORTS,
    KUBE_EXTERNAL_SERVICES,
    KUBE_PROXY_FIREWALL,
)
SERVICE_IN_COMMENT = re.compile(r'--comment "([^ "]+)')

MOMENTS: dict[str, tuple[str, str]] = {
    "before": ("", ""),
    "created": ("journey", "after create"),
    "exposed": ("journey", "after expose"),
    "rolled": ("journey", "after rollout"),
    "services": ("services", ""),
    "": ("", ""),
}
"""When `iptables-save` was run → scenario and moment of the Services that were there
beside the cluster's own.
"""

Generate = Callable[[list[Object], list[Object], Object], str]
"""Services, EndpointSlices, Node → what `iptables-save` prints."""


def recorded_objects(
    recording: Recording, moment: str
) -> tuple[list[Object], list[Object]]:
    """The Services and EndpointSlices at a moment."""
    services, slices = _lists(recording, "objects", "")
    scenario, note = MOMENTS[moment]
    if scenario:
        more_services, more_slices = _lists(recording, scenario, note)
        services, slices = services + more_services, slices + more_slices
    return services, slices


def recorded_nodes(recording: Recording) -> dict[str, Object]:
    """The Nodes by name, with the labels they had later on."""
    nodes: dict[str, Object] = {}
    for scenario in ("objects", "scheduling"):
        for exchange in recording.exchanges(scenario):
            if (
                exchange.method == "GET"
                and exchange.path.split("?")[0] == "/api/v1/nodes"
                and exchange.status == 200
            ):
                nodes |= {
                    item["metadata"]["name"]: item
                    for item in exchange.response["items"]
                }
    return nodes


def left_behind(recording: Recording) -> tuple[list[Object], list[Object]]:
    """The Services and slices of the *etcd* scenario, as they were stored: its
    namespace may be on its way out for a while.
    """
    stored = [
        decode(b64decode(kv["value"]))
        for kv in _key_values(recording)
        if b"k8s\0" in b64decode(kv["value"])[:4]
    ]
    services = [obj for obj in stored if obj["kind"] == "Service"]
    return services, [obj for obj in stored if obj["kind"] == "EndpointSlice"]


def _key_values(recording: Recording) -> list[Object]:
    lines = recording.text("etcd/etcd-look.json").splitlines()
    return [
        kv
        for line in lines
        if line.startswith("{")
        for kv in json.loads(line).get("kvs", ())
    ]


def _lists(
    recording: Recording, scenario: str, note: str
) -> tuple[list[Object], list[Object]]:
    lists: dict[str, list[Object]] = {"ServiceList": [], "EndpointSliceList": []}
    for exchange in recording.exchanges(scenario):
        answer: Any = exchange.response
        is_list = (
            exchange.method == "GET"
            and exchange.moment == note
            and isinstance(answer, dict)
        )
        if is_list and answer.get("kind") in lists:
            lists[answer["kind"]] = answer["items"]
    return lists["ServiceList"], lists["EndpointSliceList"]


def generate_rules(services: list[Object], slices: list[Object], node: Object) -> str:
    """Ours: what `iptables-save` prints on a node on which nothing but our kube-proxy
    ran.
    """
    name = node["metadata"]["name"]
    address = next(
        a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"
    )
    ports, endpoints = ServicePortMap(), EndpointsMap(name)
    for service in services:
        if PROXIED_BY_OTHERS not in (service["metadata"].get("labels") or {}):
            ports.update(service)
    for endpoint_slice in slices:
        endpoints.update(endpoint_slice)
    tables = Tables()
    for table in CANARY_TABLES:
        tables.ensure_chain(table, KUBE_PROXY_CANARY)
    for jump in JUMP_CHAINS:
        tables.ensure_chain(jump.table, jump.destination)
        tables.ensure_rule(jump.table, jump.source, jump.rule)
    facts = NodeFacts(name, address, node["metadata"].get("labels") or {})
    tables.restore(sync_proxy_rules(ports, endpoints, facts, ProxierConfig()).text())
    return tables.save()


def compare_saved(ours: str, theirs: str) -> Comparison:
    """kube-proxy's lines in both savings."""
    result = Comparison()
    mine, others = _by_chain(saved_lines(ours)), _by_chain(saved_lines(theirs))
    for key in sorted({*mine, *others}):
        table, chain = key
        left, left_freedoms = _ordered(chain, mine.get(key, []), table)
        right, right_freedoms = _ordered(chain, others.get(key, []), table)
        result.freedoms += left_freedoms | right_freedoms
        result.total += max(len(left), len(right))
        missing, extra = Counter(right) - Counter(left), Counter(left) - Counter(right)
        for line in missing.elements():
            result.differences.append(Difference(f"/{table}/{chain}", None, line))
        for line in extra.elements():
            result.differences.append(Difference(f"/{table}/{chain}", line, None))
        if not missing and not extra:
            for index, (here, there) in enumerate(zip(left, right)):
                if here != there:
                    result.differences.append(
                        Difference(f"/{table}/{chain}/{index}", here, there)
                    )
    wrong = sum(1 for d in result.differences)
    result.equal = max(0, result.total - wrong)
    return result


def _by_chain(lines: Iterable[SavedLine]) -> dict[tuple[str, str], list[SavedLine]]:
    chains: dict[tuple[str, str], list[SavedLine]] = {}
    for line in lines:
        if line.owner == KUBE_PROXY:
            chains.setdefault((line.table, line.chain), []).append(line)
    return chains


def _ordered(
    chain: str, lines: list[SavedLine], table: str
) -> tuple[list[str], Counter[str]]:
    """The lines of one chain, in the order that is compared, and the freedoms that
    took.
    """
    texts = [line.text for line in lines]
    if chain in SHARED_CHAINS:
        ordered = sorted(
            texts, key=_service_of
        )  # stable: the rules of one Service keep their order
        return ordered, Counter({MAP_ORDER: 1}) if ordered != texts else Counter()
    if chain in BUILT_IN[table]:
        ordered = sorted(texts, key=lambda text: text.endswith(f"-j {KUBE_FIREWALL}"))
        return ordered, Counter({FIRST_COMER: 1}) if ordered != texts else Counter()
    return texts, Counter()


def _service_of(text: str) -> tuple[int, str]:
    """Sort key: the Service named in a rule's comment; declarations first, rules of no
    Service last, where they must be.
    """
    if text.startswith(":"):
        return (0, "")
    service = SERVICE_IN_COMMENT.search(text)
    return (1, service[1]) if service and "/" in service[1] else (2, "")


def _named(service: Object) -> str:
    return f"{service['metadata']['namespace']}/{service['metadata']['name']}"


def iptables_agreement(
    recording: Recording, generate: Generate = generate_rules
) -> AgreementTable:
    """One row for each node and moment. `generate`: judge this one instead of ours."""
    lines = Counter[str]()
    table = AgreementTable(
        "iptables rules",
        "lifecycle, from the recorded Services",
        f"recording {recording.provenance}",
        lambda table: (
            f"kube-proxy's rules on {len(recording.nodes())} nodes at several moments,"
            f" {lines['theirs']:,} lines of `iptables-save` in all, written again by"
            f" ours from the Services and endpoints of that moment:"
            f" {table.outcome('sets of rules')}."
        ),
    )
    nodes = recorded_nodes(recording)
    old_services, old_slices = left_behind(recording)
    for name in recording.nodes():
        node = recording.node(name)
        for moment in node.moments("iptables-save"):
            services, slices = recorded_objects(recording, moment)
            theirs = node.run("iptables-save", moment=moment)
            given = ""
            if any(f'"{_named(service)} ' in theirs for service in old_services):
                services, slices = services + old_services, slices + old_slices
                given = STILL_THERE
            ours = generate(services, slices, nodes[name])
            here = sum(line.owner == KUBE_PROXY for line in saved_lines(ours))
            there = sum(line.owner == KUBE_PROXY for line in saved_lines(theirs))
            lines["theirs"] += 0 if given else there
            table.add(
                "iptables",
                f"{name}, {moment or 'end'}",
                f"{here} lines",
                f"{there} lines",
                compare_saved(ours, theirs),
                given,
            )
    return table
