"""What might go wrong between pods: addresses, routes, Services' rules, names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.agreements.cni import pod_networking
from lifecycle.agreements.cni.overlay import PIECES, overlay_agreement
from lifecycle.agreements.cni.plugin_answers import plugins_agreement
from lifecycle.agreements.cni.pod_networking import pod_networking_agreement
from lifecycle.agreements.dns_answers import dns_agreement
from lifecycle.agreements.proxy.iptables_rules import iptables_agreement
from lifecycle.agreements.proxy.odd_services import odd_services_agreement
from tests.agreements.sabotages.judged import Answers, IsSpoilt, Judged, Sabotage, called, opened
from tests.claims.broken.breakage import Wrapped, afterwards

EVERYWHERE = "the same plugin wires every pod on every node, at every moment"


def forgets_routes(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some nodes do not know some others' pods, some of the time."""
    from lifecycle.agreements.cni import overlay

    number = iter(range(1 << 30))
    real = overlay.sync_routes

    def sync_routes(nodes: Any, own: str) -> Any:
        routes = real(nodes, own)
        return routes[1:] if spoilt(next(number)) else routes

    monkeypatch.setattr(overlay.overlay_agreement, "__defaults__", (sync_routes,))


def forgets_rules(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some nodes miss a rule, some of the time."""
    from lifecycle.agreements.proxy import iptables_rules

    number = iter(range(1 << 30))
    real = iptables_rules.generate_rules

    def generate(*arguments: Any) -> str:
        text = real(*arguments)
        if not spoilt(next(number)):
            return text
        lines = text.splitlines(keepends=True)
        lines.remove(next(line for line in lines if line.startswith("-A KUBE-SERVICES")))
        return "".join(lines)

    monkeypatch.setattr(iptables_rules.iptables_agreement, "__defaults__", (generate,))


def forgets_rules_of_shapes(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """The same, Service by Service."""
    from lifecycle.agreements.proxy import odd_services

    number = iter(range(1 << 30))
    real = odd_services.generate_rules

    def generate(*arguments: Any) -> str:
        lines = real(*arguments).splitlines(keepends=True)
        if spoilt(next(number)):
            lines.remove(next(line for line in lines if line.startswith("-A KUBE-POSTROUTING")))
        return "".join(lines)

    monkeypatch.setattr(odd_services.odd_services_agreement, "__defaults__", (None, generate))


def from_the_end(real: Any) -> Any:
    def allocate_next(self: Any) -> Any:
        self._next = (self._next - 3) % self._count
        return real(self)

    return allocate_next


JUDGED = (
    Judged(
        "plugins_agreement",
        plugins_agreement,
        answers=(
            Answers(
                "bridges on paper",
                r"^bridge \|",
                called("agreements.cni.plugin_answers.our_bridge", lambda made, *_: {**made, "bridge": ["spoilt"]}),
            ),
            Answers(
                "what lies on host-local's disk",
                r"^host-local \|",
                called("agreements.cni.plugin_answers._disk", lambda files, *_: {**files, "spoilt": ""}),
            ),
        ),
    ),
    Judged(
        "dns_agreement",
        lambda: dns_agreement(opened()),
        sabotages=(
            Sabotage(
                "cookies are not sent back",
                "dns.wire.ECHOED_OPTIONS",
                frozenset(),
                (".",),
                because="dig sends one with each question",
            ),
            Sabotage(
                "nobody who asks for recursion is told that it was asked for",
                "agreements.dns_answers.as_heard",
                afterwards(lambda heard, *_: replace(heard, flags=heard.flags - {"rd"})),
                (".",),
                because="dig asks for it each time",
            ),
        ),
        answers=(
            Answers(
                "answers",
                "",
                called("dns.answering.Answerer.answer", lambda answer, *_: replace(answer, rcode="SERVFAIL")),
            ),
        ),
    ),
    Judged(
        "iptables_agreement",
        lambda: iptables_agreement(opened()),
        answers=(Answers("rules, node by node", "", forgets_rules),),
    ),
    Judged(
        "odd_services_agreement",
        odd_services_agreement,
        answers=(Answers("rules, Service by Service", "", forgets_rules_of_shapes),),
    ),
    Judged(
        "overlay_agreement",
        lambda: overlay_agreement(opened()),
        sabotages=(
            Sabotage(
                "pieces are given out from the end",
                "controllers.nodeipam.CIDRSet.allocate_next",
                Wrapped(from_the_end),
                (PIECES,),
            ),
        ),
        answers=(
            Answers("routes", "routes to other nodes", forgets_routes),
            Answers(
                "configurations",
                "configuration written",
                called("agreements.cni.overlay.cni_configuration", lambda conf, *_: {**conf, "name": "other"}),
            ),
            Answers(
                "masquerading",
                "masquerading",
                called("agreements.cni.overlay.masq_rules", lambda rules, *_: rules[::-1]),
            ),
        ),
    ),
    Judged(
        "pod_networking_agreement",
        lambda: pod_networking_agreement(opened(), lambda *pod: pod_networking.pod_routes(*pod)),
        sabotages=(
            Sabotage(
                "a plugin's name is read wrong",
                "agreements.cni.pod_networking.network_conf_from",
                afterwards(lambda network, *_: replace(network, text=network.text + " ")),
                ("configuration as read", "kept results"),
                because="what was read is kept with each result; " + EVERYWHERE,
            ),
            Sabotage(
                "a result is kept under another name",
                "agreements.cni.pod_networking.cached_info",
                afterwards(lambda info, *_: {**info, "kind": "other"}),
                ("kept results",),
                because=EVERYWHERE,
            ),
            Sabotage(
                "pods have no way to their own subnet",
                "agreements.cni.pod_networking.pod_routes",
                afterwards(lambda routes, *_: routes[:1]),
                ("in the pods",),
                because=EVERYWHERE,
            ),
            Sabotage(
                "the host's way to a pod has another scope",
                "agreements.cni.pod_networking.host_route",
                afterwards(lambda route, *_: replace(route, scope=0)),
                ("on the host",),
                because=EVERYWHERE,
            ),
            Sabotage(
                "chains are named after the network",
                "cni.plugins.portmap_rules.TOP_LEVEL_DNAT_CHAIN",
                "CNI-OTHER",
                ("forwarded ports",),
            ),
        ),
    ),
)
