"""The subresource `ephemeralcontainers`: containers that are put into a running pod,
for looking around.

Upstream: `pkg/registry/core/pod/strategy.go` (`podEphemeralContainersStrategy`,
`dropNonEphemeralContainerUpdates`), `pkg/apis/core/validation/validation.go`
(`ValidatePodEphemeralContainersUpdate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.annotations import MIRROR
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
)
from lifecycle.apiserver.registry.core.pod.validation import validate_metadata_and_spec
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import STATUS_FIELDS, UpdateStrategy
from lifecycle.apiserver.registry.rest.update import take_over


def prepare_for_update(new: Object, old: Object) -> None:
    """Of `new` count the ephemeral containers."""
    metadata = new["metadata"]
    spec = dict(old["spec"])
    take_over(spec, new.get("spec") or {}, "ephemeralContainers")
    drop_disabled_pod_fields(spec, old["spec"])
    new["spec"] = spec
    new["metadata"] = {
        **old["metadata"],
        "managedFields": metadata.get("managedFields"),
        "resourceVersion": metadata.get("resourceVersion"),
    }
    take_over(new, old, "status")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Ephemeral containers can be added, never changed or removed."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += validate_metadata_and_spec(new)
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("[]", "static pods do not support ephemeral containers")]
    after = {
        container["name"]: container
        for container in new["spec"].get("ephemeralContainers") or ()
    }
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container["name"]
        if name not in after:
            errors.append(
                forbidden(
                    "spec.ephemeralContainers",
                    f'existing ephemeral containers "{name}" may not be removed\n',
                )
            )
        elif after[name] != container:
            difference = internal_difference(
                "core/v1.EphemeralContainer", container, after[name]
            )
            why = (
                f'existing ephemeral containers "{name}" may not be '
                f"changed\n{difference}"
            )
            errors.append(forbidden("spec.ephemeralContainers", why))
    return errors


EPHEMERAL_CONTAINERS = UpdateStrategy(
    prepare_for_update, validate_update, Generation.SPEC, STATUS_FIELDS
)
