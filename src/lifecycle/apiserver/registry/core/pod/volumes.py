"""Volumes of a pod.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateVolumes`,
`validateVolumeSource` and one function per source), v1.36. Sources of single drivers:
`volume_drivers`.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.persistent_volume_claim import (
    validate_claim_spec,
)
from lifecycle.apiserver.registry.core.pod import volume_drivers as drivers
from lifecycle.apiserver.registry.core.pod.environment import (
    VOLUME_FIELDS,
    validate_object_field_selector,
    validate_resource_field_selector,
)
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_local_descending_path,
    validate_local_non_reserved_path,
    validate_mode,
    validate_no_backsteps,
)
from lifecycle.apiserver.registry.rest.enum import validate_enum, validate_required_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_template_object_meta,
)

HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def validate_volumes(
    volumes: list[Object], pod_name: str, path: str
) -> tuple[dict[str, Object], list[FieldError]]:
    """All volumes of a spec: those that are fine, by name, and the errors. `pod_name`
    is empty in a template.
    """
    errors: list[FieldError] = []
    good: dict[str, Object] = {}
    created = (
        {
            f"{pod_name}-{v.get('name', '')}"
            for v in volumes
            if v.get("ephemeral") is not None
        }
        if pod_name
        else set()
    )
    for index, volume in enumerate(volumes):
        here, name = f"{path}[{index}]", volume.get("name", "")
        own_errors = _validate_source(volume, name, pod_name, here)
        if not name:
            own_errors.append(required(f"{here}.name"))
        else:
            own_errors += [
                invalid(f"{here}.name", name, why)
                for why in content.dns1123_label(name)
            ]
        if name in good:
            own_errors.append(duplicate(f"{here}.name", name))
        if own_errors:
            errors += own_errors
        else:
            good[name] = volume
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and claim.get("claimName", "") in created:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(
                invalid(
                    f"{here}.persistentVolumeClaim.claimName", claim["claimName"], why
                )
            )
    return good, errors


def _validate_source(
    volume: Object, name: str, pod_name: str, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    count = 0
    specified = [
        source
        for source, value in volume.items()
        if value is not None and source in _SOURCES
    ]
    if len(specified) > 1:  # rare; reported in upstream's order
        specified = [source for source in _SOURCES if source in specified]
    for source in specified:
        value, rule = volume[source], _SOURCES[source]
        if count:
            errors.append(
                forbidden(
                    f"{path}.{_MISSPELT.get(source, source)}",
                    "may not specify more than 1 volume type",
                )
            )
        else:
            count = 1
            if source == "image" and pod_name and not value.get("reference"):
                errors.append(required(f"{path}.image.reference"))
            errors += rule(value, f"{path}.{_PLACES.get(source, source)}")
            if source == "iscsi" and drivers.is_initiator_too_long(name, value):
                errors.append(
                    invalid(f"{path}.name", name, drivers.ISCSI_NAME_TOO_LONG)
                )
            if source == "ephemeral" and pod_name and name:
                claim = f"{pod_name}-{name}"
                for why in content.dns1123_subdomain(claim):
                    errors.append(
                        invalid(f"{path}.name", name, f'PVC name "{claim}": {why}')
                    )
    if not count:
        errors.append(required(path, "must specify a volume type"))
    return errors


def _empty_dir(source: Object, path: str) -> list[FieldError]:
    limit = source.get("sizeLimit")
    if limit is not None and parse_quantity(limit) < parse_quantity("0"):
        return [
            forbidden(
                f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"
            )
        ]
    return []


def validate_host_path(source: Object, path: str) -> list[FieldError]:
    """A path on the node."""
    if not source.get("path"):
        return [required(f"{path}.path")]
    errors = validate_no_backsteps(source["path"], f"{path}.path")
    type_ = source.get("type")
    errors += validate_enum(f"{path}.type", type_, HOST_PATH_TYPES)
    return errors


def _git_repo(source: Object, path: str) -> list[FieldError]:
    errors = [] if source.get("repository") else [required(f"{path}.repository")]
    return errors + validate_local_descending_path(
        source.get("directory", ""), f"{path}.directory"
    )


def _keys_to_paths(items: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, item in enumerate(items):
        errors += _keys_at(item, f"{path}[{index}]")
    return errors


def _files_of(name_field: str) -> Callable[[Object, str], list[FieldError]]:
    def rule(source: Object, path: str) -> list[FieldError]:
        errors = [] if source.get(name_field) else [required(f"{path}.{name_field}")]
        errors += validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
        return errors + _keys_to_paths(source.get("items") or [], f"{path}.items")

    return rule


def validate_nfs(source: Object, path: str) -> list[FieldError]:
    """A server and an absolute path."""
    errors = [
        required(f"{path}.{field}")
        for field in ("server", "path")
        if not source.get(field)
    ]
    if not source.get("path", "").startswith("/"):
        errors.append(
            invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")
        )
    return errors


def _downward_file(file: Object, path: str) -> list[FieldError]:
    errors = [] if file.get("path") else [required(f"{path}.path")]
    errors += validate_local_non_reserved_path(file.get("path", ""), f"{path}.path")
    field, resource = file.get("fieldRef"), file.get("resourceFieldRef")
    if field is not None:
        errors += validate_object_field_selector(
            field, VOLUME_FIELDS, f"{path}.fieldRef"
        )
        if resource is not None:
            errors.append(
                invalid(
                    path,
                    "resource",
                    "fieldRef and resourceFieldRef can not be specified simultaneously",
                )
            )
    elif resource is not None:
        errors += validate_resource_field_selector(
            resource, f"{path}.resourceFieldRef", in_volume=True
        )
    else:
        errors.append(
            required(path, "one of fieldRef and resourceFieldRef is required")
        )
    return errors + validate_mode(file.get("mode"), f"{path}.mode")


def _downward_api(source: Object, path: str) -> list[FieldError]:
    errors = validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for file in source.get("items") or ():
        errors += _downward_file(file, path)
    return errors


def _projected(source: Object, path: str) -> list[FieldError]:
    errors = validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
    paths: set[str] = set()

    def claim(target: str, value: str) -> None:
        if not target:
            return
        if target in paths:
            errors.append(invalid(path, value, "conflicting duplicate paths"))
        paths.add(target)

    for index, part in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        kinds = [kind for kind, value in part.items() if value is not None]
        for kind in ("secret", "configMap"):
            files = part.get(kind)
            if files is not None:
                if not files.get("name"):
                    errors.append(required(f"{here}.{kind}.name"))
                for position, item in enumerate(files.get("items") or ()):
                    errors += _keys_at(item, f"{here}.{kind}.items[{position}]")
                    claim(item.get("path", ""), files.get("name", ""))
        for file in (part.get("downwardAPI") or {}).get("items") or ():
            errors += _downward_file(file, f"{here}.downwardAPI")
            claim(file.get("path", ""), file.get("path", ""))
        token = part.get("serviceAccountToken")
        if token is not None:
            errors += _token_projection(token, f"{here}.serviceAccountToken", path)
        if len(kinds) > 1:
            errors.append(
                forbidden(here, "may not specify more than 1 volume type per source")
            )
    return errors


def _keys_at(item: Object, path: str) -> list[FieldError]:
    errors = [
        required(f"{path}.{field}") for field in ("key", "path") if not item.get(field)
    ]
    errors += validate_local_non_reserved_path(item.get("path", ""), f"{path}.path")
    return errors + validate_mode(item.get("mode"), f"{path}.mode")


def _token_projection(token: Object, path: str, volume_path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seconds = token.get("expirationSeconds", 0)
    if seconds < 600:
        errors.append(
            invalid(
                f"{path}.expirationSeconds",
                seconds,
                "may not specify a duration less than 10 minutes",
            )
        )
    if seconds > 1 << 32:
        errors.append(
            invalid(
                f"{path}.expirationSeconds",
                seconds,
                "may not specify a duration larger than 2^32 seconds",
            )
        )
    if not token.get("path"):
        errors.append(required(f"{volume_path}.path"))
    else:
        errors += validate_local_non_reserved_path(token["path"], f"{volume_path}.path")
    return errors


def _csi(source: Object, path: str) -> list[FieldError]:
    errors = validate_csi_driver_name(source.get("driver", ""), f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        if not secret.get("name"):
            errors.append(required(f"{path}.nodePublishSecretRef.name"))
        else:
            errors += [
                invalid(f"{path}.name", secret["name"], why)
                for why in content.dns1123_subdomain(secret["name"])
            ]
    return errors


def validate_csi_driver_name(name: str, path: str) -> list[FieldError]:
    """At most 63 characters of a DNS subdomain; case does not matter."""
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if len(name.encode()) > 63 else []
    return errors + [
        invalid(path, name, why) for why in content.dns1123_subdomain(name.lower())
    ]


def _ephemeral(source: Object, path: str) -> list[FieldError]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    here = f"{path}.volumeClaimTemplate"
    errors = validate_template_object_meta(
        template.get("metadata") or {}, f"{here}.metadata"
    )
    return errors + validate_claim_spec(template.get("spec") or {}, f"{here}.spec")


def _image(source: Object, path: str) -> list[FieldError]:
    """Upstream: `validateImageVolumeSource`; the reference is the pod's business."""
    return validate_required_enum(
        f"{path}.pullPolicy",
        source.get("pullPolicy"),
        ("Always", "IfNotPresent", "Never"),
    )


_SOURCES: dict[str, Callable[[Object, str], list[FieldError]]] = {
    "emptyDir": _empty_dir,
    "hostPath": validate_host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": drivers.partitioned("pdName"),
    "awsElasticBlockStore": drivers.partitioned("volumeID"),
    "secret": _files_of("secretName"),
    "nfs": validate_nfs,
    "iscsi": drivers.iscsi,
    "glusterfs": drivers.requires("endpoints", "path"),
    "flocker": drivers.flocker,
    "persistentVolumeClaim": drivers.requires("claimName"),
    "rbd": drivers.requires("monitors", "image"),
    "cinder": drivers.cinder,
    "cephfs": drivers.requires("monitors"),
    "quobyte": drivers.quobyte,
    "downwardAPI": _downward_api,
    "fc": drivers.fibre_channel,
    "flexVolume": drivers.flex_volume,
    "configMap": _files_of("name"),
    "azureFile": drivers.requires("secretName", "shareName"),
    "vsphereVolume": drivers.requires("volumePath"),
    "photonPersistentDisk": drivers.requires("pdID"),
    "portworxVolume": drivers.requires("volumeID"),
    "azureDisk": drivers.azure_disk,
    "storageos": drivers.storage_os,
    "projected": _projected,
    "scaleIO": drivers.requires("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
_MISSPELT = {
    "cephfs": "cephFS",
    "downwardAPI": "downwarAPI",
}  # in the "more than one" message
_PLACES = {"gcePersistentDisk": "persistentDisk"}
