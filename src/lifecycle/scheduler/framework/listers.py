"""What plugins may look at: the cluster of this cycle, and other objects by name.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/listers.go` (`SharedLister`); the
listers of other kinds come from `Handle.SharedInformerFactory()` there, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.scheduler.framework.change_log import ChangeLog
from lifecycle.scheduler.framework.node_info import NodeInfo

Get = Callable[[str], Object | None]
"""An object by name (by `namespace/name` where it has a namespace), or None."""

List = Callable[[], Iterable[Object]]


class SharedLister(Protocol):
    """The snapshot that a scheduling cycle works on.

    `image_nodes` says on how many nodes an image is. `position` is another mapping once
    the list of nodes is another; `changes` has the nodes that were replaced since.
    """

    @property
    def node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def position(self) -> Mapping[str, int]: ...

    @property
    def changes(self) -> ChangeLog[int]: ...

    @property
    def have_pods_with_affinity(self) -> Mapping[str, NodeInfo]: ...

    @property
    def have_pods_with_required_anti_affinity(self) -> Mapping[str, NodeInfo]: ...

    @property
    def image_nodes(self) -> Mapping[str, int]: ...

    def __len__(self) -> int: ...

    def get(self, name: str) -> NodeInfo | None: ...


def _none(_key: str) -> Object | None:
    return None


def _no_labels(_namespace: str) -> dict[str, str]:
    return {}


def _no_selector(_pod: Object) -> Selector | None:
    return None


def _selector_of_budget(budget: Object) -> Selector:
    return selector_from_label_selector(budget["spec"].get("selector"))


@dataclass(slots=True, frozen=True)
class Listers:
    """Other objects, for the plugins that want them. By default there are none.

    `find_selector`: what the Services and the controller of a pod select, together.
    `labels_of_namespace`: a namespace's labels, empty for one that is not known.
    `selector_of_budget`: what the selector of one of `list_budgets` means.
    """

    find_selector: Callable[[Object], Selector | None] = _no_selector
    labels_of_namespace: Callable[[str], dict[str, str]] = _no_labels
    list_budgets: List = tuple
    selector_of_budget: Callable[[Object], Selector] = _selector_of_budget
    get_claim: Get = _none
    get_volume: Get = _none
    list_volumes: List = tuple
    get_class: Get = _none
    get_csi_node: Get = _none
    get_csi_driver: Get = _none
    list_capacities: List = tuple
    get_resource_claim: Get = _none
    get_device_class: Get = _none
