"""What becomes of a set's claims when their pod is scaled away, or the set deleted: by
default nothing.

Deleting is left to the garbage collector: a claim that is to go with the set is owned
by the set; one whose pod is on its way out because of scaling is owned by that pod.
Whoever owns the claim is asked anew whenever its pod is looked at, so a pod that is
scaled away and back in time keeps its claim.

Where somebody else controls the claim, the policy does not count: what the set has
written there is taken back, and nothing is written. A claim that names an owner of the
same name and another uid was left by a set or pod before this one, and is not touched.

Upstream: `pkg/controller/statefulset/stateful_set_utils.go` (`isClaimOwnerUpToDate`,
`hasUnexpectedController`, `updateClaimOwnerRefForSetAndPod`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from lifecycle.controllers.owner_references import new_controller_ref
from lifecycle.controllers.statefulset.stateful_pods import ordinal_of, start_ordinal

_SET, _POD = ("apps/v1", "StatefulSet"), ("v1", "Pod")


def is_claim_owner_up_to_date(set_: Object, pod: Object, claim: Object) -> bool:
    """Whether there is nothing to write: the claim's owners are those that the policy
    asks for, or are not the set's to change.
    """
    ours = list(_ours(set_, pod, claim))
    if any(not same for _, same in ours):
        return True
    if has_unexpected_controller(set_, pod, claim):
        return not ours
    if any(not reference.get("controller") for reference, _ in ours):
        return False
    wanted = _owner(set_, pod)
    return [reference["uid"] for reference, _ in ours] == (
        [] if wanted is None else [wanted["uid"]]
    )


def has_unexpected_controller(set_: Object, pod: Object, claim: Object) -> bool:
    """Whether somebody else controls a claim that a policy is about."""
    if not any(_deletes(set_)):
        return False
    ours = list(_ours(set_, pod, claim))
    if any(not same for _, same in ours):
        return True
    return any(
        reference.get("controller") and reference not in [each for each, _ in ours]
        for reference in claim["metadata"].get("ownerReferences") or ()
    )


def retained_references(set_: Object, pod: Object, claim: Object) -> list[Object]:
    """The owner references that the claim should have."""
    ours = [reference for reference, _ in _ours(set_, pod, claim)]
    references = claim["metadata"].get("ownerReferences") or []
    others = [reference for reference in references if reference not in ours]
    wanted = _owner(set_, pod)
    if wanted is None or has_unexpected_controller(set_, pod, claim):
        return others
    return [*others, wanted]


def _deletes(set_: Object) -> tuple[bool, bool]:
    """Whether claims go with the set, and with pods that are scaled away."""
    policy = set_["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"


def _owner(set_: Object, pod: Object) -> Object | None:
    """Who the policy wants to own the claim."""
    with_set, when_scaled = _deletes(set_)
    first = start_ordinal(set_)
    in_range = first <= ordinal_of(pod) < first + set_["spec"].get("replicas", 1)
    if not in_range and when_scaled:
        return new_controller_ref({"apiVersion": "v1", "kind": "Pod", **pod})
    if with_set:
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", **set_}
        return new_controller_ref(owner)
    return None


def _ours(set_: Object, pod: Object, claim: Object) -> Iterator[tuple[Object, bool]]:
    """The references to the set and the pod, and whether they mean this very one."""
    for reference in claim["metadata"].get("ownerReferences") or ():
        for owner, kind in ((set_, _SET), (pod, _POD)):
            if (reference["apiVersion"], reference["kind"]) == kind and reference[
                "name"
            ] == owner["metadata"]["name"]:
                yield reference, reference["uid"] == owner["metadata"].get("uid")
