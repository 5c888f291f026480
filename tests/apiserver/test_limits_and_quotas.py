"""Limit ranges and quotas: what a namespace may use, and by what it is counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, conflict
from lifecycle.apiserver.admission import resource_quota
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.limit_ranger import LimitRanger
from lifecycle.apiserver.admission.resource_quota import ResourceQuota
from lifecycle.apiserver.storage.object_reader import StaticReader
from tests.apiserver.test_admission import attributes, pod, refused


def limit_range(*limits: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "lr", "namespace": "n"},
        "spec": {"limits": list(limits)},
    }


def test_claims_have_bounds_too() -> None:
    plugin = LimitRanger(
        StaticReader(
            [limit_range({"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}})]
        )
    )

    def claim(size: str) -> Attributes:
        spec = {"resources": {"requests": {"storage": size}}}
        return attributes({"metadata": {"name": "c"}, "spec": spec}, "persistentvolumeclaims")

    plugin.validate(claim("1500Mi"))
    assert "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi" in refused(
        plugin, "validate", claim("3Gi")
    )
    assert "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi" in refused(
        plugin, "validate", claim("1Mi")
    )


def test_an_init_container_counts_if_it_needs_more_than_all_others_together() -> None:
    plugin = LimitRanger(StaticReader([limit_range({"type": "Pod", "max": {"cpu": "3"}})]))

    def asks(cpu: str) -> Object:
        return {"name": "c" + cpu, "resources": {"limits": {"cpu": cpu}}}

    plugin.validate(attributes(pod(containers=[asks("1"), asks("2")], initContainers=[asks("3")])))
    too_much = attributes(pod(containers=[asks("1"), asks("1")], initContainers=[asks("4")]))
    assert "maximum cpu usage per Pod is 3, but limit is 4" in refused(plugin, "validate", too_much)
    plugin.validate(attributes(pod(containers=[asks("1"), {"name": "x"}])))  # one that says nothing adds nothing
    unknown = attributes(pod(containers=[{"name": "x"}, {"name": "y"}]))
    assert "maximum cpu usage per Pod is 3.  No limit is specified" in refused(plugin, "validate", unknown)


def test_sidecars_add_up_and_the_pod_itself_has_the_last_word() -> None:
    plugin = LimitRanger(StaticReader([limit_range({"type": "Pod", "max": {"cpu": "3"}})]))

    def asks(name: str, cpu: str, **more: str) -> Object:
        return {"name": name, "resources": {"limits": {"cpu": cpu}}, **more}

    sidecar = asks("s", "2", restartPolicy="Always")
    beside = attributes(pod(containers=[asks("c", "2")], initContainers=[sidecar]))
    assert "maximum cpu usage per Pod is 3, but limit is 4" in refused(plugin, "validate", beside)
    before = attributes(pod(containers=[asks("c", "1")], initContainers=[sidecar, asks("i", "2")]))
    assert "but limit is 4" in refused(plugin, "validate", before)
    named = attributes(pod(containers=[asks("c", "2")], initContainers=[sidecar], resources={"limits": {"cpu": "3"}}))
    plugin.validate(named)


def test_a_limit_range_looks_at_creates_and_resizes_of_pods() -> None:
    plugin = LimitRanger(StaticReader([]))
    pods, claims = resource("pods"), resource("persistentvolumeclaims")
    looked_at = [(pods, "", CREATE), (pods, "resize", UPDATE), (claims, "", CREATE), (claims, "", UPDATE)]
    others = [(pods, "", UPDATE), (pods, "status", UPDATE), (claims, "status", UPDATE)]
    assert [plugin.handles(*one) for one in looked_at + others] == [True] * 4 + [False] * 3


def quota(used: Object, hard: Object, **spec: Any) -> Object:
    status = {"hard": hard, "used": used}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "rq", "namespace": "n", "resourceVersion": "1"},
        "spec": {"hard": hard, **spec},
        "status": status,
    }


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(1, 12))
def test_concurrent_creates_never_use_more_than_the_quota(requests: list[int], hard: int) -> None:
    async def main() -> None:
        reader = StaticReader([quota({"requests.cpu": "0"}, {"requests.cpu": str(hard)})])
        row = resource("resourcequotas")

        async def update_status(new: Object) -> None:
            stored = reader.get(row, "n", "rq")
            assert stored is not None
            await asyncio.sleep(0)
            current = reader.get(row, "n", "rq")
            assert current is not None
            if current["metadata"]["resourceVersion"] != new["metadata"]["resourceVersion"]:
                raise conflict("resourcequotas", "rq")
            version = str(int(new["metadata"]["resourceVersion"]) + 1)
            reader.put({**new, "metadata": {**new["metadata"], "resourceVersion": version}})

        plugin = ResourceQuota(reader, update_status)

        async def create(cpu: int) -> int:
            container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
            waiting = plugin.validate(attributes(pod(containers=[container])))
            try:
                if waiting is not None:
                    await waiting
            except StatusError:
                return 0
            return cpu

        admitted = sum(await asyncio.gather(*map(create, requests)))
        stored = reader.get(row, "n", "rq")
        assert stored is not None
        assert admitted <= hard
        assert stored["status"]["used"]["requests.cpu"] == str(admitted)

    run_virtual(main())


def test_a_quota_counts_objects_of_any_type() -> None:
    plugin = ResourceQuota(StaticReader([quota({"count/deployments.apps": "1"}, {"count/deployments.apps": "1"})]))
    given = attributes({"metadata": {"name": "d"}, "spec": {}}, "deployments.apps")
    assert refused(plugin, "validate", given).endswith(
        "exceeded quota: rq, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1"
    )
    assert plugin.validate(attributes({"metadata": {"name": "c"}}, "configmaps", namespace="other")) is None


def test_a_quota_with_a_scope_is_about_pods_in_it() -> None:
    async def main() -> None:
        plugin = ResourceQuota(StaticReader([quota({"pods": "0"}, {"pods": "0"}, scopes=["BestEffort"])]))
        modest = pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}])
        waiting = plugin.validate(attributes(modest))
        assert waiting is not None
        await waiting
        waiting = plugin.validate(attributes(pod()))
        assert waiting is not None
        with pytest.raises(
            StatusError,
            match=r'pods "p" is forbidden: exceeded quota: rq, requested: pods=1, used: pods=0, limited: pods=0$',
        ):
            await waiting

    run_virtual(main())


def charged(*quotas: Object, given: Attributes) -> list[Object]:
    """The status of each quota after it was charged. Raises StatusError if one refuses."""
    stored: dict[str, Object] = {}

    async def update_status(new: Object) -> None:
        stored[new["metadata"]["name"]] = new["status"]["used"]

    async def main() -> None:
        waiting = ResourceQuota(StaticReader(list(quotas)), update_status).validate(given)
        if waiting is not None:
            await waiting

    run_virtual(main())
    return [stored.get(one["metadata"]["name"], one["status"]["used"]) for one in quotas]


def asking(**resources: Object) -> Object:
    return {"name": "c", "resources": resources}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [asking(requests={"cpu": "1"})], "initContainers": [asking(requests={"cpu": "3"})]}, "3"),
        ({"containers": [asking(requests={"cpu": "1"})],
          "initContainers": [{**asking(requests={"cpu": "2"}), "restartPolicy": "Always"}]}, "3"),
        ({"containers": [asking(requests={"cpu": "1"})], "resources": {"requests": {"cpu": "4"}}}, "4"),
        ({"containers": [{"name": "c"}], "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "2"}}}, "2"),
        ({"containers": [asking(requests={"cpu": "1"})], "overhead": {"cpu": "2"}}, "3"),
    ],
)  # fmt: skip
def test_what_a_pod_is_charged_for(spec: Object, expected: str) -> None:
    one = quota({"requests.cpu": "0"}, {"requests.cpu": "10"})
    assert charged(one, given=attributes(pod(**spec))) == [{"requests.cpu": expected}]


def test_only_foreign_resources_are_charged_by_request() -> None:
    names = ("requests.example.com/gpu", "example.com/gpu", "limits.example.com/gpu", "hugepages-2Mi")
    one = quota(dict.fromkeys(names, "0"), dict.fromkeys(names, "9"))
    container = asking(requests={"example.com/gpu": "2", "hugepages-2Mi": "4"}, limits={"example.com/gpu": "2"})
    (used,) = charged(one, given=attributes(pod(containers=[container])))
    assert used == {**dict.fromkeys(names, "0"), "requests.example.com/gpu": "2", "hugepages-2Mi": "4"}


def test_all_quotas_are_asked_before_one_is_exceeded() -> None:
    full = quota({"pods": "1"}, {"pods": "1"})
    compute = quota({"limits.cpu": "0"}, {"limits.cpu": "1"})
    compute["metadata"]["name"] = "second"
    plugin = ResourceQuota(StaticReader([full, compute]))
    assert refused(plugin, "validate", attributes(pod())).endswith(
        "failed quota: second: must specify limits.cpu for: c"
    )
    (used, _) = charged(quota({"pods": "0"}, {"pods": "1"}), compute, given=attributes(
        pod(containers=[{"name": "c"}], resources={"limits": {"cpu": "1"}})))  # fmt: skip
    assert used == {"pods": "1"}


@pytest.mark.parametrize(
    ("scope", "spec", "expected"),
    [
        ({"scopeName": "BestEffort", "operator": "Exists"}, {}, True),
        ({"scopeName": "BestEffort", "operator": "Exists"},
         {"containers": [asking(requests={"example.com/gpu": "1"})]}, True),
        ({"scopeName": "NotBestEffort", "operator": "Exists"}, {"resources": {"requests": {"cpu": "1"}}}, True),
        ({"scopeName": "Terminating", "operator": "Exists"}, {"activeDeadlineSeconds": 0}, True),
        ({"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a"]}, {}, True),
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}, {"priorityClassName": "b"}, False),
        ({"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
         {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
             {"topologyKey": "z", "namespaceSelector": {}}]}}}, True),
        ({"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
         {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
             {"weight": 1, "podAffinityTerm": {"topologyKey": "z"}}]}}}, False),
    ],
)  # fmt: skip
def test_which_pods_are_in_scope(scope: Object, spec: Object, expected: bool) -> None:
    one = quota({"pods": "0"}, {"pods": "1"}, scopeSelector={"matchExpressions": [scope]})
    assert charged(one, given=attributes(pod(**spec))) == [{"pods": "1" if expected else "0"}]


def test_claims_are_in_scope_by_what_they_have_and_what_they_want() -> None:
    scope = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}
    one = quota(
        {"persistentvolumeclaims": "0"}, {"persistentvolumeclaims": "5"}, scopeSelector={"matchExpressions": [scope]}
    )

    def claim(wanted: str | None, has: str | None) -> Attributes:
        obj = {"spec": {"volumeAttributesClassName": wanted}, "status": {"currentVolumeAttributesClassName": has}}
        return attributes({"metadata": {"name": "c"}, **obj}, "persistentvolumeclaims")

    for wanted, has, used in (("fast", None, "1"), ("slow", "fast", "1"), ("slow", None, "0"), (None, None, "0")):
        assert charged(one, given=claim(wanted, has)) == [{"persistentvolumeclaims": used}]


def test_devices_are_charged_to_their_class() -> None:
    key = "big.deviceclass.resource.k8s.io/devices"
    alternatives = [
        {"name": "s", "deviceClassName": "big", "allocationMode": "ExactCount", "count": 3},
        {"name": "t", "deviceClassName": "big", "allocationMode": "ExactCount", "count": 2},
    ]
    exactly = {"deviceClassName": "big", "allocationMode": "ExactCount", "count": 1}
    requests = [{"name": "a", "exactly": exactly}, {"name": "b", "firstAvailable": alternatives}]
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}
    given = attributes(claim, "resourceclaims.resource.k8s.io")
    assert charged(quota({key: "0"}, {key: "9"}), given=given) == [{key: "4"}]
    everything = {"deviceClassName": "big", "allocationMode": "All"}
    claim["spec"]["devices"]["requests"] = [{"name": "a", "exactly": everything}]
    assert charged(quota({key: "0"}, {key: "99"}), given=given) == [{key: "32"}]


def test_of_a_quota_of_many_things_only_what_an_object_uses_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["count/configmaps", "configmaps", *(f"count/r{number}.example.com" for number in range(1_000))]
    one = quota(dict.fromkeys(names, "1"), dict.fromkeys(names, "9"))
    read: list[str] = []

    def noted(text: str) -> Quantity:
        read.append(text)
        return parse_quantity(text)

    monkeypatch.setattr(resource_quota, "parse_quantity", noted)
    given = attributes({"metadata": {"name": "m"}}, "configmaps")
    assert charged(one, given=given) == [{**dict.fromkeys(names, "1"), "count/configmaps": "2", "configmaps": "2"}]
    assert len(read) == 4


def test_between_the_quotas_of_a_namespace_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    told, turns = list[str](), list[int]()

    class Turns:
        async def pause(self) -> None:
            turns.append(len(told))

    async def update_status(new: Object) -> None:
        told.append(new["metadata"]["name"])

    monkeypatch.setattr(resource_quota, "Pauses", Turns)
    many = [quota({"pods": "0"}, {"pods": "9"}) for _ in range(20)]
    for number, each in enumerate(many):
        each["metadata"] = {**each["metadata"], "name": f"q{number}"}

    async def main() -> None:
        waiting = ResourceQuota(StaticReader(many), update_status).validate(attributes(pod()))
        assert waiting is not None
        await waiting

    run_virtual(main())
    assert turns == [0] * 40 + [*range(1, 21)], "one for each that is asked, charged and written"


def test_many_containers_beside_many_amounts_are_the_workers() -> None:
    amounts = {f"example.com/r{i}": "2" for i in range(100)}
    plugin = LimitRanger(StaticReader([limit_range({"type": "Container", "default": amounts, "max": {"cpu": "1"}})]))

    def crowd(count: int, cpu: str = "1") -> Attributes:
        containers: list[Object] = [{"name": f"c{i}", "resources": {"limits": {"cpu": cpu}}} for i in range(count)]
        return attributes(pod(containers=containers))

    async def main() -> None:
        few, many, too_much = crowd(1), crowd(100), crowd(100, "2")
        assert plugin.admit(few) is None
        waiting = plugin.admit(many)
        assert waiting is not None
        assert many.obj is not None
        assert len(many.obj["spec"]["containers"][0]["resources"]["limits"]) == 1, "nothing is done yet"
        await waiting
        assert len(many.obj["spec"]["containers"][99]["resources"]["limits"]) == 101
        checking = plugin.validate(too_much)
        assert checking is not None
        with pytest.raises(
            StatusError, match=r'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2$'
        ):
            await checking

    run_virtual(main())
