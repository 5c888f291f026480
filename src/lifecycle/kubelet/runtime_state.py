"""What the kubelet has last heard of its runtime: the handlers it has, and what each of
them can do.

Upstream: `pkg/kubelet/runtime.go` (`runtimeState`),
`pkg/kubelet/kubelet_pods.go` (`runtimeHandlerSupportsRecursiveReadOnlyMounts`),
`kubelet_getters.go` (`HandlerSupportsUserNamespaces`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.api.go.format import go_quote


class RuntimeState:
    """Nothing is known before the runtime was asked for the first time."""

    def __init__(self) -> None:
        self._handlers: Sequence[Mapping[str, Any]] = ()

    def note(self, status: Mapping[str, Any]) -> None:
        """The runtime's answer to CRI's `Status`."""
        self._handlers = status.get("runtime_handlers") or ()

    def supports_user_namespaces(self, handler: str = "") -> bool:
        """Whether its pods can have users of their own. Raises LookupError if the
        runtime has not told of such a handler. Upstream:
        `HandlerSupportsUserNamespaces`.
        """
        for known in self._handlers:
            if known.get("name", "") == handler:
                return bool((known.get("features") or {}).get("user_namespaces"))
        raise LookupError(f"the handler {go_quote(handler)} is not known")

    def supports_recursive_read_only_mounts(self, handler: str = "") -> bool:
        """Whether mounts below a read-only one can be read-only, too."""
        return any(
            bool((known.get("features") or {}).get("recursive_read_only_mounts"))
            for known in self._handlers
            if known.get("name", "") == handler
        )
