"""The one error that calls of a container runtime raise.

Upstream: `google.golang.org/grpc/status`.
"""

from __future__ import annotations


class RuntimeServiceError(Exception):
    """A call failed; the text is the gRPC error as upstream prints it."""

    @property
    def code(self) -> str:
        """gRPC's name for the kind of failure, such as `NotFound`; `Unknown` if the
        text does not tell.
        """
        _, separator, rest = str(self).partition("code = ")
        return rest.partition(" desc = ")[0] if separator else "Unknown"

    @property
    def message(self) -> str:
        """What the runtime itself said, without gRPC's words before it. Upstream:
        `status.FromError(err).Message()`.
        """
        before, separator, rest = str(self).partition(" desc = ")
        return (
            rest if separator and before.startswith("rpc error: code = ") else str(self)
        )
