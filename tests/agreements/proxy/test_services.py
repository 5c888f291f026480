"""The table of Services: full agreement with both recordings of 1.36, and a changed rule shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.agreements.proxy.services import services_agreement, slices_for
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.service import store as registry
from lifecycle.apiserver.server.repair_ip_addresses import RepairIPAddresses
from lifecycle.client.indexer import Indexer
from lifecycle.compare import AgreementTable
from lifecycle.inspector import open_recording


def different(table: AgreementTable) -> set[str]:
    return {row.input for row in table.rows if not row.equal}


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_recorded_answer_is_ours(name: str) -> None:
    table = services_agreement(open_recording(name))
    assert table.equal, table.unexplained[:3]
    assert table.total > 3300
    assert len(table.rows) == 29


def test_an_address_outside_the_lock_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that forgets to record what it gave out, and never looks again."""

    async def nothing(self: Any, addresses: Any, service: Object) -> list[str]:
        return []

    monkeypatch.setattr(registry.ServiceAddresses, "take", nothing)
    monkeypatch.setattr(RepairIPAddresses, "start", lambda _: None)
    assert different(services_agreement(open_recording())) == {"GET /apis/networking.k8s.io/v1/ipaddresses"}


def test_a_dual_stack_default_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(service: Object, old: Object | None) -> None:
        spec = service["spec"]
        spec["ipFamilyPolicy"], spec["ipFamilies"] = "PreferDualStack", ["IPv4"]

    monkeypatch.setattr(registry, "init_ip_family_fields", generous)
    rows = different(services_agreement(open_recording()))
    assert "GET /api/v1/…/services" in rows
    assert "POST /api/v1/…/services" in rows


def _unready(found: list[Object]) -> list[Object]:
    for endpoint_slice in found:
        for endpoint in endpoint_slice["endpoints"] or ():
            endpoint["conditions"]["ready"] = False
    return found


@pytest.mark.parametrize(
    "change", [_unready, lambda found: [{**s, "ports": None} for s in found], lambda found: found[:-1]]
)
def test_a_wrong_slice_shows(change: Callable[[list[Object]], list[Object]]) -> None:
    def wrong(service: Object, pods: list[Object], nodes: Indexer) -> list[Object]:
        return change(slices_for(service, pods, nodes))

    rows = different(services_agreement(open_recording(), work=wrong))
    assert "slices worked out, all shapes" in rows
    assert all(row.startswith("slices worked out") for row in rows)
