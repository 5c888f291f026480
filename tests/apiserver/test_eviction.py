"""An eviction asks the budget; what it is told, word for word, and what is left behind in the statuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.storage.cacher import cached_object
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

PODS, BUDGETS = resource("pods"), resource("poddisruptionbudgets.policy")
WEB = {"app": "web"}
Scene = Callable[[RehearsedCluster, Client], Awaitable[None]]


def guarded(scene: Scene, replicas: int = 2, image: str = "nginx", gates: Sequence[Object] = (), **spec: Any) -> None:
    """Play a scene with a running deployment and a budget over it."""

    async def main(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        if spec:
            body = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": WEB}, **spec}}
            await client.create(BUDGETS, body, "default")
        template: Object = {"metadata": {"labels": WEB}, "spec": {"containers": [{"name": "c", "image": image}]}}
        template["spec"]["readinessGates"] = list(gates)
        deployment = {"replicas": replicas, "selector": {"matchLabels": WEB}, "template": template}
        await client.create(resource("deployments.apps"), {"metadata": {"name": "web"}, "spec": deployment}, "default")
        await asyncio.sleep(10)
        await scene(cluster, client)

    rehearse(main)


async def names(cluster: RehearsedCluster) -> list[str]:
    return [
        pod["metadata"]["name"] for pod in await cluster.items("pods") if "deletionTimestamp" not in pod["metadata"]
    ]


async def evict(client: Client, name: str, **options: Any) -> Object:
    body: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    if options:
        body["deleteOptions"] = options
    return await client.create(PODS, body, "default", name=name, subresource="eviction")


async def refused(client: Client, name: str, **options: Any) -> tuple[int, str, Object]:
    with pytest.raises(StatusError) as caught:
        await evict(client, name, **options)
    return caught.value.code, caught.value.message, caught.value.status["details"]


async def budget(client: Client) -> Object:
    return await client.get(BUDGETS, "b", "default")


def test_the_last_allowed_disruption_is_taken_once() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, second = await names(cluster)
        answer = await evict(client, first)
        assert answer["status"] == "Success"
        told = (await budget(client))["status"]
        assert told["disruptionsAllowed"] == 0
        assert list(told["disruptedPods"]) == [first]
        assert [(c["status"], c["reason"]) for c in told["conditions"]] == [("False", "InsufficientPods")]
        code, message, details = await refused(client, second)
        assert (code, message) == (429, "Cannot evict pod as it would violate the pod's disruption budget.")
        assert details["causes"][0]["reason"] == "DisruptionBudget"
        await asyncio.sleep(60)  # the replacement runs
        await evict(client, second)

    guarded(scene, minAvailable=1)


def test_a_budget_that_allows_nothing_says_what_it_needs() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, _ = await names(cluster)
        _, _, details = await refused(client, first)
        assert details == {
            "causes": [
                {
                    "reason": "DisruptionBudget",
                    "message": "The disruption budget b needs 2 healthy pods and has 2 currently",
                }
            ]
        }
        assert len(await names(cluster)) == 2

    guarded(scene, minAvailable=2)


def test_a_budget_its_controller_has_not_seen_is_still_being_processed() -> None:
    async def main(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        pod: Object = {
            "metadata": {"name": "p", "labels": WEB},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]},
        }
        await client.create(resource("serviceaccounts"), {"metadata": {"name": "default"}}, "default")
        pod = await client.create(PODS, pod, "default")
        await client.update(PODS, pod | {"status": {"phase": "Running"}}, subresource="status")
        body = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": WEB}, "minAvailable": 0}}
        await client.create(BUDGETS, body, "default")
        code, _, details = await refused(client, "p")
        assert code == 429
        message = "The disruption budget b is still being processed by the server."
        assert details == {"causes": [{"reason": "DisruptionBudget", "message": message}], "retryAfterSeconds": 10}

    rehearse(main, without=("controllers", "kubelet", "scheduler"))


@pytest.mark.parametrize(("waiting", "too_many"), [(2000, False), (2001, True)])
def test_only_so_many_evictions_may_wait_for_the_controller(waiting: int, too_many: bool) -> None:
    async def main(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        await client.create(resource("serviceaccounts"), {"metadata": {"name": "default"}}, "default")
        spec = {"containers": [{"name": "c", "image": "nginx"}]}
        pod = await client.create(PODS, {"metadata": {"name": "p", "labels": WEB}, "spec": spec}, "default")
        await client.update(PODS, pod | {"status": {"phase": "Running"}}, subresource="status")
        body = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": WEB}, "minAvailable": 0}}
        made = await client.create(BUDGETS, body, "default")
        listed = {f"p{n}": "2026-01-01T00:00:00Z" for n in range(waiting)}
        counts = {"currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1, "disruptionsAllowed": 1}
        status = {"observedGeneration": 1, "disruptedPods": listed, **counts}
        await client.update(BUDGETS, made | {"status": status}, subresource="status")
        if not too_many:
            assert (await evict(client, "p", dryRun=["All"]))["status"] == "Success"
            return
        code, message, _ = await refused(client, "p", dryRun=["All"])
        assert code == 403
        assert message.endswith("DisruptedPods map too big - too many evictions not confirmed by PDB controller")

    rehearse(main, without=("controllers", "kubelet", "scheduler"))


def test_selectors_of_budgets_are_read_once_however_many_evictions_ask_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def reading(selector: Any) -> Any:
        read.append(selector)
        return selector_from_label_selector(selector)

    monkeypatch.setattr(cached_object, "selector_from_label_selector", reading)

    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        for number in range(5):
            selector: Object = {"matchLabels": {"app": f"other{number}"}}
            body: Object = {"metadata": {"name": f"other{number}"}, "spec": {"selector": selector, "minAvailable": 1}}
            await client.create(BUDGETS, body, "default")
        elsewhere = {"metadata": {"name": "elsewhere"}, "spec": {"selector": {"matchLabels": WEB}, "minAvailable": 9}}
        await client.create(BUDGETS, elsewhere, "kube-system")
        await asyncio.sleep(10)
        for name in await names(cluster):
            await evict(client, name, dryRun=["All"])
            await evict(client, name, dryRun=["All"])
        assert len(read) == 1 + 5, "its own and the five others, each of them once; what is elsewhere is not asked"
        body = await client.get(BUDGETS, "other0", "default")
        await client.update(BUDGETS, {**body, "spec": {**body["spec"], "selector": {"matchLabels": WEB}}})
        with pytest.raises(StatusError) as refused:
            await evict(client, (await names(cluster))[0], dryRun=["All"])
        assert refused.value.code == 500, "the new selector counts: now there are two"

    guarded(scene, minAvailable=1)


def test_what_is_superseded_keeps_no_selector() -> None:
    cached = Cached("/b", {"spec": {"selector": {"matchLabels": WEB}}}, 7)
    assert cached.selector is cached.selector
    assert cached.selector.matches({"app": "web", "more": "labels"})
    assert not cached.selector.matches({"app": "other"})
    cached.superseded()
    assert cached._selector is None
    assert Cached("/c", {}, 8).selector.nothing


def test_an_evicted_pod_says_who_took_it_away() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, _ = await names(cluster)
        await evict(client, first)
        pod = await client.get(PODS, first, "default")
        [condition] = [c for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget"]
        assert (condition["reason"], condition["message"]) == ("EvictionByEvictionAPI", "Eviction API: evicting")
        assert "deletionTimestamp" in pod["metadata"]

    guarded(scene)


def test_a_dry_run_takes_nothing() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        before = await budget(client)
        await evict(client, (await names(cluster))[0], dryRun=["All"])
        assert await budget(client) == before
        assert len(await names(cluster)) == 2

    guarded(scene, minAvailable=1)


def test_a_pod_that_never_ran_needs_no_leave() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, _ = await names(cluster)
        await evict(client, first)
        assert "disruptedPods" not in (await budget(client))["status"]

    guarded(scene, image="registry.invalid/x:1", minAvailable=2)


@pytest.mark.parametrize(("policy", "goes"), [("IfHealthyBudget", False), ("AlwaysAllow", True)])
def test_a_pod_that_is_not_ready_goes_if_the_policy_lets_it(policy: str, goes: bool) -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, _ = await names(cluster)
        if goes:
            await evict(client, first)
        else:
            assert (await refused(client, first))[0] == 429

    guarded(scene, gates=[{"conditionType": "nobody/sets-it"}], minAvailable=2, unhealthyPodEvictionPolicy=policy)


def test_two_budgets_are_one_too_many() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        again = {"metadata": {"name": "c"}, "spec": {"selector": {"matchLabels": WEB}, "minAvailable": 1}}
        await client.create(BUDGETS, again, "default")
        with pytest.raises(StatusError, match=r"^This pod has more than one PodDisruptionBudget") as refused:
            await evict(client, (await names(cluster))[0])
        assert refused.value.code == 500

    guarded(scene, minAvailable=1)


def test_a_wish_for_another_pod_is_a_conflict() -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        code, message, _ = await refused(client, (await names(cluster))[0], preconditions={"uid": "another"})
        assert code == 409
        assert "the UID in the precondition (another) does not match" in message

    guarded(scene)


@pytest.mark.parametrize("version", ["policy/v1", "policy/v1beta1", ""])
def test_both_versions_of_an_eviction_are_taken(version: str) -> None:
    async def scene(cluster: RehearsedCluster, client: Client) -> None:
        first, second = await names(cluster)
        body: Object = {"apiVersion": version, "kind": "Eviction", "metadata": {"name": first}}
        answer = await client.create(PODS, body, "default", name=first, subresource="eviction")
        assert answer["status"] == "Success"
        assert first not in await names(cluster)
        other = {**body, "apiVersion": "policy/v2", "metadata": {"name": second}}
        with pytest.raises(
            StatusError,
            match=r'Eviction in version "v2" cannot be handled as a Eviction: no kind "Eviction" is registered for '
            r'version "policy/v2" in scheme "pkg/api/legacyscheme/scheme\.go:30"$',
        ):
            await client.create(PODS, other, "default", name=second, subresource="eviction")
        misspelt = {**body, "spec": {}, "metadata": {"name": second}}
        path = PODS.path("default", second, "eviction")
        with pytest.raises(StatusError, match=r'unknown field "spec"$'):
            await client.request("POST", path, query={"fieldValidation": "Strict"}, obj=misspelt)

    guarded(scene)
