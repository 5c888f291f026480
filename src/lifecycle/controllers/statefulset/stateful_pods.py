"""Pods with an identity: a name that ends in a number, and volumes of their own that
wait for it.

Upstream: `pkg/controller/statefulset/stateful_set_utils.go` (`newStatefulSetPod`,
`initIdentity`, `updateStorage`, `getPersistentVolumeClaims`, `identityMatches`,
`newVersionedStatefulSetPod`), v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.controllers.history.revisions import REVISION_LABEL
from lifecycle.controllers.pod_control import pod_from_template
from lifecycle.controllers.pod_readiness import (
    is_pod_available,
    is_pod_ready,
    pod_phase,
)

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]+)$")


def ordinal_of(pod: Object) -> int:
    """The number at the end of the pod's name; -1 without one."""
    match = _NAME.match(pod["metadata"]["name"])
    return int(match[2]) if match else -1


def is_member(set_: Object, pod: Object) -> bool:
    """Whether the pod's name is one that this set gives."""
    match = _NAME.match(pod["metadata"]["name"])
    return match is not None and match[1] == set_["metadata"]["name"]


def start_ordinal(set_: Object) -> int:
    """The first pod's number."""
    return int((set_["spec"].get("ordinals") or {}).get("start", 0))


def claim_name(set_: Object, template: Object, ordinal: int) -> str:
    """The name of a pod's claim: template, set, number."""
    return f"{template['metadata']['name']}-{set_['metadata']['name']}-{ordinal}"


def claims_of(set_: Object, ordinal: int) -> list[Object]:
    """The claims a pod of that number needs. They are the set's only by name: no owner,
    so that data outlives it.
    """
    labels = set_["spec"]["selector"].get("matchLabels") or {}
    claims = []
    for template in set_["spec"].get("volumeClaimTemplates") or ():
        meta: Any = {
            k: v
            for k, v in template["metadata"].items()
            if k in ("labels", "annotations")
        }
        meta["labels"] = {**(meta.get("labels") or {}), **labels}
        meta["name"] = claim_name(set_, template, ordinal)
        meta["namespace"] = set_["metadata"]["namespace"]
        claims.append(
            {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "metadata": meta,
                "spec": template["spec"],
            }
        )
    return claims


def stateful_pod(set_: Object, template: Object, ordinal: int, revision: str) -> Object:
    """The pod of that number, from a template of some revision."""
    pod = pod_from_template(template, set_)
    meta = pod["metadata"]
    name = f"{set_['metadata']['name']}-{ordinal}"
    meta["name"], meta["namespace"] = name, set_["metadata"]["namespace"]
    meta["labels"] = {
        **(meta.get("labels") or {}),
        POD_NAME_LABEL: name,
        POD_INDEX_LABEL: str(ordinal),
        REVISION_LABEL: revision,
    }
    claims = {
        t["metadata"]["name"]: {
            "name": t["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(set_, t, ordinal)},
        }
        for t in set_["spec"].get("volumeClaimTemplates") or ()
    }
    volumes = [
        *claims.values(),
        *(v for v in pod["spec"].get("volumes") or () if v["name"] not in claims),
    ]
    spec = {**pod["spec"], "hostname": name}
    if set_["spec"].get("serviceName"):
        spec["subdomain"] = set_["spec"]["serviceName"]
    if volumes:
        spec["volumes"] = volumes
    return {**pod, "spec": spec}


def is_created(pod: Object | None) -> bool:
    """Whether the pod is there at all."""
    return pod is not None and "uid" in pod["metadata"]


def is_running_and_ready(pod: Object) -> bool:
    """Running, and its Ready condition true."""
    return pod_phase(pod) == "Running" and is_pod_ready(pod)


def is_running_and_available(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Ready long enough."""
    return is_running_and_ready(pod) and is_pod_available(pod, min_ready_seconds, now)


def is_healthy(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Available and not on its way out."""
    return (
        is_created(pod)
        and "deletionTimestamp" not in pod["metadata"]
        and is_running_and_available(pod, min_ready_seconds, now)
    )


def revision_of(pod: Object) -> str:
    """The name of the revision the pod was made from."""
    return str((pod["metadata"].get("labels") or {}).get(REVISION_LABEL, ""))
