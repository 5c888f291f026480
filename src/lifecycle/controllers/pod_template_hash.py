"""`pod-template-hash`: a short name for a pod template.

FNV-1a over the template's printed form, 32 bits, written as a decimal number and mapped
onto a safe alphabet: `nginx:1.27` at the defaults of `kubectl create deployment` gives
`747d4c55d8` on every cluster of this version, ours included. Should the name be taken
by another template, the count of such collisions is hashed too, which gives another
name.

Upstream: `pkg/controller/controller_utils.go` (`ComputeHash`), `pkg/util/hash/hash.go`
(`DeepHashObject`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.fnv import fnv32a
from lifecycle.api.http.wire import Object
from lifecycle.api.names import safe_encode_string
from lifecycle.controllers.go_dump import dump_for_hash


def compute_hash(template: Object, collision_count: int | None = None) -> str:
    """The hash of a pod template with its defaults set; `collision_count` makes it
    another one.
    """
    state = fnv32a(dump_for_hash("core/v1.PodTemplateSpec", template).encode())
    if collision_count is not None:
        state = fnv32a(collision_count.to_bytes(4, "little") + bytes(4), state)
    return safe_encode_string(str(state))
