"""Where an answer comes from.

A comparison without its provenance is an anecdote. Every cluster, live or recorded, can
say in one line which system it is, which version it runs, when it was asked, and
whether it is there now.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Provenance:
    """`cluster` is a name (`kind-1.36.2`, `kind-lifecycle`), `version` its gitVersion,
    `when` a day, `how` live or recorded.
    """

    cluster: str
    version: str
    when: str
    how: str

    def __str__(self) -> str:
        return f"{self.cluster} (Kubernetes {self.version}, {self.how}, {self.when})"
