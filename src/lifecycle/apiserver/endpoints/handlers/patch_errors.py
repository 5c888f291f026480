"""What is said of a patch that cannot be, in upstream's words.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`patchResource`,
`applyPatchToObject`), `apimachinery/pkg/util/managedfields/internal/structuredmerge.go`
(`Apply`), `versioncheck.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.field_errors import invalid
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.scope import RequestScope


def patch_invalid(left: str, why: str) -> status.StatusError:
    """The 422 that shows what a patch leaves."""
    return status.invalid("", "", [invalid("patch", left, why).cause()])


def check_apply_kind(applied: Object, scope: RequestScope) -> None:
    """An apply names what it applies. Raises StatusError 400. Upstream:
    `versionCheckManager.Apply`.
    """
    resource = scope.resource
    version, kind = applied.get("apiVersion"), applied.get("kind")
    if (version, kind) != (resource.api_version, resource.kind):
        raise status.bad_request(f"invalid object type: {_gvk(applied)}")


def _gvk(obj: Object) -> str:
    """A kind as Go prints a `GroupVersionKind`."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    group, _, version = (
        version.rpartition("/")
        if isinstance(version, str) and version.count("/") < 2
        else ("", "", "")
    )
    return f"{group}/{version}, Kind={kind if isinstance(kind, str) else ''}"


def not_convertible(applied: Object, complaint: ValueError) -> status.StatusError:
    """500 for values that the schema allows and the type does not. Upstream:
    `structuredMergeManager.Apply`.
    """
    metadata = applied.get("metadata") or {}
    about = (
        f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; "
        f"{_gvk(applied)}"
    )
    why = f"unable to convert unstructured object to {_gvk(applied)}: {complaint}"
    return status.failure(
        500, "", f"failed to convert new object ({about}) to proper version: {why}"
    )
