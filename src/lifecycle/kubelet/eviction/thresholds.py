"""When is too little left? Signals, thresholds, and what a node says of itself when one
is crossed.

A threshold is a quantity or a share of the whole: `memory.available<100Mi`,
`nodefs.available<10%`. Memory that runs short is *memory pressure*, room or inodes of a
file system are *disk pressure*.

Upstream: `pkg/kubelet/eviction/helpers.go` (`ParseThresholdConfig`, `thresholdsMet`,
`byEvictionPriority`), `pkg/kubelet/eviction/api/types.go`,
`pkg/kubelet/eviction/defaults_linux.go` (`DefaultEvictionHard`), v1.36. Left out: soft
thresholds, minimum reclaims, allocatable's own signals, PIDs.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lifecycle.api.quantity import Format, Quantity, parse_quantity
from lifecycle.kubelet.stats.summary import Observation

MEMORY, EPHEMERAL_STORAGE, INODES = "memory", "ephemeral-storage", "inodes"
RESOURCES: Mapping[str, str] = {
    "memory.available": MEMORY,
    "nodefs.available": EPHEMERAL_STORAGE,
    "nodefs.inodesFree": INODES,
    "imagefs.available": EPHEMERAL_STORAGE,
    "imagefs.inodesFree": INODES,
}
"""Which resource is reclaimed when a signal has crossed its threshold."""

MEMORY_PRESSURE, DISK_PRESSURE = "MemoryPressure", "DiskPressure"
DEFAULT_EVICTION_HARD: Mapping[str, str] = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}
KIND_EVICTION_HARD: Mapping[str, str] = {
    "imagefs.available": "0%",
    "nodefs.available": "0%",
    "nodefs.inodesFree": "0%",
}
"""kind's nodes share one machine with everything else on it: how full that is they do
not mind. Who names some thresholds gets no others.
"""


@dataclass(slots=True, frozen=True)
class Threshold:
    """Too little is less than `quantity`, or than this `share` of the whole."""

    signal: str
    quantity: Quantity | None = None
    share: float = 0.0

    def amount(self, capacity: int) -> int:
        """In the signal's own unit."""
        return (
            self.quantity.value()
            if self.quantity is not None
            else int(capacity * self.share)
        )

    def format_quantity(self, capacity: int) -> str:
        """As a message has it."""
        return (
            str(self.quantity)
            if self.quantity is not None
            else binary(self.amount(capacity))
        )


def binary(amount: int) -> str:
    """A quantity of bytes as upstream writes one."""
    return str(Quantity(amount, 0, Format.BINARY_SI))


def node_condition(signal: str) -> str:
    """What a node says of itself."""
    return MEMORY_PRESSURE if RESOURCES[signal] == MEMORY else DISK_PRESSURE


def parse_threshold(signal: str, text: str) -> Threshold:
    """One line of `evictionHard`. Raises ValueError."""
    if signal not in RESOURCES:
        raise ValueError(f"unsupported eviction signal {signal}")
    if percentage := re.fullmatch(r"(\d+(?:\.\d+)?)%", text):
        share = _single(float(percentage[1]) / 100)
        if not 0 <= share <= 1:
            raise ValueError(
                f"eviction percentage threshold {signal} must be between 0% and 100%:"
                f" {text}"
            )
        return Threshold(signal, share=share)
    quantity = parse_quantity(text)
    if quantity.sign < 0:
        raise ValueError(f"eviction threshold {signal} must be positive: {text}")
    return Threshold(signal, quantity)


def _single(number: float) -> float:
    """Upstream keeps shares with single precision, and messages show it."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def parse_thresholds(
    settings: Mapping[str, str] = DEFAULT_EVICTION_HARD,
) -> list[Threshold]:
    """All of them but those of 0% and 100%, which say that there is none. Raises
    ValueError.
    """
    parsed = [parse_threshold(signal, text) for signal, text in settings.items()]
    return [t for t in parsed if t.quantity is not None or 0 < t.share < 1]


def thresholds_met(
    thresholds: list[Threshold], observations: Mapping[str, Observation]
) -> list[Threshold]:
    """Those that have been crossed: memory first, for that goes fastest."""
    crossed = [
        threshold
        for threshold in thresholds
        if (seen := observations.get(threshold.signal)) is not None
        and seen.available < threshold.amount(seen.capacity)
    ]
    return sorted(crossed, key=lambda threshold: RESOURCES[threshold.signal] != MEMORY)


RESERVED_BY = {"memory.available": MEMORY, "nodefs.available": EPHEMERAL_STORAGE}
"""The signals that a resource is kept back for."""


def hard_eviction_reservation(
    thresholds: Sequence[Threshold], capacity: Mapping[str, str]
) -> dict[str, str]:
    """What is kept free by evicting, by resource: pods do not get it. Upstream:
    `pkg/kubelet/cm/node_container_manager_linux.go` (`hardEvictionReservation`).
    """
    reserved = {}
    for threshold in thresholds:
        name = RESERVED_BY.get(threshold.signal, "")
        if name in capacity:
            whole = parse_quantity(str(capacity[name])).value()
            amount = binary(threshold.amount(whole))
            reserved[name] = amount
    return reserved
