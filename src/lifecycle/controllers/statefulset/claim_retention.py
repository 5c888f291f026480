"""What becomes of a set's claims when their pod is scaled away, or the set deleted: by
default nothing.

Deleting is left to the garbage collector: a claim that is to go with the set is owned
by the set; one whose pod is on its way out because of scaling is owned by that pod.
Whoever owns the claim is asked anew whenever its pod is looked at, so a pod that is
scaled away and back in time keeps its claim.

Upstream: `pkg/controller/statefulset/stateful_set_utils.go`
(`updateClaimOwnerRefForSetAndPod`, `isClaimOwnerUpToDate`), `stateful_pod_control.go`
(`UpdatePodClaimForRetentionPolicy`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.controllers.owner_references import new_controller_ref
from lifecycle.controllers.statefulset.stateful_pods import ordinal_of, start_ordinal


def retained_references(set_: Object, pod: Object, claim: Object) -> list[Object]:
    """The owner references that the claim should have."""
    policy = set_["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    with_set, when_scaled = (
        policy.get(when) == "Delete" for when in ("whenDeleted", "whenScaled")
    )
    ours = (("StatefulSet", set_["metadata"]["name"]), ("Pod", pod["metadata"]["name"]))
    references = claim["metadata"].get("ownerReferences") or []
    others = [r for r in references if (r["kind"], r["name"]) not in ours]
    first = start_ordinal(set_)
    in_range = first <= ordinal_of(pod) < first + set_["spec"].get("replicas", 1)
    if not in_range and when_scaled:
        return [*others, new_controller_ref({"apiVersion": "v1", "kind": "Pod", **pod})]
    if with_set:
        return [
            *others,
            new_controller_ref(
                {"apiVersion": "apps/v1", "kind": "StatefulSet", **set_}
            ),
        ]
    return others


def foreign_controller(set_: Object, pod: Object, claim: Object) -> bool:
    """Whether somebody else controls the claim: then it is not ours to give away."""
    ours = {set_["metadata"]["uid"], pod["metadata"].get("uid")}
    references = claim["metadata"].get("ownerReferences") or ()
    return any(r.get("controller") and r["uid"] not in ours for r in references)
