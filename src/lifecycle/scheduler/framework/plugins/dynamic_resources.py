"""DynamicResources: devices that pods claim, as far as a cluster without drivers goes.

A pod that names claims is not even queued before all of them exist. A claim that is
allocated already holds the pod to the nodes its devices can be used from. One that is
not would have to be allocated from what drivers offer; nobody here offers anything, so
no node will do, and the message is the one that users of real clusters know from being
out of devices.

Nearly all pods have no claims. Still everybody sees this plugin: its PostFilter speaks
before preemption's, which puts `no new claims to deallocate` into every
FailedScheduling message, and where another plugin's PreFilter refused the pod before
this one's ran, the state it looks for is `not found`.

Upstream: `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`
(`PreEnqueue`, `foreachPodResourceClaim`, `PreFilter`, `Filter`, `PostFilter`), v1.36.
Left out: allocation, reservation and deallocation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.node_selector import Matcher, required_node_affinity
from lifecycle.scheduler.framework.cycle_state import CycleState, NotFoundError
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PostFilterAnswer,
    PostFilterPlugin,
    PreEnqueuePlugin,
    PreFilterAnswer,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import Get, SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.status import (
    SKIP,
    Status,
    as_status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.types import (
    ClusterEvent,
    QueueingHintFn,
    always,
    itself,
)


class MissingClaimError(Exception):
    """A claim that the pod needs is not there, or not for it."""


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    EnqueueExtensions,
):
    """Lets every pod without claims pass. `get_claim` by `namespace/name`, `get_class`
    by name.
    """

    name = "DynamicResources"

    def __init__(self, get_claim: Get, get_class: Get) -> None:
        self._get_claim, self._get_class = get_claim, get_class

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A claim of the pod comes or changes, its claims are made, or a class
        comes.
        """
        return {
            ClusterEvent(
                "ResourceClaim", "Add"
            ): self._is_schedulable_after_claim_change,
            ClusterEvent(
                "ResourceClaim", "Update"
            ): self._is_schedulable_after_claim_change,
            ClusterEvent("Pod", "UpdatePodGeneratedResourceClaim"): itself,
            ClusterEvent("DeviceClass", "Add"): always,
            ClusterEvent("DeviceClass", "Update"): always,
        }

    def _is_schedulable_after_claim_change(
        self, info: PodInfo, _old: Object | None, new: Object | None
    ) -> bool:
        """The hint for claims. If another one is missing still, this one's coming is no
        help.
        """
        try:
            uids = [claim["metadata"].get("uid") for claim in self._claims(info.pod)]
        except MissingClaimError:
            return False
        return new is not None and new["metadata"].get("uid") in uids

    def pre_enqueue(self, pod: Object) -> Status | None:
        """Keeps the pod back while a claim is missing."""
        try:
            all(self._claims(pod))
        except MissingClaimError as error:
            return unresolvable(self.name, str(error))
        return None

    def _claims(self, pod: Object) -> Iterator[Object]:
        metadata, status = pod["metadata"], pod.get("status") or {}
        created = {
            s["name"]: s.get("resourceClaimName")
            for s in status.get("resourceClaimStatuses") or ()
        }
        for claim_ref in pod["spec"].get("resourceClaims") or ():
            name = claim_ref.get("resourceClaimName")
            if (
                not name and claim_ref["name"] not in created
            ):  # to be made from a template
                raise MissingClaimError(
                    f'pod "{metadata["namespace"]}/{metadata["name"]}": ResourceClaim'
                    " not created yet"
                )
            name = name or created[claim_ref["name"]]
            if not name:
                continue  # whoever makes claims found that none is needed
            claim = self._get_claim(f"{metadata['namespace']}/{name}")
            if claim is None:
                raise MissingClaimError(
                    f'resourceclaim.resource.k8s.io "{name}" not found'
                )
            if claim["metadata"].get("deletionTimestamp"):
                raise MissingClaimError(f'resourceclaim "{name}" is being deleted')
            owners = claim["metadata"].get("ownerReferences") or ()
            if "resourceClaimTemplateName" in claim_ref and not any(
                o.get("controller") and o["uid"] == metadata.get("uid") for o in owners
            ):
                where = f"{metadata['namespace']}/{name}"
                who = f"{metadata['namespace']}/{metadata['name']}"
                raise MissingClaimError(
                    f"ResourceClaim {where} was not created for pod {who} (pod is not"
                    " owner)"
                )
            yield claim

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Nothing to do without claims; a refusal if the class of a device is
        unknown.
        """
        state.write(self.name, ())
        try:
            claims = list(self._claims(info.pod))
        except MissingClaimError as error:
            return None, unresolvable(self.name, str(error))
        if not claims:
            return None, SKIP
        available: list[Matcher | None] = []
        for claim in claims:
            allocation = (claim.get("status") or {}).get("allocation")
            if allocation is None:
                for request in (claim["spec"].get("devices") or {}).get(
                    "requests"
                ) or ():
                    choices = (
                        [request.get("exactly")]
                        if request.get("exactly")
                        else request.get("firstAvailable") or ()
                    )
                    for choice in choices:
                        if self._get_class(choice["deviceClassName"]) is None:
                            name = request["name"] + (
                                "/" + choice["name"] if "name" in choice else ""
                            )
                            reason = (
                                f"request {name}: device class"
                                f" {choice['deviceClassName']} does not exist"
                            )
                            return None, unresolvable(self.name, reason)
                available.append(None)
            elif allocation.get("nodeSelector"):
                affinity = {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": allocation[
                            "nodeSelector"
                        ]
                    }
                }
                available.append(required_node_affinity({"affinity": affinity}))
            else:
                available.append(_anywhere)
        state.write(self.name, tuple(available))
        return None, None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes from which a claim's devices cannot be used, and every node for
        one without devices.
        """
        available: tuple[Matcher | None, ...] = state.read(self.name)
        if any(
            matches is not None and not matches(node.name, node.labels)
            for matches in available
        ):
            return unresolvable(self.name, "resourceclaim not available on the node")
        return (
            unresolvable(self.name, "cannot allocate all claims")
            if None in available
            else None
        )

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Upstream scores every node 0 (its log shows it)."""
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """No node has better devices than another."""
        return 0

    async def post_filter(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: NodeToStatus,
    ) -> PostFilterAnswer:
        """Nothing to deallocate."""
        try:
            claims = state.read(self.name)
        except NotFoundError as error:
            return None, as_status(error, self.name)
        reason = "still not schedulable" if claims else "no new claims to deallocate"
        return None, unschedulable(self.name, reason)


def _anywhere(_name: str, _labels: Mapping[str, str]) -> bool:
    return True
