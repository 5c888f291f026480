"""What an admit handler is asked and answers.

Upstream: `pkg/kubelet/lifecycle/interfaces.go` (`PodAdmitHandler`,
`PodAdmitAttributes`, `PodAdmitResult`), `pkg/kubelet/allocation/allocation_manager.go`
(`canAdmitPod`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lifecycle.api.http.wire import Object


class PodAdmitResult(NamedTuple):
    """Admitted, or why not."""

    admit: bool
    reason: str = ""
    message: str = ""


ADMITTED = PodAdmitResult(True)


@dataclass(slots=True, frozen=True)
class PodAdmitAttributes:
    """The pod in question, those already admitted, and the node as it is known now."""

    pod: Object
    other_pods: Sequence[Object]
    node: Object
    allocatable: Mapping[str, str] = field(default_factory=dict)


AdmitHandler = Callable[[PodAdmitAttributes], PodAdmitResult]


def can_admit_pod(
    handlers: Iterable[AdmitHandler], attributes: PodAdmitAttributes
) -> PodAdmitResult:
    """Ask one after the other; the first refusal counts."""
    for handler in handlers:
        result = handler(attributes)
        if not result.admit:
            return result
    return ADMITTED
