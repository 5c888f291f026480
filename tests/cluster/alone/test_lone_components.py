"""Components by themselves: when they are ready, what they count, and that they leave nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.version import user_agent
from lifecycle.client.rest import Client
from lifecycle.cluster.alone import proxy
from lifecycle.cluster.alone.controllers import LoneControllers, ManagerOptions
from lifecycle.cluster.alone.dns import CountingDNS, DNSOptions, LoneDNS
from lifecycle.cluster.alone.scheduler import LoneScheduler
from tests.fake_api import FakeAPI


class Connected:
    """In the place of a `Connection`; `agents`: who asked, with credentials and without."""

    def __init__(self) -> None:
        self.api, self.agents, self.nobody = FakeAPI(), set[str](), list[str]()
        self.config = SimpleNamespace(ca=b"the authority")

    async def round_trip(self, request: Request) -> Response:
        self.agents.add(request.headers["user-agent"].partition("/")[0])
        return await self.api.round_trip(request)

    async def close(self) -> None:
        """Nothing is held."""

    def client(self, component: str, role: str = "") -> Client:
        return Client(self, user_agent(component, role))

    def anonymous(self) -> Any:
        self.nobody.append("asked for")
        return self


def played(scene: Callable[[Connected], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        before = asyncio.all_tasks()
        result = await scene(Connected())
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before, "nothing is left running"
        return result

    return run_virtual(main())


async def lived(component: Any) -> tuple[list[str], str]:
    """What was not ready before and after it began, and what it counted while it ran."""
    (check,) = component.readyz().values()
    problems = [check()]
    running = asyncio.ensure_future(component.run())
    await component.until_ready()
    problems.append(check())
    counted = await component.metrics()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return problems, counted


ONLY = ManagerOptions(controllers=("replicaset-controller",), use_service_account_credentials=False)


def test_controllers_are_ready_with_their_first_lists_and_say_which_of_them_run() -> None:
    async def scene(connected: Connected) -> Any:
        component = LoneControllers(connected, Clock(), ONLY)  # type: ignore[arg-type]
        assert list(component.readyz()) == ["informer-sync"]
        before = await component.metrics()
        return before, *await lived(component), connected.agents

    before, problems, counted, agents = played(scene)
    assert problems == ["waiting for the first lists", ""]
    name = 'running_managed_controllers{manager="kube-controller-manager",name="replicaset-controller"}'
    assert before == (
        "# HELP running_managed_controllers Indicates where instances of a controller are currently running\n"
        f"# TYPE running_managed_controllers gauge\n{name} 0\n"
    )
    assert counted == before.replace(" 0\n", " 1\n")
    assert agents == {"kube-controller-manager"}


@pytest.mark.parametrize("own", [True, False])
def test_controllers_have_accounts_of_their_own_only_if_they_are_told_so(own: bool) -> None:
    async def scene(connected: Connected) -> list[str]:
        LoneControllers(connected, Clock(), ManagerOptions(use_service_account_credentials=own))  # type: ignore[arg-type]
        return connected.nobody

    assert bool(played(scene)) is own


def test_a_scheduler_is_ready_with_its_first_lists_and_counts_its_queues() -> None:
    async def scene(connected: Connected) -> Any:
        pod = {
            "metadata": {"name": "p", "namespace": "shop", "uid": "u"},
            "spec": {"containers": [], "schedulerName": "default-scheduler"},
        }
        connected.api.write("ADDED", resource("pods"), pod)
        component = LoneScheduler(connected, Clock())  # type: ignore[arg-type]
        assert list(component.readyz()) == ["informer-sync"]
        problems, counted = await lived(component)
        return problems, counted, connected.agents

    problems, counted, agents = played(scene)
    assert problems == ["waiting for the first lists", ""]
    lines = counted.splitlines()
    assert lines[0] == (
        "# HELP scheduler_pending_pods Number of pending pods, by the queue type. 'active' means number of pods in activeQ;"
        " 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the"
        " scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never"
        " attempted to schedule because they are gated."
    )
    assert lines[1] == "# TYPE scheduler_pending_pods gauge"
    counts = dict(line.rsplit(" ", 1) for line in lines[2:])
    assert set(counts) == {
        f'scheduler_pending_pods{{queue="{name}"}}' for name in ("active", "backoff", "gated", "unschedulable")
    }
    assert agents == {"kube-scheduler"}


def test_answers_of_the_dns_are_counted_by_their_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(connected: Connected) -> Any:
        component = LoneDNS(connected, Clock(), DNSOptions(cluster_domain="a.b", ttl=5), lambda line: None)  # type: ignore[arg-type]
        assert list(component.readyz()) == ["kubernetes"]
        assert [check() for check in component.readyz().values()] == ["waiting for the first lists"]
        server = component._server
        assert isinstance(server, CountingDNS)
        assert await component.metrics() == "", "nobody has asked"
        server.port = 5353
        server.responses.update(["NOERROR", "NXDOMAIN", "NOERROR"])
        return await component.metrics()

    server = 'server="dns://127.0.0.1:5353",zone="a.b."'
    assert played(scene) == (
        "# HELP coredns_dns_responses_total Counter of response status codes.\n"
        "# TYPE coredns_dns_responses_total counter\n"
        f'coredns_dns_responses_total{{rcode="NOERROR",{server}}} 2\n'
        f'coredns_dns_responses_total{{rcode="NXDOMAIN",{server}}} 1\n'
    )


def test_where_the_dns_is_is_told_once_it_knows_the_cluster() -> None:
    told: list[str] = []

    async def scene(connected: Connected) -> None:
        component = LoneDNS(connected, Clock(), DNSOptions(port=0), told.append)  # type: ignore[arg-type]
        component._server.port = 5353
        waiting = asyncio.ensure_future(component.until_ready())
        await asyncio.sleep(1)
        assert told == []
        component._server.started.set()
        await waiting

    played(scene)
    assert told == ["dns: 127.0.0.1:5353 (try dig @127.0.0.1 -p 5353 kubernetes.default.svc.cluster.local)"]


class Proxied:
    """In the place of a `Proxier`: keeps what it was made of."""

    made: dict[str, Any]

    def __init__(self, *words: Any, **options: Any) -> None:
        Proxied.made, self.synced = options, asyncio.Event()

    async def run(self) -> None:
        self.synced.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("status", "node_ip"),
    [
        (
            {"addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.7"}]},
            "10.0.0.7",
        ),
        ({"addresses": [{"type": "Hostname", "address": "n"}]}, "127.0.0.1"),
        ({}, "127.0.0.1"),
        (None, "127.0.0.1"),
    ],
)
def test_a_proxy_is_its_nodes_and_ready_with_the_first_rules(
    monkeypatch: pytest.MonkeyPatch, status: Any, node_ip: str
) -> None:
    monkeypatch.setattr(proxy, "Proxier", Proxied)
    monkeypatch.setattr(proxy, "proxier_metrics", lambda proxier: f"metrics of {type(proxier).__name__}")
    printed: list[str] = []

    async def scene(connected: Connected) -> Any:
        connected.api.write("ADDED", resource("nodes"), {"metadata": {"name": "n"}, "status": status})
        options = proxy.ProxyOptions("n", dry_run=True)
        component = proxy.LoneProxy(connected, Clock(), options, printed.append)  # type: ignore[arg-type]
        assert list(component.readyz()) == ["rules"]
        assert await component.metrics() == ""
        problems, counted = await lived(component)
        await Proxied.made["sink"].restore_all("*nat\nCOMMIT\n")
        return problems, counted, connected.agents

    problems, counted, agents = played(scene)
    assert problems == ["the rules are not in place", ""]
    assert counted == "metrics of Proxied"
    assert agents == {"kube-proxy"}
    assert printed == ["*nat\nCOMMIT\n"]
    assert (Proxied.made["node_name"], Proxied.made["node_ip"]) == ("n", node_ip)
    assert (Proxied.made["listen"], Proxied.made["conntrack"]) == (None, None), "a dry run touches nothing"
