"""Between the dataclasses of `apis/` and CRI's messages, as dicts in the shape of
`messages.py`.

Two small rules of CRI live here. An enum's zero value is left out on the wire, so a
sandbox on the pod's own network says nothing and `POD` is what silence means. And host
network is a namespace option, not a field.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto`; `cri-client/pkg/remote_runtime.go`
for what a client fills in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
)

Dict = dict[str, Any]


def sandbox_metadata(metadata: PodSandboxMetadata) -> Dict:
    """`PodSandboxMetadata`."""
    return {
        "name": metadata.name,
        "uid": metadata.uid,
        "namespace": metadata.namespace,
        "attempt": metadata.attempt,
    }


def read_sandbox_metadata(fields: Mapping[str, Any]) -> PodSandboxMetadata:
    """And back."""
    return PodSandboxMetadata(
        fields.get("name", ""),
        fields.get("uid", ""),
        fields.get("namespace", ""),
        fields.get("attempt", 0),
    )


def sandbox_config(config: PodSandboxConfig) -> Dict:
    """`PodSandboxConfig`."""
    linux = dict(config.linux)
    if config.host_network and config.namespace_options.get("network") != "NODE":
        security = dict(linux.get("security_context") or {})
        security["namespace_options"] = {**config.namespace_options, "network": "NODE"}
        linux["security_context"] = security
    fields: Dict = {
        "metadata": sandbox_metadata(config.metadata),
        "hostname": config.hostname,
        "log_directory": config.log_directory,
        "port_mappings": list(config.port_mappings),
        "labels": dict(config.labels),
        "annotations": dict(config.annotations),
        "linux": linux,
    }
    if config.dns_config:
        fields["dns_config"] = config.dns_config
    return fields


def read_sandbox_config(
    fields: Mapping[str, Any], runtime_handler: str = ""
) -> PodSandboxConfig:
    """And back."""
    return PodSandboxConfig(
        read_sandbox_metadata(fields.get("metadata") or {}),
        hostname=fields.get("hostname", ""),
        labels=fields.get("labels") or {},
        log_directory=fields.get("log_directory", ""),
        dns_config=fields.get("dns_config") or {},
        port_mappings=tuple(fields.get("port_mappings") or ()),
        annotations=fields.get("annotations") or {},
        linux=fields.get("linux") or {},
        runtime_handler=runtime_handler,
    )


def sandbox_status(status: PodSandboxStatus) -> Dict:
    """`PodSandboxStatus`."""
    return {
        "id": status.id,
        "metadata": sandbox_metadata(status.metadata),
        "state": f"{status.state.value}",
        "created_at": status.created_at,
        "network": {
            "ip": status.ip,
            "additional_ips": [{"ip": ip} for ip in status.additional_ips],
        },
        "linux": {"namespaces": {"options": dict(status.namespace_options)}},
        "labels": dict(status.labels),
        "annotations": dict(status.annotations),
        "runtime_handler": status.runtime_handler,
    }


def read_sandbox_status(fields: Mapping[str, Any]) -> PodSandboxStatus:
    """And back; also from a `PodSandbox` of a list, which tells less."""
    network = fields.get("network") or {}
    namespaces = (fields.get("linux") or {}).get("namespaces") or {}
    return PodSandboxStatus(
        fields["id"],
        read_sandbox_metadata(fields.get("metadata") or {}),
        PodSandboxState(fields.get("state", "SANDBOX_READY")),
        fields.get("created_at", 0),
        network.get("ip", ""),
        fields.get("labels") or {},
        tuple(item["ip"] for item in network.get("additional_ips") or ()),
        fields.get("annotations") or {},
        namespaces.get("options") or {},
        fields.get("runtime_handler", ""),
    )


def container_config(config: ContainerConfig) -> Dict:
    """`ContainerConfig`."""
    linux = dict(config.linux)
    if config.memory_limit and not config.resources.get("memory_limit_in_bytes"):
        linux["resources"] = {
            **config.resources,
            "memory_limit_in_bytes": config.memory_limit,
        }
    return {
        "metadata": {"name": config.metadata.name, "attempt": config.metadata.attempt},
        "image": {
            "image": config.image,
            "user_specified_image": config.user_specified_image,
        },
        "command": list(config.command),
        "args": list(config.args),
        "working_dir": config.working_dir,
        "envs": [{"key": key, "value": value} for key, value in config.envs],
        "mounts": list(config.mounts),
        "devices": list(config.devices),
        "labels": dict(config.labels),
        "annotations": dict(config.annotations),
        "log_path": config.log_path,
        "stdin": config.stdin,
        "stdin_once": config.stdin_once,
        "tty": config.tty,
        "linux": linux,
        "stop_signal": config.stop_signal or "RUNTIME_DEFAULT",
    }


def read_container_config(fields: Mapping[str, Any]) -> ContainerConfig:
    """And back."""
    metadata, image = fields.get("metadata") or {}, fields.get("image") or {}
    return ContainerConfig(
        ContainerMetadata(metadata.get("name", ""), metadata.get("attempt", 0)),
        image.get("image", ""),
        tuple(fields.get("command") or ()),
        tuple(fields.get("args") or ()),
        labels=fields.get("labels") or {},
        working_dir=fields.get("working_dir", ""),
        envs=tuple(
            (env.get("key", ""), text(env.get("value", "")))
            for env in fields.get("envs") or ()
        ),
        mounts=tuple(fields.get("mounts") or ()),
        devices=tuple(fields.get("devices") or ()),
        annotations=fields.get("annotations") or {},
        log_path=fields.get("log_path", ""),
        stdin=fields.get("stdin", False),
        stdin_once=fields.get("stdin_once", False),
        tty=fields.get("tty", False),
        linux=fields.get("linux") or {},
        user_specified_image=image.get("user_specified_image", ""),
        stop_signal=fields.get("stop_signal", ""),
    )


def text(value: bytes | str) -> str:
    """Bytes that are usually text: what is not UTF-8 survives the way back."""
    return (
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    )


def container_status(status: ContainerStatus) -> Dict:
    """`ContainerStatus`."""
    fields: Dict = {
        "id": status.id,
        "metadata": {"name": status.metadata.name, "attempt": status.metadata.attempt},
        "state": status.state.value,
        "created_at": status.created_at,
        "started_at": status.started_at,
        "finished_at": status.finished_at,
        "exit_code": status.exit_code,
        "image": {"image": status.image},
        "image_ref": status.image_ref,
        "image_id": status.image_id,
        "reason": status.reason,
        "message": status.message,
        "labels": dict(status.labels),
        "annotations": dict(status.annotations),
        "mounts": list(status.mounts),
        "log_path": status.log_path,
    }
    if status.resources:
        fields["resources"] = {"linux": status.resources}
    if status.user:
        fields["user"] = {"linux": status.user}
    if status.stop_signal:
        fields["stop_signal"] = status.stop_signal
    return fields


def read_container_status(
    fields: Mapping[str, Any], pod_sandbox_id: str
) -> ContainerStatus:
    """And back; also from a `Container` of a list, which tells less. A status does not
    name its sandbox, a list does.
    """
    metadata = fields.get("metadata") or {}
    return ContainerStatus(
        fields["id"],
        fields.get("pod_sandbox_id") or pod_sandbox_id,
        ContainerMetadata(metadata.get("name", ""), metadata.get("attempt", 0)),
        ContainerState(fields.get("state", "CONTAINER_CREATED")),
        fields.get("created_at", 0),
        (fields.get("image") or {}).get("image", ""),
        fields.get("image_ref", ""),
        fields.get("started_at", 0),
        fields.get("finished_at", 0),
        fields.get("exit_code", 0),
        fields.get("reason", ""),
        fields.get("message", ""),
        fields.get("labels") or {},
        fields.get("annotations") or {},
        tuple(fields.get("mounts") or ()),
        fields.get("log_path", ""),
        fields.get("image_id", ""),
        (fields.get("resources") or {}).get("linux") or {},
        (fields.get("user") or {}).get("linux") or {},
        fields.get("stop_signal", ""),
    )


def image(known: Image) -> Dict:
    """`Image`."""
    fields: Dict = {
        "id": known.id,
        "repo_tags": list(known.repo_tags),
        "repo_digests": list(known.repo_digests),
        "size": known.size,
        "username": known.username,
        "pinned": known.pinned,
    }
    if known.uid is not None:
        fields["uid"] = {"value": known.uid}
    return fields


def read_image(fields: Mapping[str, Any]) -> Image:
    """And back."""
    uid = fields.get("uid")
    return Image(
        fields["id"],
        tuple(fields.get("repo_tags") or ()),
        tuple(fields.get("repo_digests") or ()),
        fields.get("size", 0),
        None if uid is None else uid.get("value", 0),
        fields.get("username", ""),
        fields.get("pinned", False),
    )


def auth_config(auth: AuthConfig) -> Dict:
    """`AuthConfig`."""
    return {
        name: getattr(auth, name)
        for name in AuthConfig.__slots__
        if getattr(auth, name)
    }


def read_auth_config(fields: Mapping[str, Any] | None) -> AuthConfig | None:
    """And back; None if nothing was sent."""
    return AuthConfig(**fields) if fields else None
