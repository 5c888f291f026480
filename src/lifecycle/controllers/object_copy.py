"""Copying an object before changing it.

Cached objects are shared and read-only. A controller that wants to write one back
copies it first, and leaves `metadata.managedFields` out of the copy: who owns which
field is the server's to know, and an update that does not mention it keeps it.
(Upstream's controllers never see the field either: their informers strip it on the way
in.)

Upstream: the generated `DeepCopy`;
`cmd/kube-controller-manager/app/controllermanager.go` (the informers' `trim`
transform), v1.36.
"""

from __future__ import annotations

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object


def mutable_copy(obj: Object) -> Object:
    """A copy that is the caller's own, without managed fields."""
    meta = obj["metadata"]
    if "managedFields" in meta:
        obj = {
            **obj,
            "metadata": {
                key: value for key, value in meta.items() if key != "managedFields"
            },
        }
    copy: Object = fast_json.loads(fast_json.dumps(obj))
    return copy
