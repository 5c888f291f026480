"""Defaults of pods, and of the pod templates inside workloads.

Two layers, as upstream: what every pod spec gets wherever it stands
(`set_pod_spec_defaults`), and what only a real Pod gets (`set_pod_defaults`: requests
from limits, service links, host ports). A Deployment's template therefore shows
`restartPolicy` but no `enableServiceLinks`.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_Pod`, `SetDefaults_PodSpec`,
`SetDefaults_Container`, `SetDefaults_Probe` …), declarative `+default` markers of
`k8s.io/api/core/v1/types.go`, v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.http.wire import Object

_CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
_INIT_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/init-{what}"
    for stage in ("alpha", "beta")
    for what in ("containers", "container-statuses")
)
_REFERENCE = re.compile(  # a repository, perhaps a tag, perhaps a digest
    r"(?P<domain>(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?/)?"
    r"(?P<path>[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
    r"(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_IDENTIFIER = re.compile("[a-f0-9]{64}")
"""The digest of an image alone is no name."""

_LONGEST_PATH = 255


@short_lru_cache(4096)
def image_tag(image: str) -> str:
    """The tag an image name ends in: `latest` if it gives neither tag nor digest, empty
    if it is no image name at all.

    Upstream: `pkg/util/parsers/parsers.go` (`ParseImageName`).
    """
    match = _REFERENCE.fullmatch(image)
    if match is None or _IDENTIFIER.fullmatch(image) or _is_too_long(match):
        return ""
    return match["tag"] or ("" if match["digest"] else "latest")


def _is_too_long(reference: re.Match[str]) -> bool:
    """Whether a repository's path, which docker.io prefixes, is beyond its limit.
    Upstream: `github.com/distribution/reference` (`splitDockerDomain`,
    `RepositoryNameTotalLengthMax`).
    """
    first, path = reference["domain"] or "", reference["path"]
    if first == "localhost/" or first != first.lower() or set(first) & set(".:"):
        return len(path) > _LONGEST_PATH
    if not first and "/" not in path:
        first = "library/"
    return len(first + path) > _LONGEST_PATH


def pull_policy(image: str) -> str:
    """`Always` for the tag `latest`, `IfNotPresent` for everything else."""
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def set_pod_defaults(pod: Object) -> None:
    """Defaults of a Pod."""
    _drop_init_container_annotations(pod)
    spec = pod.get("spec")
    if spec is None:
        spec = pod["spec"] = {}
    set_pod_spec_defaults(spec)
    if (
        spec["terminationGracePeriodSeconds"] < 0
    ):  # kept in templates, where it may already be stored
        spec["terminationGracePeriodSeconds"] = 1
    for group in ("containers", "initContainers"):
        for container in spec.get(group) or ():
            resources = container.get("resources")
            limits = resources and resources.get("limits")
            if limits:
                requests = resources.get("requests")
                missing = {
                    name: value
                    for name, value in limits.items()
                    if name not in (requests or ())
                }
                if missing:
                    resources["requests"] = {**(requests or {}), **missing}
    if spec.get("resources"):
        from lifecycle.api.defaults.pod_level_resources import set_pod_level_defaults

        set_pod_level_defaults(spec)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        for group in ("containers", "initContainers"):
            for container in spec.get(group) or ():
                for port in container.get("ports") or ():
                    if not port.get("hostPort") and port.get("containerPort"):
                        port["hostPort"] = port["containerPort"]


def set_pod_template_defaults(template: Object) -> None:
    """Defaults of a template inside a workload."""
    _drop_init_container_annotations(template)
    spec = template.get("spec")
    if spec is None:
        spec = template["spec"] = {}
    set_pod_spec_defaults(spec)


def set_pod_spec_defaults(spec: Object) -> None:
    """What every pod spec gets, wherever it stands."""
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    for volume in spec.get("volumes") or ():
        set_volume_defaults(volume)
    for group in _CONTAINER_LISTS:
        for container in spec.get(group) or ():
            _set_container_defaults(container)
    set_service_account_names(spec)
    overhead = spec.get("overhead")
    if overhead:
        round_up_resource_list(overhead)
    resources = spec.get("resources")
    if resources:
        round_up_resource_list(resources.get("limits"))
        round_up_resource_list(resources.get("requests"))


def _drop_init_container_annotations(pod: Object) -> None:
    """So init containers were written before there was a field for them. Upstream:
    `pkg/apis/core/v1/conversion.go` (`dropInitContainerAnnotations`).
    """
    metadata = pod.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if _INIT_ANNOTATIONS.isdisjoint(annotations):
        return
    kept = {k: v for k, v in annotations.items() if k not in _INIT_ANNOTATIONS}
    if kept:
        metadata["annotations"] = kept
    else:
        del metadata["annotations"]


def set_service_account_names(spec: Object) -> None:
    """`serviceAccount` is an old name for `serviceAccountName`; both are always shown.
    Upstream: `pkg/apis/core/v1/conversion.go`.
    """
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _set_container_defaults(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    for port in container.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source is not None:
            _set_env_source_defaults(source)
    resources = container.get("resources")
    if resources:
        round_up_resource_list(resources.get("limits"))
        round_up_resource_list(resources.get("requests"))
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            set_probe_defaults(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        for name in ("postStart", "preStop"):
            handler = lifecycle.get(name)
            if handler and handler.get("httpGet") is not None:
                _set_http_get_defaults(handler["httpGet"])


def _set_env_source_defaults(source: Object) -> None:
    field = source.get("fieldRef")
    if field is not None and not field.get("apiVersion"):
        field["apiVersion"] = "v1"
    key = source.get("fileKeyRef")
    if key is not None and key.get("optional") is None:
        key["optional"] = False


def set_probe_defaults(probe: Object) -> None:
    """Defaults of a probe and its handler."""
    for key, value in (
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ):
        if not probe.get(key):
            probe[key] = value
    if probe.get("httpGet") is not None:
        _set_http_get_defaults(probe["httpGet"])
    grpc = probe.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _set_http_get_defaults(action: Object) -> None:
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"


_VOLUME_DEFAULTS: dict[str, tuple[tuple[str, Any], ...]] = {
    "secret": (("defaultMode", 0o644),),
    "configMap": (("defaultMode", 0o644),),
    "downwardAPI": (("defaultMode", 0o644),),
    "projected": (("defaultMode", 0o644),),
    "hostPath": (("type", ""),),
    "iscsi": (("iscsiInterface", "default"),),
    "rbd": (("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")),
    "azureDisk": (
        ("cachingMode", "ReadWrite"),
        ("fsType", "ext4"),
        ("readOnly", False),
        ("kind", "Shared"),
    ),
    "scaleIO": (("storageMode", "ThinProvisioned"), ("fsType", "xfs")),
}


def set_volume_source_defaults(holder: Object) -> None:
    """Defaults of whatever volume source a volume or persistent volume holds."""
    for name, source in holder.items():
        defaults = _VOLUME_DEFAULTS.get(name)
        if defaults is not None and isinstance(source, dict):
            for key, value in defaults:
                if source.get(key) is None:
                    source[key] = value


def set_volume_defaults(volume: Object) -> None:
    """Defaults of one volume of a pod; a volume without a source is an `emptyDir`."""
    if len(volume) == 1:
        volume["emptyDir"] = {}
        return
    set_volume_source_defaults(volume)
    items = (volume.get("downwardAPI") or {}).get("items") or ()
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = 3600
        items = [*items, *((source.get("downwardAPI") or {}).get("items") or ())]
    for item in items:
        field = item.get("fieldRef")
        if field is not None and not field.get("apiVersion"):
            field["apiVersion"] = "v1"
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        set_claim_spec_defaults(template.setdefault("spec", {}))
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference", ""))


def set_claim_spec_defaults(spec: Object) -> None:
    """Defaults of a persistent volume claim's spec, stand-alone or in a template."""
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    resources = spec.get("resources")
    if resources:
        round_up_resource_list(resources.get("limits"))
        round_up_resource_list(resources.get("requests"))
