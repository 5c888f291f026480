"""The name of one port of one Service: what rules are made for, and what their comments
and chain names are made of.

Upstream: `pkg/proxy/types.go` (`ServicePortName`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple


class ServicePortName(NamedTuple):
    """`namespace`, `name` of the Service, `port` its name (may be empty), `protocol` as
    in the API: `TCP`, `UDP`, `SCTP`.
    """

    namespace: str
    name: str
    port: str
    protocol: str

    def __str__(self) -> str:
        return (
            f"{self.namespace}/{self.name}:{self.port}"
            if self.port
            else f"{self.namespace}/{self.name}"
        )
