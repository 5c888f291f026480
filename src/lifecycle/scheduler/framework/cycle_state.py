"""What plugins remember between the extension points of one pod's cycle.

A plugin looks at the pod (and the whole cluster) once, in PreFilter or PreScore, writes
down what it found, and reads it again for every node. Who evicts pods in thought works
on a copy, in which the plugins' notes are copied as well.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/cycle_state.go` (`CycleState`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class NotFoundError(LookupError):
    """Nobody has written that. Upstream: `ErrNotFound`."""

    def __str__(self) -> str:
        return "not found"


class CycleState:
    """Notes by key (by custom the extension point and the plugin's name), and the
    plugins that said SKIP at each of the points that come in pairs.
    """

    __slots__ = (
        "_data",
        "kind",
        "skip_filter_plugins",
        "skip_pre_bind_plugins",
        "skip_score_plugins",
    )

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}
        self.kind: Hashable = None
        """What the filters look at in the pod, if their answers about a node depend on
        that and on the node alone; None if they may depend on more."""
        self.skip_filter_plugins: set[str] = set()
        self.skip_score_plugins: set[str] = set()
        self.skip_pre_bind_plugins: set[str] = set()

    def read(self, key: str) -> Any:
        """What was written. Raises NotFoundError."""
        try:
            return self._data[key]
        except KeyError:
            raise NotFoundError(key) from None

    def write(self, key: str, value: Any) -> None:
        """Note something down. A value with a `clone` method is cloned with the
        state.
        """
        self._data[key] = value

    def delete(self, key: str) -> None:
        """Forget."""
        self._data.pop(key, None)

    def clone(self) -> CycleState:
        """A copy for a what-if: entries with a `clone` method are cloned, the others
        shared.
        """
        copy = CycleState()
        copy._data = {
            key: value.clone() if hasattr(value, "clone") else value
            for key, value in self._data.items()
        }
        copy.kind = self.kind
        copy.skip_filter_plugins = self.skip_filter_plugins
        copy.skip_score_plugins = self.skip_score_plugins
        copy.skip_pre_bind_plugins = self.skip_pre_bind_plugins
        return copy

    def adopt(self, other: CycleState) -> None:
        """Take over what was found for another pod that no plugin can tell from this
        one.
        """
        self._data.update(other._data)
        self.kind = other.kind
        self.skip_filter_plugins |= other.skip_filter_plugins
        self.skip_score_plugins |= other.skip_score_plugins
