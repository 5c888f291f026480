"""What DNS says of a name with more addresses than it works out anew each time: the same, however it is asked."""

from __future__ import annotations

import random

import pytest

from lifecycle.dns.answering import MANY, Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.records import NOERROR
from lifecycle.dns.service_index import ServiceIndex


def _answerer(count: int) -> Answerer:
    service = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"type": "ClusterIP", "clusterIP": "None", "ports": []},
    }
    many = {
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [f"10.1.{number // 250}.{number % 250 + 1}"]} for number in range(count)],
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    }
    return Answerer(KubernetesPlugin(ServiceIndex.of([service], [many], ["shop"], 7)))


@pytest.mark.parametrize("count", [MANY, MANY + 1, 4 * MANY])
@pytest.mark.parametrize("first", ["web.shop.svc.cluster.local.", "Web.Shop.svc.Cluster.Local."])
def test_each_asker_finds_all_addresses(count: int, first: str) -> None:
    answerer, dice = _answerer(count), random.Random(1)
    for name in (first, "web.shop.svc.CLUSTER.local.", "web.shop.svc.cluster.local.", first):
        answer = answerer.answer(name, "A")
        assert answer.rcode == NOERROR
        dealt = answer.dealt(dice, 10_000).answer
        assert len({record.data for record in dealt}) == count


@pytest.mark.parametrize("zones", [("cluster.local", "Cluster.LOCAL"), ("Cluster.LOCAL", "cluster.local")])
def test_of_many_ports_the_names_are_spelled_as_whoever_asks_spells_them(zones: tuple[str, str]) -> None:
    answerer = _answerer(2 * MANY)
    for zone in zones:
        answer = answerer.answer(f"_http._tcp.web.shop.svc.{zone}.", "SRV").dealt(random.Random(1), 10_000)
        assert len(answer.answer) == len(answer.additional) == 2 * MANY
        assert all(record.data.endswith(f".{zone}.") for record in answer.answer)


def test_what_is_kept_is_forgotten_when_told() -> None:
    answerer, name = _answerer(2 * MANY), "web.shop.svc.cluster.local."
    before = answerer.answer(name, "A")
    answerer.plugin = _answerer(MANY).plugin
    assert len(answerer.answer(name, "A").answer) == len(before.answer)
    answerer.forget()
    assert len(answerer.answer(name, "A").answer) == MANY


@pytest.mark.parametrize("name", ["web.shop.svc.cluster.local.", "_http._tcp.web.shop.svc.cluster.local."])
def test_what_was_asked_for_one_type_is_no_answer_to_another(name: str) -> None:
    found = {}
    for order in (("A", "SRV", "AAAA"), ("SRV", "AAAA", "A"), ("AAAA", "A", "SRV")):
        answerer = _answerer(2 * MANY)
        for qtype in (*order, *order):
            answer = answerer.answer(name, qtype)
            kinds = sorted({record.type for record in answer.answer})
            assert kinds in ([], [qtype])
            assert found.setdefault(qtype, (answer.rcode, len(answer.answer))) == (answer.rcode, len(answer.answer))
    assert found["AAAA"][1] == 0
    assert found["A"][1] == 2 * MANY


@pytest.mark.parametrize("count", [2, 2 * MANY])
@pytest.mark.parametrize("qtype", ["A", "SRV"])
def test_who_asks_after_somebody_who_shouts_is_answered_quietly(count: int, qtype: str) -> None:
    """Nobody is told how another has spelled the name."""
    answerer = _answerer(count)
    asked = "web.shop.svc.cluster.local."
    answerer.answer(asked.upper(), qtype)
    answer = answerer.answer(asked, qtype)
    assert len(answer.answer) >= 2
    assert {record.name for record in answer.answer} == {asked}
    assert not any(letter.isupper() for record in answer.answer if qtype == "SRV" for letter in record.data)
