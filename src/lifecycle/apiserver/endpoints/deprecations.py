"""Which resources say, with each answer, that they will go away.

Upstream: `APILifecycleDeprecated` of each type (`zz_generated.prerelease-lifecycle.go`)
and `apiserver/pkg/endpoints/deprecation/deprecation.go` (`WarningMessage`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.resources import Resource

WARNINGS = {
    (
        "",
        "v1",
        "endpoints",
    ): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ("", "v1", "componentstatuses"): "v1 ComponentStatus is deprecated in v1.19+",
}


def deprecation_warning(resource: Resource) -> str:
    """The sentence for a resource, or nothing."""
    return WARNINGS.get((resource.group, resource.version, resource.plural), "")
