"""What a persistent volume is made of: one source, with its rule.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeSpec` and
one function per source), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod import volume_drivers as drivers
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_no_backsteps,
)
from lifecycle.apiserver.registry.core.pod.volumes import (
    validate_csi_driver_name,
    validate_host_path,
    validate_nfs,
)

_CSI_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


def _local(source: Object, path: str) -> list[FieldError]:
    if not source.get("path"):
        return [required(f"{path}.path")]
    return validate_no_backsteps(source["path"], f"{path}.path")


def _csi(source: Object, path: str) -> list[FieldError]:
    errors = validate_csi_driver_name(source.get("driver", ""), f"{path}.driver")
    errors += drivers.requires("volumeHandle")(source, path)
    for field in _CSI_SECRETS:
        if source.get(field) is not None:
            errors += _secret(source[field], f"{path}.{field}")
    return errors


def _secret(reference: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field, rule in (
        ("name", content.dns1123_subdomain),
        ("namespace", content.dns1123_label),
    ):
        value = reference.get(field, "")
        if not value:
            errors.append(required(f"{path}.{field}"))
        else:
            errors += [invalid(f"{path}.{field}", value, why) for why in rule(value)]
    return errors


def _azure_file(source: Object, path: str) -> list[FieldError]:
    errors = drivers.requires("secretName", "shareName")(source, path)
    if source.get("secretNamespace") == "":
        errors.append(required(f"{path}.secretNamespace"))
    return errors


def _cinder(source: Object, path: str) -> list[FieldError]:
    errors = drivers.requires("volumeID")(source, path)
    return errors + drivers.secret_reference(source, path, "name", "namespace")


def _glusterfs(source: Object, path: str) -> list[FieldError]:
    errors = drivers.requires("endpoints", "path")(source, path)
    namespace, here = source.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace == "":
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.append(invalid(here, namespace, why))
    elif namespace is not None:
        errors += [
            invalid(here, namespace, why) for why in content.dns1123_label(namespace)
        ]
    return errors


VOLUME_SOURCES: dict[str, drivers.Rule] = {
    "hostPath": validate_host_path,
    "gcePersistentDisk": drivers.partitioned("pdName"),
    "awsElasticBlockStore": drivers.partitioned("volumeID"),
    "glusterfs": _glusterfs,
    "flocker": drivers.flocker,
    "nfs": validate_nfs,
    "rbd": drivers.requires("monitors", "image"),
    "quobyte": drivers.quobyte,
    "cephfs": drivers.requires("monitors"),
    "iscsi": drivers.persistent_iscsi,
    "cinder": _cinder,
    "fc": drivers.fibre_channel,
    "flexVolume": drivers.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": drivers.requires("volumePath"),
    "photonPersistentDisk": drivers.requires("pdID"),
    "portworxVolume": drivers.requires("volumeID"),
    "azureDisk": drivers.azure_disk,
    "scaleIO": drivers.requires("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": lambda source, path: drivers.storage_os(
        source, path, "name", "namespace"
    ),
    "csi": _csi,
}
"""In the order in which upstream looks for them: of several, the first is judged and
the others are too many.
"""

MISSPELT = {"cephfs": "cephFS"}
"""In the complaint about one too many."""

PLACES = {"gcePersistentDisk": "persistentDisk"}
