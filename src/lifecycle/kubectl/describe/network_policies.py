"""A NetworkPolicy: whom it is about, and what may come in and go out.

Upstream: `kubectl/pkg/describe/describe.go` (`describeNetworkPolicy`,
`describeNetworkPolicySpec`, `printNetworkPolicySpecIngressFrom`,
`printNetworkPolicySpecEgressTo`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.multiline import print_labels_and_annotations
from lifecycle.kubectl.describe.writer import PrefixWriter

INDENT = "    "
EVERY_POD = "<none> (Allowing the specific traffic to all pods in this namespace)"


@dataclass(slots=True, frozen=True)
class _Direction:
    """The words for one of both directions, and where its rules are."""

    word: str
    rules: str
    peers: str
    title: str
    anywhere: str


INGRESS = _Direction("ingress", "ingress", "from", "From", "source")
EGRESS = _Direction("egress", "egress", "to", "To", "destination")


async def describe_network_policy(client: Clientset, namespace: str, name: str) -> str:
    """Describe a NetworkPolicy. Raises StatusError."""
    policy = await client.get("networkpolicies.networking.k8s.io", namespace, name)
    w = PrefixWriter()
    meta, spec = policy["metadata"], policy["spec"]
    w.field(0, "Name", meta["name"])
    w.field(0, "Namespace", meta.get("namespace", ""))
    w.field(0, "Created on", _go_time(meta["creationTimestamp"]))
    print_labels_and_annotations(w, policy)
    w.write(0, "Spec:\n")
    w.write(1, "PodSelector: ")
    selector = spec.get("podSelector") or {}
    everyone = not selector.get("matchLabels") and not selector.get("matchExpressions")
    w.write(2, f"{EVERY_POD if everyone else format_label_selector(selector)}\n")
    types = spec.get("policyTypes") or ()
    for kind, direction in (("Ingress", INGRESS), ("Egress", EGRESS)):
        if kind in types:
            w.write(1, f"Allowing {direction.word} traffic:\n")
            _rules(spec.get(direction.rules) or (), direction, w)
        else:
            w.write(1, f"Not affecting {direction.word} traffic\n")
    w.write(1, f"Policy Types: {', '.join(types) or '<none>'}\n")
    return w.tabbed


def _go_time(timestamp: str) -> str:
    """A time as Go prints it when nobody says how."""
    moment = datetime.fromisoformat(timestamp).astimezone()
    return f"{moment:%Y-%m-%d %H:%M:%S %z} {moment.tzname()}"


def _rules(rules: Sequence[Object], direction: _Direction, w: PrefixWriter) -> None:
    if not rules:
        nothing = f"Selected pods are isolated for {direction.word} connectivity"
        w.write(0, f"{INDENT}<none> ({nothing})\n")
    for i, rule in enumerate(rules):
        if i:
            w.write(0, f"{INDENT}----------\n")
        if not rule.get("ports"):
            w.write(0, f"{INDENT}To Port: <any> (traffic allowed to all ports)\n")
        for port in rule.get("ports") or ():
            w.write(0, f"{INDENT}{_port(port)}\n")
        if not rule.get(direction.peers):
            anyone = f"traffic not restricted by {direction.anywhere}"
            w.write(0, f"{INDENT}{direction.title}: <any> ({anyone})\n")
        for peer in rule.get(direction.peers) or ():
            w.write(0, f"{INDENT}{direction.title}:\n")
            _peer(peer, w)


def _port(port: Object) -> str:
    number = port.get("port")
    protocol = port.get("protocol") or "TCP"
    if port.get("endPort") is not None:
        return f"To Port Range: {number}-{port['endPort']}/{protocol}"
    return f"To Port: {'<nil>' if number is None else number}/{protocol}"


def _peer(peer: Object, w: PrefixWriter) -> None:
    selectors = [
        (title, peer[field])
        for title, field in (
            ("NamespaceSelector", "namespaceSelector"),
            ("PodSelector", "podSelector"),
        )
        if peer.get(field) is not None
    ]
    for title, selector in selectors:
        w.write(1, f"{INDENT}{title}: {format_label_selector(selector)}\n")
    if not selectors and (block := peer.get("ipBlock")) is not None:
        w.write(1, f"{INDENT}IPBlock:\n")
        w.write(2, f"{INDENT}CIDR: {block['cidr']}\n")
        w.write(2, f"{INDENT}Except: {', '.join(block.get('except') or ())}\n")
