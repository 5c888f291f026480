"""The Fowler–Noll–Vo hash. Variant 1a: for each byte, exclusive or, then multiply;
variant 1: the other way round.

Upstream: Go's `hash/fnv` (`New32`, `New32a`, `New64`, `New128a`).
"""

from __future__ import annotations

_PRIME_32, _OFFSET_32 = 0x01000193, 0x811C9DC5
_PRIME_64, _OFFSET_64 = 0x100000001B3, 0xCBF29CE484222325
_PRIME_128, _OFFSET_128 = (
    0x0000000001000000000000000000013B,
    0x6C62272E07BB014262B821756295C58D,
)


def fnv32(data: bytes, state: int = _OFFSET_32) -> int:
    """32 bits of variant 1; `state` continues an earlier hash."""
    for byte in data:
        state = state * _PRIME_32 & 0xFFFFFFFF ^ byte
    return state


def fnv32a(data: bytes, state: int = _OFFSET_32) -> int:
    """32 bits; `state` continues an earlier hash."""
    for byte in data:
        state = (state ^ byte) * _PRIME_32 & 0xFFFFFFFF
    return state


def fnv64(data: bytes) -> int:
    """64 bits of variant 1."""
    state = _OFFSET_64
    for byte in data:
        state = state * _PRIME_64 & 0xFFFFFFFFFFFFFFFF ^ byte
    return state


def fnv128a(data: bytes) -> int:
    """128 bits."""
    state = _OFFSET_128
    for byte in data:
        state = (state ^ byte) * _PRIME_128 & ((1 << 128) - 1)
    return state
