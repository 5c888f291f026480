"""Claims and volumes: when one fits the other, and how their bond is written.

Both the controller that binds and the scheduler, which chooses for claims that wait for
their first pod, go by these rules.

Upstream: `component-helpers/storage/volume/pv_helpers.go` (`FindMatchingVolume`,
`IsVolumeBoundToClaim`, `GetBindVolumeToClaim`, `CheckNodeAffinity`), `helpers.go`
(`GetPersistentVolumeClaimClass`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.node_selector import term_matcher
from lifecycle.api.quantity import parse_quantity

BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"


def annotations_of(obj: Object) -> Mapping[str, str]:
    """The annotations, for reading."""
    return obj["metadata"].get("annotations") or {}


def storage_class_of(obj: Object) -> str:
    """The class of a claim or a volume; empty without one. The annotation, older than
    the field, counts even if it is empty.
    """
    annotations = annotations_of(obj)
    if BETA_STORAGE_CLASS in annotations:
        return annotations[BETA_STORAGE_CLASS]
    return str(obj["spec"].get("storageClassName") or "")


def is_fully_bound(claim: Object) -> bool:
    """Whether the claim has its volume, and both sides know."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(
        claim
    )


def fits_node(volume: Object, labels: Mapping[str, str]) -> bool:
    """Whether the volume can be reached from a node with these labels. Upstream:
    `CheckNodeAffinity`.
    """
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if required is None:
        return True
    return any(
        term_matcher(term)("", labels)
        for term in required.get("nodeSelectorTerms") or ()
    )


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Whether the volume is kept for, or bound to, this very claim."""
    reference, meta = volume["spec"].get("claimRef"), claim["metadata"]
    if reference is None or (reference.get("namespace"), reference.get("name")) != (
        meta["namespace"],
        meta["name"],
    ):
        return False
    return not reference.get("uid") or bool(reference["uid"] == meta["uid"])


def find_matching_volume(
    claim: Object,
    volumes: Iterable[Object],
    labels: Mapping[str, str] | None,
    excluded: set[str],
    *,
    only_kept: bool = False,
) -> Object | None:
    """The volume kept for the claim, or else the smallest free one that has what it
    asks for. `labels`: the node's, if it matters.

    `only_kept`: leave free ones alone.
    """
    spec = claim["spec"]
    requested_qty = parse_quantity(
        ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    )
    selector = (
        None
        if spec.get("selector") is None
        else selector_from_label_selector(spec["selector"])
    )
    best: Object | None = None
    for volume in volumes:
        offer, meta = volume["spec"], volume["metadata"]
        size = parse_quantity((offer.get("capacity") or {}).get("storage", "0"))
        if (
            meta["name"] in excluded
            or (offer.get("claimRef") is not None and not is_bound_to(volume, claim))
            or size < requested_qty
            or (offer.get("volumeMode") or "Filesystem")
            != (spec.get("volumeMode") or "Filesystem")
            or (offer.get("volumeAttributesClassName") or "")
            != (spec.get("volumeAttributesClassName") or "")
            or "deletionTimestamp" in meta
        ):
            continue
        fits = labels is None or fits_node(volume, labels)
        if is_bound_to(volume, claim):
            return volume if fits else None
        if (
            not fits
            or only_kept
            or (volume.get("status") or {}).get("phase") != "Available"
            or (selector is not None and not selector.matches(meta.get("labels")))
            or storage_class_of(volume) != storage_class_of(claim)
            or not set(spec.get("accessModes") or ())
            <= set(offer.get("accessModes") or ())
        ):
            continue
        if best is None or size < parse_quantity(best["spec"]["capacity"]["storage"]):
            best = volume
    return best


def bound_to(volume: Object, claim: Object) -> Object:
    """The volume with the claim written on it. Upstream: `GetBindVolumeToClaim`."""
    meta = claim["metadata"]
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        **{
            key: meta[key]
            for key in ("namespace", "name", "uid", "resourceVersion")
            if key in meta
        },
    }
    metadata = volume["metadata"]
    if not is_bound_to(volume, claim):
        metadata = {
            **metadata,
            "annotations": {**annotations_of(volume), BOUND_BY_CONTROLLER: "yes"},
        }
    return {
        **volume,
        "metadata": metadata,
        "spec": {**volume["spec"], "claimRef": reference},
    }
