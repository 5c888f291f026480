"""What kube-proxy says of itself. Upstream: `pkg/proxy/healthcheck/healthcheck_test.go`, `TestHealthzServer`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.proxy_health import NEVER, TO_BE_DELETED_TAINT, ProxyHealth
from tests.fake_api import FakeAPI
from tests.proxy.shapes import service

TIMEOUT = 60.0


def node(*taints: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "here", **metadata}, "spec": {"taints": [{"key": key} for key in taints]}}


def wrote(health: ProxyHealth) -> None:
    health.sync_begins()
    health.updated()


def test_a_change_may_wait_for_its_rules_but_not_for_too_long() -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        seen = [health.is_healthy()]
        health.queued_update()
        for seconds in (59, 1):
            await asyncio.sleep(seconds)
            seen.append(health.is_healthy())
            health.queued_update()  # another one does not make it younger
        wrote(health)
        seen.append(health.is_healthy())
        await asyncio.sleep(1000)  # nothing changes: old rules are right
        assert [*seen, health.is_healthy()] == [True, True, False, True, True]

    run_virtual(main())


def test_a_sync_that_fails_before_it_looks_at_changes_does_not_make_them_younger() -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        health.queued_update()
        await asyncio.sleep(30)
        health.sync_failed()
        await asyncio.sleep(30)
        assert not health.is_healthy()

    run_virtual(main())


def test_the_oldest_change_counts() -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        health.queued_update()
        await asyncio.sleep(40)
        health.sync_begins()
        health.sync_failed()
        health.queued_update()
        await asyncio.sleep(20)
        assert not health.is_healthy()
        health.sync_begins()
        assert not health.is_healthy()  # it is only being written
        health.queued_update()  # too late for this sync
        health.updated()
        await asyncio.sleep(59)
        assert health.is_healthy()
        await asyncio.sleep(1)
        assert not health.is_healthy()

    run_virtual(main())


def test_a_sync_that_fails_though_nothing_changed_waits_from_then_on() -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        wrote(health)
        await asyncio.sleep(1000)
        health.sync_begins()
        health.sync_failed()
        assert health.is_healthy()
        await asyncio.sleep(60)
        assert not health.is_healthy()

    run_virtual(main())


@pytest.mark.parametrize(
    "leaving",
    [node(TO_BE_DELETED_TAINT), node("other", TO_BE_DELETED_TAINT), node(deletionTimestamp="2027-01-01T00:00:00Z")],
)
def test_a_node_that_is_going_away_is_alive_but_wants_no_traffic(leaving: dict[str, Any]) -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        wrote(health)
        health.sync_node(node("other"))
        assert (health.healthz()[0], health.livez()[0]) == (200, 200)
        health.sync_node(leaving)
        status, body = health.healthz()
        said = json.loads(body)
        assert (status, said["nodeEligible"], said["healthy"]) == (503, False, True)
        assert health.livez()[0] == 200
        health.sync_node(node())
        assert health.healthz()[0] == 200
        assert health.answers == {("healthz", 200): 2, ("healthz", 503): 1, ("livez", 200): 2}

    run_virtual(main())


def test_the_answers_are_those_of_kube_proxy() -> None:
    async def main() -> None:
        health = ProxyHealth(Clock(), TIMEOUT)
        start = health._clock.micro_timestamp()
        assert json.loads(health.livez()[1]) == {
            "lastUpdated": start,
            "currentTime": start,
            "healthy": True,
            "status": {},
        }
        health.queued_update()
        await asyncio.sleep(60)
        assert json.loads(health.livez()[1])["lastUpdated"] == NEVER
        wrote(health)
        written = health._clock.micro_timestamp()
        health.queued_update()
        await asyncio.sleep(30)
        now, family = health._clock.micro_timestamp(), {"lastUpdated": written, "healthy": True}
        body = {
            "lastUpdated": now,
            "currentTime": now,
            "nodeEligible": True,
            "healthy": True,
            "status": {"IPv4": family},
        }
        assert health.healthz() == (200, json.dumps(body, separators=(",", ":")))
        await asyncio.sleep(30)
        status, text = health.livez()
        said = json.loads(text)
        assert (status, said["lastUpdated"], said["healthy"]) == (503, written, False)
        assert said["status"] == {"IPv4": {"lastUpdated": written, "healthy": False}}

    run_virtual(main())


def test_the_proxier_says_when_it_is_behind_and_when_its_node_is_leaving() -> None:
    async def main() -> None:
        client, sink = Client(FakeAPI(), "kube-proxy"), TextRunner()
        informers = SharedInformerFactory(client)
        proxier = Proxier(client, informers, node_name="here", node_ip="192.168.0.2", clock=Clock(), sink=sink)
        proxier.on_service(service("s", "10.96.0.1"))
        await asyncio.sleep(60)
        assert proxier.health.livez()[0] == 503
        await proxier.sync()
        assert (proxier.health.livez()[0], proxier.health.healthz()[0]) == (200, 200)
        proxier.on_node({"metadata": {"name": "there", "deletionTimestamp": "2027-01-01T00:00:00Z"}})
        assert proxier.health.healthz()[0] == 200
        proxier.on_node(node(TO_BE_DELETED_TAINT))
        assert proxier.health.healthz()[0] == 503

    run_virtual(main())
