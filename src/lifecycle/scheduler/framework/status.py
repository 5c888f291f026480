"""A plugin's answer: what it means, and why.

Plain success is `None`, as it is `nil` upstream, so that the common case costs nothing.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/interface.go` (`Code`, `Status`,
`AsStatus`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Code(Enum):
    """What a status means."""

    SUCCESS = "Success"
    ERROR = "Error"
    """Something broke; the pod is tried again a little later."""
    UNSCHEDULABLE = "Unschedulable"
    """Not here as things are; evicting other pods could help."""
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    """Not here, whatever is evicted."""
    WAIT = "Wait"
    """A Permit plugin wants to be asked again, or to say so itself."""
    SKIP = "Skip"
    """Nothing to do for this pod: do not call the plugin's other half."""
    PENDING = "Pending"
    """Not yet: something outside is on its way, and there is no need to back off."""


@dataclass(slots=True, frozen=True)
class Status:
    """An answer other than plain success. `plugin` is filled in by the framework; an
    `error`, if there is one, says everything and stands for the reasons.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: Exception | None = None

    @property
    def message(self) -> str:
        """All reasons in one line."""
        return str(self.error) if self.error is not None else ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        """Whether the pod cannot run (here). Upstream: `IsRejected`."""
        return self.code in _REJECTED

    def with_plugin(self, plugin: str) -> Status:
        """The same, by a plugin that did not say its name."""
        return self if self.plugin else replace(self, plugin=plugin)

    def as_error(self) -> Exception:
        """The error behind it, or one made of its reasons."""
        return self.error if self.error is not None else PluginError(self.message)


_REJECTED = frozenset(
    (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)
)

SKIP = Status(Code.SKIP)


class PluginError(Exception):
    """What a plugin failed of, in the words that users see."""


def unschedulable(plugin: str, *reasons: str) -> Status:
    """Not here as things are; evicting other pods could help."""
    return Status(Code.UNSCHEDULABLE, reasons, plugin)


def unresolvable(plugin: str, *reasons: str) -> Status:
    """Not here, whatever is evicted."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, plugin)


def as_status(error: Exception, plugin: str = "") -> Status:
    """An error as a status."""
    return Status(Code.ERROR, (str(error),), plugin, error)
