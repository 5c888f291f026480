"""One step towards the wanted set: in order, or all at once.

In order (`OrderedReady`), a step stops at the first pod that is not ready: the next one
is not made, and none is removed. Pods beyond the wanted number go from the highest
down, one at a time. Only when all is well does an update begin, again from the highest
down to the partition. `Parallel` makes and removes at once, but updates in order all
the same, `maxUnavailable` at a time.

Upstream: `pkg/controller/statefulset/stateful_set_control.go` (`updateStatefulSet`,
`processReplica`, `processCondemned`), `stateful_pod_control.go`, v1.36. Left out:
repairs of labels by hand. Upstream puts all pods of a set together before its first
step and makes all that are missing in one; here a step ends after so many as the other
controllers make at once (`BurstReplicas`), so that a set of two billion is a set like
any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.retry import retry_on_conflict
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.controllers.int_or_percent import scaled_value
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.statefulset.claim_retention import (
    has_unexpected_controller,
    is_claim_owner_up_to_date,
    retained_references,
)
from lifecycle.controllers.statefulset.stateful_pods import (
    claim_name,
    claims_of,
    is_created,
    is_healthy,
    is_running_and_available,
    is_running_and_ready,
    ordinal_of,
    revision_of,
    start_ordinal,
    stateful_pod,
)

PODS, CLAIMS = resource("pods"), resource("persistentvolumeclaims")
BURST_REPLICAS = 500
"""How many pods one step makes at once; the first of them to show up begins the
next.
"""


class StatefulPodControl:
    """Creates and deletes, and says so."""

    def __init__(
        self, client: Client, recorder: EventRecorder, claims: SharedInformer
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._claims = claims

    async def create(self, set_: Object, pod: Object) -> None:
        """The claims first, then the pod. Raises StatusError; a pod that is there
        already is none.
        """
        meta = pod["metadata"]
        try:
            await self.create_missing_claims(set_, pod)
        except StatusError as error:
            self._record("create", set_, meta["name"], error.message)
            raise
        try:
            created = await self._client.create(PODS, pod, meta["namespace"])
        except StatusError as error:
            if error.code == 409 and error.reason == "AlreadyExists":
                return
            self._record("create", set_, meta["name"], error.message)
            raise
        self._record("create", set_, meta["name"])
        await self.update_claim_retention(set_, created)

    async def create_missing_claims(self, set_: Object, pod: Object) -> None:
        """Claims that an earlier pod of this number left behind are used again, unless
        they are on their way out. Raises StatusError, once all were tried.
        """
        meta = pod["metadata"]
        errors: list[str] = []
        for claim in claims_of(set_, ordinal_of(pod)):
            name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
            known = self._claims.indexer.get_by_key(f"{namespace}/{name}")
            if known is not None:
                if "deletionTimestamp" in known["metadata"]:
                    errors.append(f"pvc {name} is being deleted")
                continue
            of = f"Pod {meta['name']} in StatefulSet {set_['metadata']['name']}"
            try:
                await self._client.create(CLAIMS, claim, namespace)
            except StatusError as error:
                errors.append(f"failed to create PVC {name}: {error.message}")
                if error.reason != "AlreadyExists":
                    self._recorder.event(
                        set_,
                        "Warning",
                        "FailedCreate",
                        f"Create Claim {name} for {of} failed error: {error.message}",
                    )
                continue
            self._recorder.event(
                set_, "Normal", "SuccessfulCreate", f"Create Claim {name} {of} success"
            )
        if errors:
            raise failure(500, "InternalError", aggregate(errors))

    async def update_claim_retention(
        self, set_: Object, pod: Object, *, anew: bool = False
    ) -> bool:
        """Give the pod's claims the owners that the set's policy asks for; whether any
        of them had others. Raises StatusError.

        `anew`: the server is asked for the claims, as the cache was behind.
        """
        claim_of = self._stored_claim if anew else self._claim
        claims = [
            claim
            for template in set_["spec"].get("volumeClaimTemplates") or ()
            if (claim := await claim_of(set_, pod, template)) is not None
        ]
        if all(is_claim_owner_up_to_date(set_, pod, claim) for claim in claims):
            return False
        for claim in claims:
            name = claim["metadata"]["name"]
            if has_unexpected_controller(set_, pod, claim):
                message = (  # upstream's spelling
                    f"PersistentVolumeClaim {name} has a conflicting OwnerReference"
                    " that acts as a manging controller, the retention policy is"
                    " ignored for this claim"
                )
                self._recorder.event(set_, "Warning", "ConflictingController", message)
            if not is_claim_owner_up_to_date(set_, pod, claim):
                copy = mutable_copy(claim)
                references = retained_references(set_, pod, claim)
                copy["metadata"]["ownerReferences"] = references
                try:
                    await self._client.update(CLAIMS, copy)
                except StatusError as error:
                    self._record(
                        "update",
                        set_,
                        pod["metadata"]["name"],
                        f"could not update claim {name} for delete policy ownerRefs:"
                        f" {error.message}",
                    )
                    raise
        return True

    async def _claim(
        self, set_: Object, pod: Object, template: Object
    ) -> Object | None:
        name = claim_name(set_, template, ordinal_of(pod))
        return self._claims.indexer.get_by_key(f"{pod['metadata']['namespace']}/{name}")

    async def _stored_claim(
        self, set_: Object, pod: Object, template: Object
    ) -> Object | None:
        name = claim_name(set_, template, ordinal_of(pod))
        try:
            return await self._client.get(CLAIMS, name, pod["metadata"]["namespace"])
        except StatusError as error:
            if error.code == 404:
                return None
            raise

    async def update(self, set_: Object, pod: Object) -> None:
        """See to a standing pod's claims. Where something was wrong, upstream writes
        the pod once more, as it is. Raises StatusError.

        What somebody else was quicker with is looked at again and tried again. Ours:
        upstream looks into its cache for that, which may be as old as before.
        """
        meta = pod["metadata"]
        known, again, tried = pod, False, False

        async def attempt() -> None:
            nonlocal known, again, tried
            anew, again = again, True
            if not await self.update_claim_retention(set_, known, anew=anew):
                return
            tried = True
            try:
                await self._client.update(PODS, known)
            except StatusError as error:
                if error.reason == "Conflict":
                    name, namespace = meta["name"], meta["namespace"]
                    known = await self._client.get(PODS, name, namespace)
                raise

        try:
            await retry_on_conflict(attempt)
        except StatusError as error:
            if tried:
                self._record("update", set_, meta["name"], error.message)
            raise
        if tried:
            self._record("update", set_, meta["name"])

    async def delete(self, set_: Object, pod: Object) -> None:
        """Raises StatusError; a pod that is gone already is none."""
        meta = pod["metadata"]
        try:
            await self._client.delete(PODS, meta["name"], meta["namespace"])
        except StatusError as error:
            if error.code == 404:
                return
            self._record("delete", set_, meta["name"], error.message)
            raise
        self._record("delete", set_, meta["name"])

    def _record(self, verb: str, set_: Object, pod: str, error: str = "") -> None:
        done = verb.title()
        what = f"{done} Pod {pod} in StatefulSet {set_['metadata']['name']}"
        if not error:
            self._recorder.event(
                set_, "Normal", f"Successful{done}", f"{what} successful"
            )
        else:
            self._recorder.event(
                set_,
                "Warning",
                f"Failed{done}",
                f"{what} failed error: {error}",
            )


class StatefulSetControl:
    """Steps of one sync. `current` and `update` are revisions."""

    def __init__(self, control: StatefulPodControl, clock: Clock) -> None:
        self._control = control
        self._clock = clock

    async def step(
        self, set_: Object, current: Object, update: Object, pods: Sequence[Object]
    ) -> int:
        """Do what can be done now. How many pods an update took away.

        That is for the status: such a pod must not count as a current one any more, as
        without a partition that count says which pods come back as they were. A pod
        that is created counts once it is seen. Raises StatusError.
        """
        spec = set_["spec"]
        first, count = start_ordinal(set_), spec.get("replicas", 1)
        by_ordinal = {ordinal_of(pod): pod for pod in pods}
        ordinals = range(first, first + count)
        condemned = sorted(
            (p for o, p in by_ordinal.items() if o >= 0 and o not in ordinals),
            key=ordinal_of,
            reverse=True,
        )
        replicas: list[Object] = []
        missing = 0
        if "deletionTimestamp" in set_["metadata"]:
            return 0
        ordered = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
        for ordinal in ordinals:
            if ordinal in by_ordinal:
                pod = by_ordinal[ordinal]
            elif missing == BURST_REPLICAS:
                return 0
            else:  # made here, not before: of billions most are never made
                missing += 1
                pod = self._new_pod(set_, current, update, ordinal)
            if await self._process_replica(set_, pod, ordered) and ordered:
                return 0
            replicas.append(pod)
        for pod in condemned:
            await self._control.update_claim_retention(set_, pod)
        unhealthy = [
            p for p in (*replicas, *reversed(condemned)) if not self._healthy(set_, p)
        ]
        for pod in condemned:
            if "deletionTimestamp" in pod["metadata"]:
                if ordered:
                    return 0
                continue
            if ordered and not self._available(set_, pod) and pod is not unhealthy[0]:
                return 0
            await self._control.delete(set_, pod)
            if ordered:
                return 0
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
            return 0
        return await self._update(set_, update, replicas)

    async def _process_replica(self, set_: Object, pod: Object, ordered: bool) -> bool:
        """Make sure of one pod; whether an ordered step has to stop here, before it
        looks at the pod's claims.
        """
        if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
            if "deletionTimestamp" not in pod["metadata"]:
                await self._control.delete(set_, pod)
            return True
        if not is_created(pod):
            await self._control.create(set_, pod)
            return True
        if (pod.get("status") or {}).get("phase") == "Pending":
            await self._control.create_missing_claims(set_, pod)
        stop = "deletionTimestamp" in pod["metadata"] or not self._available(set_, pod)
        if not (stop and ordered):
            await self._control.update(set_, pod)
        return stop

    async def _update(
        self, set_: Object, update: Object, replicas: Sequence[Object]
    ) -> int:
        """Replace pods of an older revision from the highest down, so many at once as
        may be unavailable. How many went.
        """
        rolling = (set_["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
        partition = rolling.get("partition", 0)
        limit = max(
            1,
            scaled_value(
                rolling.get("maxUnavailable", 1), len(replicas), round_up=False
            ),
        )
        unavailable = taken = 0
        for pod in reversed(replicas[partition:]):
            if unavailable >= limit:
                break
            old = (
                revision_of(pod) != update["metadata"]["name"]
                and "deletionTimestamp" not in pod["metadata"]
            )
            if old and is_created(pod):
                await self._control.delete(set_, pod)
                taken += 1
            unavailable += old or not self._healthy(set_, pod)
        return taken

    @staticmethod
    def _new_pod(set_: Object, current: Object, update: Object, ordinal: int) -> Object:
        """Below the partition (or below what an update has reached) a missing pod comes
        back as it was.
        """
        spec, status = set_["spec"], set_.get("status") or {}
        strategy = spec.get("updateStrategy") or {}
        rolling = strategy.get("rollingUpdate")
        before = start_ordinal(set_) + (
            status.get("currentReplicas", 0)
            if rolling is None
            else rolling.get("partition", 0)
        )
        is_current = strategy.get("type") != "OnDelete" and ordinal < before
        revision = current if is_current else update
        template = {
            k: v
            for k, v in revision["data"]["spec"]["template"].items()
            if k != "$patch"
        }
        return stateful_pod(set_, template, ordinal, revision["metadata"]["name"])

    def _available(self, set_: Object, pod: Object) -> bool:
        return is_running_and_available(
            pod, set_["spec"].get("minReadySeconds", 0), self._clock.now()
        )

    def _healthy(self, set_: Object, pod: Object) -> bool:
        return is_healthy(
            pod, set_["spec"].get("minReadySeconds", 0), self._clock.now()
        )


def set_status(
    set_: Object,
    current: Object,
    update: Object,
    pods: Sequence[Object],
    taken: int,
    collisions: int,
    now: float,
) -> Object:
    """The status. `taken`: how many pods an update took away just now. Upstream:
    `updateStatus`, `completeRollingUpdate`.
    """
    names = current["metadata"]["name"], update["metadata"]["name"]
    min_ready = set_["spec"].get("minReadySeconds", 0)
    created = [pod for pod in pods if is_created(pod)]
    standing = [pod for pod in created if "deletionTimestamp" not in pod["metadata"]]
    status: Object = {
        "observedGeneration": set_["metadata"].get("generation", 0),
        "replicas": len(created),
        "readyReplicas": sum(map(is_running_and_ready, created)),
        "availableReplicas": sum(
            is_running_and_available(pod, min_ready, now) for pod in created
        ),
        "currentReplicas": (
            sum(revision_of(pod) == names[0] for pod in standing) - taken
        ),
        "updatedReplicas": sum(revision_of(pod) == names[1] for pod in standing),
        "currentRevision": names[0],
        "updateRevision": names[1],
        "collisionCount": collisions,
    }
    strategy = (set_["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate")
    if strategy == "RollingUpdate" and {
        status[key] for key in ("updatedReplicas", "replicas", "readyReplicas")
    } == {set_["spec"].get("replicas", 1)}:
        status["currentReplicas"], status["currentRevision"] = (
            status["updatedReplicas"],
            names[1],
        )
    always = ("replicas", "availableReplicas", "collisionCount")
    return {name: value for name, value in status.items() if value or name in always}
