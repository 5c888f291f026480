"""ControllerRevisions: what a DaemonSet or StatefulSet once looked like, kept as
objects.

A revision holds the patch that would bring the template back. Revisions are found by
their content: a template that comes back gets its old revision, with a new number. The
name ends in a hash. For a StatefulSet it is the hash of the patch's bytes, for a
DaemonSet that of the printed template (the same rule as `pod-template-hash`).

Upstream: `pkg/controller/history/controller_history.go` (`NewControllerRevision`,
`HashControllerRevision`, `EqualRevision`),
`pkg/controller/statefulset/stateful_set_utils.go` (`getPatch`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api import fast_json
from lifecycle.api.go.fnv import fnv32
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.api.names import safe_encode_string
from lifecycle.controllers.owner_references import new_controller_ref

CONTROLLER_REVISION_HASH = "controller.kubernetes.io/hash"
"""Label of a revision: its hash."""
REVISION_LABEL = "controller-revision-hash"
"""Label of a pod: the revision it was made from."""


def template_patch(owner: Object) -> Object:
    """The patch that restores this template. Upstream: `getPatch`."""
    return {"spec": {"template": {"$patch": "replace", **owner["spec"]["template"]}}}


def go_bytes(data: Object) -> bytes:
    """JSON as Go's `json.Marshal` writes a map: sorted keys, and `<`, `>`, `&`
    escaped.
    """
    return marshal(data, sort_keys=True).encode()


def hash_revision(data: Object, probe: int | None = None) -> str:
    """The hash in a revision's name. `probe` is the count of collisions, as text.
    Upstream: `HashControllerRevision`.
    """
    state = fnv32(go_bytes(data))
    if probe is not None:
        state = fnv32(str(probe).encode(), state)
    return safe_encode_string(str(state))


def new_revision(
    owner: Object, data: Object, number: int, name_hash: str, labels: Object
) -> Object:
    """A revision to be created."""
    return {
        "kind": "ControllerRevision",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{owner['metadata']['name']}-{name_hash}",
            "namespace": owner["metadata"]["namespace"],
            "labels": labels,
            **(
                {"annotations": owner["metadata"]["annotations"]}
                if owner["metadata"].get("annotations")
                else {}
            ),
            "ownerReferences": [new_controller_ref(owner)],
        },
        "data": fast_json.loads(
            go_bytes(data)
        ),  # clients compare the bytes: the keys have to be in order
        "revision": number,
    }


def next_revision(revisions: Iterable[Object]) -> int:
    """One more than the highest number."""
    return max((revision["revision"] for revision in revisions), default=0) + 1


def in_order(revisions: Iterable[Object]) -> list[Object]:
    """Oldest first: by number, then by age, then by name. Upstream: `byRevision`."""
    return sorted(
        revisions,
        key=lambda r: (
            r["revision"],
            r["metadata"].get("creationTimestamp", ""),
            r["metadata"]["name"],
        ),
    )
