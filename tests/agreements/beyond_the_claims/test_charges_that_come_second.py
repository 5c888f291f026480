"""A charge that comes between another's reading and writing makes that one count again."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.claim_checks.admission_quota import quota, refusal
from lifecycle.agreements.claim_checks.admitting import pod
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.resource_quota import ResourceQuota
from lifecycle.apiserver.storage.object_reader import StaticReader


def _written_after(*refusals: int) -> tuple[int, int]:
    """How often a charge is written if the first times are refused so, and with which
    code the pod is (0: it is not).
    """
    written: list[str] = []

    async def update(changed: Object) -> None:
        written.append(changed["status"]["used"]["pods"])
        if len(written) <= len(refusals):
            raise failure(refusals[len(written) - 1], "", "not now")

    charged = quota({"pods": "9"}, {"pods": "1"})
    refused = refusal(charged, pod(), update)
    assert set(written) == {"2"}, "each time for the one pod"
    return len(written), refused.code if refused is not None else 0


@pytest.mark.parametrize(
    ("refusals", "outcome"),
    [
        ([409] * 0, (1, 0)),
        ([409] * 1, (2, 0)),
        ([409] * 2, (3, 0)),
        ([409] * 3, (4, 0)),
        ([409] * 4, (4, 409)),
        ([403], (1, 403)),
    ],
)
def test_a_charge_that_comes_second_is_tried_three_times_more(refusals: list[int], outcome: tuple[int, int]) -> None:
    assert _written_after(*refusals) == outcome


def test_all_that_is_exceeded_is_told_in_the_order_of_names() -> None:
    hard = {"requests.memory": "1Mi", "pods": "1", "requests.cpu": "1", "limits.cpu": "9"}
    used = {"requests.memory": "0", "pods": "1", "requests.cpu": "900m", "limits.cpu": "0"}
    asks = pod(requests={"memory": "2Mi", "cpu": "200m"}, limits={"cpu": "1"})
    refused = refusal(quota(hard, used), asks)
    assert refused is not None
    assert refused.message.endswith(
        "exceeded quota: q, requested: pods=1,requests.cpu=200m,requests.memory=2Mi, "
        "used: pods=1,requests.cpu=900m,requests.memory=0, limited: pods=1,requests.cpu=1,requests.memory=1Mi"
    )


def _service(kind: str, ports: int = 1) -> Object:
    spec = {"type": kind, "ports": [{"port": number + 1} for number in range(ports)]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}


def _claim(storage: str) -> Object:
    spec = {"resources": {"requests": {"storage": storage}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": spec}


def _dated(seconds: int | None) -> Object:
    made = pod()
    return {**made, "spec": {**made["spec"], **({} if seconds is None else {"activeDeadlineSeconds": seconds})}}


CHANGES: dict[str, tuple[str, Object, Object, Object, Object | str]] = {
    # the resource, what it was and is; the quota's limits; what is used afterwards, beside what was, or why not
    "as it was": ("services", _service("ClusterIP"), _service("ClusterIP"), {"services": "1"}, {}),
    "a node port more": (
        "services", _service("ClusterIP"), _service("NodePort"), {"services": "1", "services.nodeports": "2"},
        {"services.nodeports": "2"},
    ),
    "two node ports more": (
        "services", _service("ClusterIP"), _service("NodePort", 2), {"services": "1", "services.nodeports": "2"},
        "requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2",
    ),
    "one of two more": (
        "services", _service("NodePort"), _service("NodePort", 2), {"services": "1", "services.nodeports": "2"},
        {"services.nodeports": "2"},
    ),
    "one fewer": (
        "services", _service("NodePort", 2), _service("NodePort"), {"services": "1", "services.nodeports": "1"}, {},
    ),
    "larger": (
        "persistentvolumeclaims", _claim("1Gi"), _claim("3Gi"),
        {"persistentvolumeclaims": "1", "requests.storage": "9Gi"}, {"requests.storage": "3Gi"},
    ),
    "too large": (
        "persistentvolumeclaims", _claim("1Gi"), _claim("3Gi"),
        {"persistentvolumeclaims": "1", "requests.storage": "2Gi"},
        "requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi",
    ),
    "smaller": (
        "persistentvolumeclaims", _claim("3Gi"), _claim("1Gi"),
        {"persistentvolumeclaims": "1", "requests.storage": "1Gi"}, {},
    ),
}  # fmt: skip


def changed(plural: str, before: Object, now: Object, charged: Object) -> Object | str:
    """What is used afterwards, or why the change is refused."""
    written = list[Object]()

    async def update(quota: Object) -> None:
        written.append(quota["status"]["used"])

    async def main() -> str:
        plugin = ResourceQuota(StaticReader([charged]), update)
        try:
            waiting = plugin.validate(Attributes(UPDATE, resource(plural), "", "default", "x", now, before))
            if waiting is not None:
                await waiting
        except StatusError as error:
            return error.message
        return ""

    refused = on_a_loop(main())
    return refused or (written[-1] if written else {})


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_costs_what_it_adds_and_gives_nothing_back(case: str) -> None:
    """What is given back the controller counts. Upstream: `checkRequest`, which subtracts the usage of before."""
    plural, before, now, hard, after = CHANGES[case]
    used = {name: "1Gi" if "storage" in name else "1" for name in hard}
    found = changed(plural, before, now, quota(hard, used))
    if isinstance(after, str):
        assert str(found).endswith(after)
    else:
        assert found == ({**used, **after} if after else {})


@pytest.mark.parametrize(
    ("before", "now", "charged"), [(None, 60, True), (60, 30, False), (60, None, False), (None, None, False)]
)
def test_what_comes_into_a_quotas_scope_costs_all_that_it_is(
    before: int | None, now: int | None, charged: bool
) -> None:
    """Upstream: `checkRequest`: what did not match before is not subtracted."""
    scoped: Any = quota({"pods": "9"}, {"pods": "1"})
    scoped["spec"]["scopes"] = ["Terminating"]
    found = changed("pods", _dated(before), _dated(now), scoped)
    assert found == ({"pods": "2"} if charged else {})


@pytest.mark.parametrize(
    ("uses", "charged"),
    [
        (["1", "2", "3"], ["2", "3", "4"]),
        (["9", "2"], []),  # whoever refuses keeps the others from being charged, wherever it stands
        (["2", "9"], []),
    ],
)
def test_every_quota_of_a_namespace_is_charged_or_none_is(uses: list[str], charged: list[str]) -> None:
    """Upstream: `checkQuotas`, which asks them all before it writes."""
    written = dict[str, str]()
    quotas = []
    for number, used in enumerate(uses):
        made = quota({"pods": "9"}, {"pods": used})
        quotas.append({**made, "metadata": {**made["metadata"], "name": f"q{number}"}})

    async def update(changed: Object) -> None:
        written[changed["metadata"]["name"]] = changed["status"]["used"]["pods"]

    async def main() -> int:
        plugin = ResourceQuota(StaticReader(quotas), update)
        try:
            waiting = plugin.validate(Attributes(CREATE, resource("pods"), "", "default", "p", pod()))
            if waiting is not None:
                await waiting
        except StatusError as error:
            return error.code
        return 0

    assert on_a_loop(main()) == (0 if charged else 403)
    assert written == {f"q{number}": used for number, used in enumerate(charged)}
