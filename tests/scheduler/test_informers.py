"""What the scheduler watches, and which lister asks which of its informers."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.informers import SchedulerInformers
from tests.fake_api import FakeAPI

WATCHED = {
    "pods", "nodes", "namespaces", "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io",
    "csinodes.storage.k8s.io", "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io", "resourceclaims.resource.k8s.io",
    "deviceclasses.resource.k8s.io", "poddisruptionbudgets.policy", "services", "replicasets.apps", "replicationcontrollers",
    "statefulsets.apps",
}  # fmt: skip

GET = {
    "get_claim": ("persistentvolumeclaims", "ns/o"), "get_volume": ("persistentvolumes", "o"),
    "get_class": ("storageclasses.storage.k8s.io", "o"), "get_csi_node": ("csinodes.storage.k8s.io", "o"),
    "get_csi_driver": ("csidrivers.storage.k8s.io", "o"), "get_resource_claim": ("resourceclaims.resource.k8s.io", "ns/o"),
    "get_device_class": ("deviceclasses.resource.k8s.io", "o"),
}  # fmt: skip
LIST = {
    "list_budgets": "poddisruptionbudgets.policy", "list_volumes": "persistentvolumes",
    "list_capacities": "csistoragecapacities.storage.k8s.io",
}  # fmt: skip

KINDS = {
    "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "ResourceClaim",
    "DeviceClass",
}  # fmt: skip


def plant(api: FakeAPI, name: str, **more: object) -> Object:
    kind = resource(name)
    metadata = {"name": "o", **({"namespace": "ns"} if kind.namespaced else {}), "labels": {"from": name}}
    return api.write("ADDED", kind, {"metadata": metadata, **more})


def test_each_lister_asks_the_informer_of_its_kind() -> None:
    async def main() -> None:
        api = FakeAPI()
        planted = {name: plant(api, name, spec={"selector": {"app": name}}) for name in sorted(WATCHED - {"pods"})}
        factory = SharedInformerFactory(Client(api, "scheduler/1"))
        watched = SchedulerInformers(factory)
        assert {kind: i.resource.kind for kind, i in watched.others.items()} == {kind: kind for kind in KINDS}
        assert (watched.pods.resource.plural, watched.nodes.resource.plural) == ("pods", "nodes")
        awaited = {str(informer.resource) for informer in watched.all_but_pods()}
        assert awaited == {str(resource(name)) for name in WATCHED - {"pods"}}
        factory.start()
        await asyncio.sleep(1)
        listers = watched.listers()
        for lister, (name, key) in GET.items():
            assert getattr(listers, lister)(key)["metadata"] == planted[name]["metadata"], lister
            assert getattr(listers, lister)("ns/other") is None
        for lister, name in LIST.items():
            assert [found["metadata"] for found in getattr(listers, lister)()] == [planted[name]["metadata"]], lister
        assert listers.labels_of_namespace("o") == {"from": "namespaces"}
        assert listers.labels_of_namespace("unknown") == {}
        await factory.stop()

    run_virtual(main())


def test_the_selector_of_a_budget_is_read_once() -> None:
    async def main() -> None:
        api = FakeAPI()
        plant(api, "poddisruptionbudgets.policy", spec={"selector": {"matchLabels": {"app": "web"}}})
        factory = SharedInformerFactory(Client(api, "scheduler/1"))
        watched = SchedulerInformers(factory)
        factory.start()
        await asyncio.sleep(1)
        listers = watched.listers()
        (budget,) = listers.list_budgets()
        selector = listers.selector_of_budget(budget)
        assert [selector.matches({"app": app}) for app in ("web", "other")] == [True, False]
        words = {"matchExpressions": [{"key": "app", "operator": "In", "values": [f"word{i}" for i in range(20_000)]}]}
        plant(api, "poddisruptionbudgets.policy", spec={"selector": words})
        await asyncio.sleep(1)
        (budget,) = listers.list_budgets()
        long = listers.selector_of_budget(budget)
        assert long.matches({"app": "word19999"}), "and when the budget changes, its new one"
        assert listers.selector_of_budget(budget) is long
        await factory.stop()

    run_virtual(main())


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet"])
def test_who_owns_a_pod_is_looked_up_in_its_namespace(kind: str) -> None:
    names = {
        "ReplicaSet": "replicasets.apps",
        "ReplicationController": "replicationcontrollers",
        "StatefulSet": "statefulsets.apps",
    }

    async def main() -> None:
        api = FakeAPI()
        selector: Object = {"app": "owner"} if kind == "ReplicationController" else {"matchLabels": {"app": "owner"}}
        plant(api, names[kind], spec={"selector": selector})
        plant(api, "services", spec={"selector": {"app": "web"}})
        factory = SharedInformerFactory(Client(api, "scheduler/1"))
        watched = SchedulerInformers(factory)
        factory.start()
        await asyncio.sleep(1)
        owner = {"kind": kind, "name": "o", "controller": True}
        found = {}
        for namespace in ("ns", "other"):
            metadata = {"name": "p", "namespace": namespace, "labels": {"app": "web"}, "ownerReferences": [owner]}
            found[namespace] = str(watched.listers().find_selector({"metadata": metadata, "spec": {}}))
        assert found["ns"] in ("app=web,app=owner", "app=owner,app=web")
        assert found["other"] == "None"
        await factory.stop()

    run_virtual(main())
