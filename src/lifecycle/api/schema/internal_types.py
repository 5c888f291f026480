"""API values as the server's own, unversioned types print them.

Validation works on internal types, not on what was sent. They carry no JSON tags, so a
refused struct appears in a message with Go's field names, every field, nulls and zeros
included; embedded structs are flattened. A few are declared in another order than their
v1 sisters, and what concerns a pod's share of the host (`hostNetwork` …) lives in the
security context there.

Upstream: `pkg/apis/{core,apps,batch,…}/types.go`, `pkg/apis/core/v1/conversion.go`
(`Convert_v1_PodSpec_To_core_PodSpec`), v1.36.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lifecycle.api.schema.gotypes import (
    GoField,
    alias_of,
    declared_fields,
    is_struct,
    split_type,
)

_HOST_FIELDS = (
    "HostNetwork",
    "HostPID",
    "HostIPC",
    "ShareProcessNamespace",
    "HostUsers",
)

_ORDER: dict[str, str] = {
    "core/v1.VolumeSource": (
        "HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS"
        " ISCSI Glusterfs PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS"
        " Flocker DownwardAPI FC AzureFile ConfigMap VsphereVolume AzureDisk"
        " PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS CSI Ephemeral"
        " Image"
    ),
    "core/v1.PersistentVolumeSource": (
        "GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte"
        " ISCSI FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk"
        " PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI"
    ),
    "core/v1.PodSpec": (
        "Volumes InitContainers Containers EphemeralContainers RestartPolicy"
        " TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector"
        " ServiceAccountName AutomountServiceAccountToken NodeName SecurityContext"
        " ImagePullSecrets Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName"
        " Tolerations HostAliases PriorityClassName Priority PreemptionPolicy DNSConfig"
        " ReadinessGates RuntimeClassName Overhead EnableServiceLinks"
        " TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources"
        " HostnameOverride SchedulingGroup"
    ),
    "core/v1.PodSecurityContext": (
        "SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot"
        " SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy"
        " Sysctls SeccompProfile AppArmorProfile SELinuxChangePolicy"
    ),
}
"""The structs whose internal sister has another order, or lacks fields. All others are
declared alike.
"""

_NOT_POINTERS = {
    (f"apps/v1.RollingUpdate{kind}", field)
    for kind in ("Deployment", "DaemonSet")
    for field in ("MaxUnavailable", "MaxSurge")
}
"""What may be missing in the published type, and not in the internal one."""

_ZEROS: dict[str, Any] = {
    "string": "",
    "types.UID": "",
    "bool": False,
    "resource.Quantity": "0",
}


@cache
def _fields(name: str) -> tuple[GoField, ...]:
    order = _ORDER.get(name)
    if order is None:
        return declared_fields(name)
    by_name = {field.go_name: field for field in declared_fields(name)}
    return tuple(by_name[go_name] for go_name in order.split())


def internal_value(type_: str, value: Any) -> Any:
    """A value as Go prints the internal type. `type_` is a Go type such as
    `core/v1.ServicePort`.
    """
    prefix, base = split_type(type_)
    if prefix.startswith("*"):
        return None if value is None else internal_value(type_[1:], value)
    if prefix.startswith("[]"):
        return (
            value
            if value is None or base == "byte"
            else [internal_value(type_[2:], item) for item in value]
        )
    if prefix.startswith("map["):
        inner = type_[type_.index("]") + 1 :]
        return (
            None
            if value is None
            else {key: internal_value(inner, value[key]) for key in sorted(value)}
        )
    if base.startswith(("meta/v1.", "runtime.")):
        return _tagged(base, value)
    alias = alias_of(base)
    if alias is not None:
        return internal_value(alias, value)
    if is_struct(base):
        return _struct(base, value or {})
    return _ZEROS.get(base, 0) if value is None else value


def _tagged(name: str, value: Any) -> Any:
    """A value of a type that keeps its tags: what is `omitempty` is not there if it is
    empty.
    """
    if not isinstance(value, dict) or not is_struct(name):
        return value
    shown: dict[str, Any] = {}
    for field in declared_fields(name):
        item = value.get(field.json_name)
        bare = field.omit_empty and field.type.startswith(("[]", "map["))
        if field.json_name in value and (item or not bare):
            shown[field.json_name] = internal_value(field.type, item)
    return shown


def _struct(name: str, external: dict[str, Any]) -> dict[str, Any]:
    internal: dict[str, Any] = {}
    for field in _fields(name):
        if field.type == "meta/v1.TypeMeta":
            internal.update(
                (key, external[key])
                for key in ("kind", "apiVersion")
                if external.get(key)
            )
        elif field.type == "meta/v1.ObjectMeta":
            internal.update(_tagged(field.type, external.get("metadata") or {}))
        elif (name, field.go_name) in _NOT_POINTERS:
            internal[field.go_name] = external.get(field.json_name, 0)
        elif field.inline:
            internal.update(_struct(field.type.lstrip("*"), external))
        elif field.go_name == "SecurityContext" and name == "core/v1.PodSpec":
            internal[field.go_name] = _host_fields(external) | _struct(
                "core/v1.PodSecurityContext", external.get("securityContext") or {}
            )
        else:
            internal[field.go_name] = internal_value(
                field.type, external.get(field.json_name)
            )
    return internal


def _host_fields(spec: dict[str, Any]) -> dict[str, Any]:
    by_name = {field.go_name: field for field in declared_fields("core/v1.PodSpec")}
    return {
        name: internal_value(by_name[name].type, spec.get(by_name[name].json_name))
        for name in _HOST_FIELDS
    }
