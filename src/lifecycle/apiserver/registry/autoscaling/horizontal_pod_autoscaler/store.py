"""The registry of `autoscaling/v1`: it speaks v1, and stores v2.

Upstream: `pkg/registry/autoscaling/horizontalpodautoscaler`, which serves both versions
from one storage, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apis.autoscaler_versions import to_v2
from lifecycle.apiserver.registry.store import ResourceStore


class AutoscalerV1Store(ResourceStore):
    """See the module."""

    def to_storage(self, obj: Object) -> Object:
        """As v2."""
        return to_v2(obj)
