"""Table columns that several kinds of the group have.

Upstream: `pkg/printers/internalversion/printers.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.apiserver.registry.printers.printer import Column

READY = Column("Ready", "Number of the pod with ready state")
