"""CSIDrivers: what a driver of volumes needs.

Upstream: `pkg/apis/storage/v1/defaults.go` (`SetDefaults_CSIDriver`),
`pkg/registry/storage/csidriver/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateCSIDriver` …),
`pkg/printers/internalversion/printers.go` (`printCSIDriver`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(driver: Object) -> None:
    """What a driver needs unless it says otherwise."""
    spec = driver.setdefault("spec", {})
    for key, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        set_default(spec, key, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(driver: Object) -> None:
    """Without what belongs to a feature that is off (`VolumeLimitScaling`)."""
    spec = driver.get("spec") or {}
    if _DISABLED in spec:
        driver["spec"] = {key: spec[key] for key in spec if key != _DISABLED}


_DISABLED = "preventPodSchedulingIfMissing"


def prepare_for_update(new: Object, old: Object) -> None:
    """What is there may stay. Changes are counted from zero."""
    if (old.get("spec") or {}).get(_DISABLED) is None:
        prepare_for_create(new)
    if (new.get("spec") or {}) != (old.get("spec") or {}):
        generation = old["metadata"].get("generation", 0) + 1
        new["metadata"]["generation"] = generation


# --- validation -----------------------------------------------------------------------


_SHORTEST_TOKEN = 600


def validate(driver: Object) -> list[FieldError]:
    """A new driver."""
    errors = validate_core_object_meta(
        driver.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(driver.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Whether it attaches, and how its volumes live, stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_spec(spec)
    for key, name in (
        ("attachRequired", "attachedRequired"),
        ("volumeLifecycleModes", "volumeLifecycleModes"),
    ):
        if spec.get(key) != before.get(key):
            errors.append(invalid(f"spec.{name}", spec.get(key), IMMUTABLE))
    return errors


def _validate_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, name in (
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount",) * 2,
        ("storageCapacity",) * 2,
    ):
        if spec.get(key) is None:
            errors.append(required(f"spec.{name}"))
    policy, policies = (
        spec.get("fsGroupPolicy"),
        ("File", "None", "ReadWriteOnceWithFSType"),
    )
    errors += validate_enum("spec.fsGroupPolicy", policy, policies)
    errors += _validate_token_requests(
        spec.get("tokenRequests") or [], "spec.tokenRequests"
    )
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in ("Persistent", "Ephemeral"):
            errors.append(
                not_supported(
                    "spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral")
                )
            )
    if spec.get("seLinuxMount") is None:
        errors.append(required("spec.seLinuxMount"))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, why))
    return errors


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(driver: Object) -> list[str]:
    """Of tokens among the attributes of volumes."""
    spec = driver.get("spec") or {}
    if (
        not spec.get("tokenRequests")
        or spec.get("serviceAccountTokenInSecrets") is not None
    ):
        return []
    return [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver,"
        " set to true to prevent possible logging of tokens in volume attributes"
    ]


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same of other tokens than before."""
    tokens = [(one.get("spec") or {}).get("tokenRequests") or [] for one in (new, old)]
    return warnings_on_create(new) if tokens[0] != tokens[1] else []


def _validate_token_requests(requests: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        here, audience, seconds = (
            f"{path}[{index}]",
            request.get("audience", ""),
            request.get("expirationSeconds"),
        )
        if audience in audiences:
            errors.append(duplicate(f"{here}.audience", audience))
            continue
        audiences.add(audience)
        if seconds is not None and seconds < _SHORTEST_TOKEN:
            errors.append(
                invalid(
                    f"{here}.expirationSeconds",
                    seconds,
                    "may not specify a duration less than 10 minutes",
                )
            )
        if seconds is not None and seconds > 1 << 32:
            errors.append(
                invalid(
                    f"{here}.expirationSeconds",
                    seconds,
                    "may not specify a duration larger than 2^32 seconds",
                )
            )
    return errors


# --- table ----------------------------------------------------------------------------


def print_csi_driver(driver: Object, now: float) -> Cells:
    """The cells of `kubectl get csidrivers`."""
    spec = driver.get("spec") or {}
    requests, attach = spec.get("tokenRequests"), spec.get("attachRequired")
    return [
        driver["metadata"]["name"],
        True if attach is None else attach,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        "<unset>"
        if requests is None
        else ",".join(r.get("audience", "") for r in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>",
        age(driver, now),
    ]


_DRIVER = "storage/v1.CSIDriverSpec"

PRINTER = Printer(
    (
        NAME,
        Column("AttachRequired", field(_DRIVER, "attachRequired"), "boolean"),
        Column("PodInfoOnMount", field(_DRIVER, "podInfoOnMount"), "boolean"),
        Column("StorageCapacity", field(_DRIVER, "storageCapacity"), "boolean"),
        Column("TokenRequests", field(_DRIVER, "tokenRequests")),
        Column("RequiresRepublish", field(_DRIVER, "requiresRepublish"), "boolean"),
        Column("Modes", field(_DRIVER, "volumeLifecycleModes")),
        AGE,
    ),
    print_csi_driver,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    warnings_on_update=warnings_on_update,
    allow_unconditional_update=False,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    returns_deleted_object=True,
    printer=PRINTER,
)
