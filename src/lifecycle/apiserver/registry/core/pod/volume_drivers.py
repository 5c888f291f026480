"""Volume sources of single drivers, most of them gone: block devices over the network,
clouds, clusters of storage.

Each rule takes the source and its path. Pods and persistent volumes share those that
look alike in both.

Upstream: `pkg/apis/core/validation/validation.go` (`validateISCSIVolumeSource`,
`validateFCVolumeSource`, `validateAzureDisk` …), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.enum import validate_enum

Rule = Callable[[Object, str], list[FieldError]]

_PARTITION = "must be between 1 and 255, inclusive"
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([a-zA-Z0-9-.]+)(:[^,;*&$|\s]+)$"),
    "eui": re.compile(r"^eui\.[0-9a-fA-F]{16}$"),
    "naa": re.compile(r"^naa\.[0-9a-fA-F]{32}$"),
}
_ISCSI_NAME_LIMIT = 64
ISCSI_NAME_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if"
    " iscsi.initiatorName is specified."
)
_CACHING = ("None", "ReadOnly", "ReadWrite")
_DISKS = ("Dedicated", "Managed", "Shared")
_MANAGED = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/"
    "disks/{disk-id}"
)
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_HOSTS = "must be a host:port pair or multiple pairs separated by commas"


def requires(*fields: str) -> Rule:
    """A rule: these fields must not be empty."""

    def rule(source: Object, path: str) -> list[FieldError]:
        return [
            required(f"{path}.{field}") for field in fields if not source.get(field)
        ]

    return rule


def partitioned(field: str) -> Rule:
    """A rule: a disk with a name, and a partition of it."""

    def rule(source: Object, path: str) -> list[FieldError]:
        errors = requires(field)(source, path)
        if not 0 <= source.get("partition", 0) <= 255:
            errors.append(invalid(f"{path}.partition", source["partition"], _PARTITION))
        return errors

    return rule


def secret_reference(source: Object, path: str, *fields: str) -> list[FieldError]:
    """A `secretRef`, if there is one, is complete."""
    reference = source.get("secretRef")
    return (
        requires(*fields)(reference, f"{path}.secretRef")
        if reference is not None
        else []
    )


def fibre_channel(source: Object, path: str) -> list[FieldError]:
    """Names and a unit, or world wide identifiers."""
    names, ids = source.get("targetWWNs") or [], source.get("wwids") or []
    errors: list[FieldError] = []
    if not names and not ids:
        errors.append(
            required(
                f"{path}.targetWWNs",
                "must specify either targetWWNs or wwids, but not both",
            )
        )
    if names and ids:
        errors.append(
            invalid(
                f"{path}.targetWWNs",
                names,
                "targetWWNs and wwids can not be specified simultaneously",
            )
        )
    if names:
        lun = source.get("lun")
        if lun is None:
            errors.append(
                required(f"{path}.lun", "lun is required if targetWWNs is specified")
            )
        elif not 0 <= lun <= 255:
            errors.append(invalid(f"{path}.lun", lun, content.range_error(0, 255)))
    return errors


def is_initiator_too_long(volume: str, source: Object) -> bool:
    """The kubelet names the initiator's interface after the portal and the volume."""
    portal = source.get("targetPortal", "")
    return (
        source.get("initiatorName") is not None
        and len(f"{volume}:{portal}") > _ISCSI_NAME_LIMIT
    )


def iscsi(source: Object, path: str) -> list[FieldError]:
    """In a pod."""
    return _iscsi(source, path, "must be valid format starting with iqn, eui, or naa")


def persistent_iscsi(source: Object, path: str) -> list[FieldError]:
    """In a persistent volume: another word for the same mistake, and a secret with a
    name.
    """
    return _iscsi(source, path, "must be valid format", named_secret=True)


def _iscsi(
    source: Object, path: str, unknown: str, *, named_secret: bool = False
) -> list[FieldError]:
    errors = requires("targetPortal", "iqn")(source, path)
    if source.get("iqn"):
        errors += _validate_initiator(source["iqn"], f"{path}.iqn", unknown)
    if not 0 <= source.get("lun", 0) <= 255:
        errors.append(
            invalid(f"{path}.lun", source["lun"], content.range_error(0, 255))
        )
    if (
        source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    ) and source.get("secretRef") is None:
        errors.append(required(f"{path}.secretRef"))
    if named_secret:
        errors += secret_reference(source, path, "name")
    if source.get("initiatorName") is not None:
        errors += _validate_initiator(
            source["initiatorName"], f"{path}.initiatorname", unknown
        )
    return errors


def _validate_initiator(name: str, path: str, unknown: str) -> list[FieldError]:
    pattern = _INITIATORS.get(name[:3])
    if pattern is None:
        return [invalid(path, name, unknown)]
    return [] if pattern.search(name) else [invalid(path, name, "must be valid format")]


def azure_disk(source: Object, path: str) -> list[FieldError]:
    """The address must fit the kind of disk."""
    errors = requires("diskName", "diskURI")(source, path)
    caching, kind, uri = (
        source.get("cachingMode"),
        source.get("kind"),
        source.get("diskURI", ""),
    )
    errors += validate_enum(f"{path}.cachingMode", caching, _CACHING)
    errors += validate_enum(f"{path}.kind", kind, _DISKS)
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.append(not_supported(f"{path}.diskURI", uri, (_MANAGED,), plain=True))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        errors.append(not_supported(f"{path}.diskURI", uri, (_BLOB,), plain=True))
    return errors


def quobyte(source: Object, path: str) -> list[FieldError]:
    """Registries as `host:port`."""
    errors: list[FieldError] = []
    registry = source.get("registry", "")
    if not registry:
        errors.append(required(f"{path}.registry", _HOSTS))
    elif len(source.get("tenant", "")) >= 65:
        errors.append(
            required(
                f"{path}.tenant",
                "must be a UUID and may not exceed a length of 64 characters",
            )
        )
    else:
        pairs = registry.split(",")
        errors += [
            invalid(f"{path}.registry", registry, _HOSTS)
            for pair in pairs
            if pair.count(":") != 1
        ]
    return errors + requires("volume")(source, path)


def flocker(source: Object, path: str) -> list[FieldError]:
    """A dataset by name or by UUID."""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    errors: list[FieldError] = []
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        errors.append(
            invalid(
                path,
                "resource",
                "datasetName and datasetUUID can not be specified simultaneously",
            )
        )
    if "/" in name:
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return errors


def cinder(source: Object, path: str) -> list[FieldError]:
    """A volume, and perhaps a secret by name."""
    return requires("volumeID")(source, path) + secret_reference(source, path, "name")


def flex_volume(source: Object, path: str) -> list[FieldError]:
    """A driver; its options keep out of Kubernetes' own names."""
    errors = requires("driver")(source, path)
    for key in source.get("options") or {}:
        owner = f".{key.partition('/')[0].lower()}"
        if owner.endswith((".kubernetes.io", ".k8s.io")):
            why = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(f"{path}.options[{key}]", key, why))
    return errors


def storage_os(source: Object, path: str, *secret_fields: str) -> list[FieldError]:
    """DNS labels."""
    errors = requires("volumeName")(source, path)
    for field in ("volumeName", "volumeNamespace"):
        if source.get(field):
            errors += [
                invalid(f"{path}.{field}", source[field], why)
                for why in content.dns1123_label(source[field])
            ]
    return errors + secret_reference(source, path, *(secret_fields or ("name",)))
