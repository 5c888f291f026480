"""`pod-template-hash`: a short name for a pod template.

FNV-1a over the template, 32 bits, written as a decimal number and mapped onto a safe alphabet. Upstream hashes
Go's own printed form of the struct (see `dump.ForHash`); here it is the template's canonical JSON for the time
being, so the hash has the same shape and the same use, but not the same value.

Upstream: `pkg/controller/controller_utils.go` (`ComputeHash`), `pkg/util/hash/hash.go` (`DeepHashObject`), v1.36.
"""

from __future__ import annotations

import orjson

from lifecycle.api.names import safe_encode_string
from lifecycle.api.wire import Object


def fnv32a(data: bytes, state: int = 0x811C9DC5) -> int:
    """FNV-1a, 32 bits."""
    for byte in data:
        state = (state ^ byte) * 0x01000193 & 0xFFFFFFFF
    return state


def compute_hash(template: Object, collision_count: int | None = None) -> str:
    """The hash of a template; `collision_count` makes it another one."""
    state = fnv32a(orjson.dumps(template, option=orjson.OPT_SORT_KEYS))
    if collision_count is not None:
        state = fnv32a(collision_count.to_bytes(8, "little"), state)
    return safe_encode_string(str(state))
