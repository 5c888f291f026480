"""What the scheduler watches, and the listers that its plugins get from that.

Upstream: `pkg/scheduler/scheduler.go` (`NewInformerFactory`), v1.36; each plugin asks
the factory for its listers there.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector
from lifecycle.api.resources import resource
from lifecycle.client.kept_selectors import KeptSelectors
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.scheduler.framework.default_selector import default_selector
from lifecycle.scheduler.framework.listers import Listers

_OWNERS = {
    "Service": "services",
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet": "statefulsets.apps",
}

_HEARD_OF = {
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PersistentVolume": "persistentvolumes",
    "StorageClass": "storageclasses.storage.k8s.io",
    "CSINode": "csinodes.storage.k8s.io",
    "CSIDriver": "csidrivers.storage.k8s.io",
    "CSIStorageCapacity": "csistoragecapacities.storage.k8s.io",
    "ResourceClaim": "resourceclaims.resource.k8s.io",
    "DeviceClass": "deviceclasses.resource.k8s.io",
}
"""Kinds whose changes may help a waiting pod, besides pods and nodes."""


class SchedulerInformers:
    """The informers by what they are for. `others`: by kind, as in `ClusterEvent`."""

    def __init__(self, factory: SharedInformerFactory) -> None:
        self.factory = factory
        self.pods = factory.informer(resource("pods"))
        self.nodes = factory.informer(resource("nodes"))
        self.others: dict[str, SharedInformer] = {
            kind: factory.informer(resource(name)) for kind, name in _HEARD_OF.items()
        }
        self._namespaces = factory.informer(resource("namespaces"))
        self._budgets = factory.informer(resource("poddisruptionbudgets.policy"))
        self._budget_selectors = KeptSelectors(self._budgets)
        self._owners = {
            kind: factory.informer(resource(name)) for kind, name in _OWNERS.items()
        }

    def all_but_pods(self) -> list[SharedInformer]:
        """Those that must have synced before the first pod is looked at."""
        return [
            self.nodes,
            self._namespaces,
            *self.others.values(),
            self._budgets,
            *self._owners.values(),
        ]

    def listers(self) -> Listers:
        """What the plugins may look up."""
        indexers = {kind: informer.indexer for kind, informer in self.others.items()}
        return Listers(
            find_selector=self._find_selector,
            labels_of_namespace=self._labels_of_namespace,
            list_budgets=self._budgets.indexer.list,
            selector_of_budget=self._budget_selectors.of,
            get_claim=indexers["PersistentVolumeClaim"].get_by_key,
            get_volume=indexers["PersistentVolume"].get_by_key,
            list_volumes=indexers["PersistentVolume"].list,
            get_class=indexers["StorageClass"].get_by_key,
            get_csi_node=indexers["CSINode"].get_by_key,
            get_csi_driver=indexers["CSIDriver"].get_by_key,
            list_capacities=indexers["CSIStorageCapacity"].list,
            get_resource_claim=indexers["ResourceClaim"].get_by_key,
            get_device_class=indexers["DeviceClass"].get_by_key,
        )

    def _owner(self, kind: str, namespace: str, name: str) -> Object | None:
        return self._owners[kind].indexer.get_by_key(f"{namespace}/{name}")

    def _find_selector(self, pod: Object) -> Selector | None:
        services = self._owners["Service"].indexer
        return default_selector(pod, services.list_namespace, self._owner)

    def _labels_of_namespace(self, name: str) -> dict[str, str]:
        namespace = self._namespaces.indexer.get_by_key(name)
        return (namespace["metadata"].get("labels") or {}) if namespace else {}
