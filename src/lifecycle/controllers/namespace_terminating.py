"""Recognising a create refused because its namespace is going away: nothing to retry,
nothing to report.

Upstream: `apimachinery/pkg/api/errors/errors.go` (`HasStatusCause`),
`api/core/v1/types.go` (`NamespaceTerminatingCause`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.status import StatusError

NAMESPACE_TERMINATING_CAUSE = "NamespaceTerminating"


def is_namespace_terminating(error: StatusError) -> bool:
    """Whether the server gave that cause."""
    causes = (error.status.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == NAMESPACE_TERMINATING_CAUSE for cause in causes)
