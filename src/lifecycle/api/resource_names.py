"""Names of resources that are counted: Kubernetes' own, and anybody else's.

Upstream: `pkg/apis/core/v1/helper/helpers.go` (`IsNativeResource`,
`IsExtendedResourceName`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.validation import content


def is_native_resource(name: str) -> bool:
    """`cpu`, and whatever has the domain of Kubernetes."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended_resource_name(name: str) -> bool:
    """What somebody else announces in a node's status: `example.com/gpu`. A quota could
    speak of it with `requests.` before it.
    """
    if is_native_resource(name) or name.startswith("requests."):
        return False
    return not content.qualified_name(f"requests.{name}")
