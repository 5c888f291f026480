"""Conflicts: an applier wants to change what somebody else owns.

Upstream: `apimachinery/pkg/util/managedfields/internal/conflict.go`
(`NewConflictError`), `structured-merge-diff/merge/conflict.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.fieldpath.field_sets import Fields, from_paths, paths
from lifecycle.api.fieldpath.path_elements import path_text
from lifecycle.api.go.format import go_quote
from lifecycle.api.status import StatusError, failure
from lifecycle.apiserver.managedfields.entries import Entry


class Conflicts(Exception):
    """Who owns what an apply would change: (entry, path) pairs, by manager."""

    def __init__(self, conflicts: list[tuple[Entry, tuple[str, ...]]]) -> None:
        super().__init__(f"{len(conflicts)} conflicts")
        self.conflicts = conflicts

    def fields(self) -> Fields:
        """All fields in dispute."""
        return from_paths(*(path for _, path in self.conflicts))

    def status_error(self) -> StatusError:
        """409, one cause for each field."""
        causes = [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {_manager(entry)}",
                "field": path_text(path),
            }
            for entry, path in self.conflicts
        ]
        return failure(409, "Conflict", self._message(), {"causes": causes})

    def _message(self) -> str:
        if len(self.conflicts) == 1:
            entry, path = self.conflicts[0]
            return (
                f"Apply failed with 1 conflict: conflict with {_manager(entry)}:"
                f" {path_text(path)}"
            )
        lines: list[str] = []
        named: Entry | None = None
        for entry, path in self.conflicts:
            if entry is not named:
                lines.append(f"conflicts with {_manager(entry)}:")
                named = entry
            lines.append(f"- {path_text(path)}")
        return f"Apply failed with {len(self.conflicts)} conflicts: " + "\n".join(lines)


def conflicts_from(disputed: list[tuple[Entry, Fields]]) -> Conflicts:
    """Conflicts, managers in order of their names."""
    disputed.sort(key=lambda pair: (pair[0].manager, pair[0].identifier))
    return Conflicts(
        [(entry, path) for entry, fields in disputed for path in paths(fields)]
    )


def _manager(entry: Entry) -> str:
    manager = go_quote(entry.manager)
    if entry.subresource:
        manager += f" with subresource {go_quote(entry.subresource)}"
    return manager if entry.applied else f"{manager} using {entry.api_version}"
