"""What the kubelet asks the runtime to make: a `ContainerConfig`, filled from the pod's
spec.

Four labels say whose container it is; they are how the kubelet finds its containers
again after a restart. What else it will want to know then (how long to wait when
killing, what to run before, which spec this was made from) goes along as annotations.
Where the log is to be written is a field. Nothing says "this is a container" or "it
belongs to that sandbox": those are the runtime's own notes, made later, in the OCI
spec.

Hooks do not go to the runtime. The `preStop` annotation is a note from the kubelet to
itself.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_container.go`
(`generateContainerConfig`), `labels.go` (`newContainerLabels`,
`newContainerAnnotations`), `kuberuntime_sandbox.go` (`generatePodSandboxConfig`),
`kuberuntime_sandbox_linux.go` (`applySandboxResources`),
`pkg/kubelet/container/helpers.go` (`HashContainer`,
`ExpandContainerCommandOnlyStatic`), v1.36. Left out: devices, Windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import PodResourcesOptions, pod_limits, pod_requests
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.kubelet.cm.resource_config import (
    QUOTA_PERIOD,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
    milli_values,
)
from lifecycle.kubelet.container.expansion import Expansion
from lifecycle.kubelet.kuberuntime.security_context import (
    sandbox_security_context,
    security_context,
)
from lifecycle.kubelet.logs.files import (
    POD_LOGS,
    container_log_path,
    pod_logs_directory,
)


def hash_container(container: Object) -> str:
    """Eight or fewer hexadecimal digits over name and image: when they change, the
    container is replaced.

    FNV-1a over the text that Go prints for the bytes of the JSON, as with
    `pod-template-hash`.
    """
    picked = fast_json.dumps({"image": container["image"], "name": container["name"]})
    return _hash_of(fast_json.trimmed(picked))


@short_lru_cache(1024)
def _hash_of(picked: bytes) -> str:
    state = 2166136261
    for byte in f"([]uint8)[{' '.join(map(str, picked))}]".encode():
        state = (state ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{state:x}"


def _one_for_all(linux: Mapping[str, Any]) -> Fields:
    """Thousands of containers say the same about Linux, and none of what they say is
    ever changed: they share it.
    """
    return _read_once(fast_json.trimmed(fast_json.dumps(linux)))


@short_lru_cache(256, 4096)
def _read_once(linux: bytes) -> Fields:
    fields: Fields = fast_json.loads(linux)
    return fields


def pod_labels(pod: Object) -> dict[str, str]:
    """A sandbox' labels: the pod's own, and whose it is."""
    metadata = pod["metadata"]
    return {
        **(metadata.get("labels") or {}),
        "io.kubernetes.pod.name": metadata["name"],
        "io.kubernetes.pod.namespace": metadata["namespace"],
        "io.kubernetes.pod.uid": metadata["uid"],
    }


def container_labels(pod: Object, container: Object) -> dict[str, str]:
    """Whose container it is."""
    metadata = pod["metadata"]
    return {
        "io.kubernetes.container.name": container["name"],
        "io.kubernetes.pod.name": metadata["name"],
        "io.kubernetes.pod.namespace": metadata["namespace"],
        "io.kubernetes.pod.uid": metadata["uid"],
    }


def container_annotations(
    pod: Object, container: Object, attempt: int
) -> dict[str, str]:
    """What the kubelet will want to know when it sees the container again."""
    metadata, spec = pod["metadata"], pod["spec"]
    annotations = {
        "io.kubernetes.container.hash": hash_container(container),
        "io.kubernetes.container.restartCount": str(attempt),
        "io.kubernetes.container.terminationMessagePath": container.get(
            "terminationMessagePath", ""
        ),
        "io.kubernetes.container.terminationMessagePolicy": container.get(
            "terminationMessagePolicy", ""
        ),
    }
    if metadata.get("deletionGracePeriodSeconds") is not None:
        annotations["io.kubernetes.pod.deletionGracePeriod"] = str(
            metadata["deletionGracePeriodSeconds"]
        )
    if spec.get("terminationGracePeriodSeconds") is not None:
        annotations["io.kubernetes.pod.terminationGracePeriod"] = str(
            spec["terminationGracePeriodSeconds"]
        )
    hook = (container.get("lifecycle") or {}).get("preStop")
    if hook:
        annotations["io.kubernetes.container.preStopHandler"] = fast_json.dumps(
            hook
        ).decode()
    if container.get("ports"):
        annotations["io.kubernetes.container.ports"] = fast_json.dumps(
            container["ports"]
        ).decode()
    return annotations


def generate_container_config(
    pod: Object,
    container: Object,
    attempt: int,
    *,
    image: str = "",
    envs: Sequence[tuple[str, str]] = (),
    mounts: Sequence[Fields] = (),
    resources: Mapping[str, Any] | None = None,
    stop_signal: str = "",
    image_uid: int | None = None,
    image_username: str = "",
    userns: Mapping[str, Any] | None = None,
) -> ContainerConfig:
    """The config of a container's next run.

    `attempt`: how often it was run before. `image`: the runtime's id of it. `envs`: its
    whole environment, which also fills in `$(NAME)` in command and arguments.
    `resources`: `LinuxContainerResources`. `image_uid`, `image_username`: whom the
    image names. `userns`: CRI's `UserNamespace` of the pod. Raises ExpansionError.
    """
    known, expansion = dict(envs), Expansion()

    def words(key: str) -> tuple[str, ...]:
        given = container.get(key) or ()
        return tuple(expansion.expand(word, known.get) for word in given)

    return ContainerConfig(
        ContainerMetadata(container["name"], attempt),
        image or container["image"],
        words("command"),
        words("args"),
        labels=container_labels(pod, container),
        working_dir=container.get("workingDir", ""),
        envs=tuple(envs),
        mounts=tuple(mounts),
        annotations=container_annotations(pod, container, attempt),
        log_path=container_log_path(container["name"], attempt),
        stdin=bool(container.get("stdin")),
        stdin_once=bool(container.get("stdinOnce")),
        tty=bool(container.get("tty")),
        linux=_one_for_all(
            {
                "resources": dict(resources or {}),
                "security_context": security_context(
                    pod, container, image_uid, image_username, userns
                ),
            }
        ),
        user_specified_image=container["image"],
        stop_signal=stop_signal
        or (container.get("lifecycle") or {}).get("stopSignal", ""),
    )


def sandbox_resources(pod: Object) -> dict[str, Any]:
    """What the pod's containers ask for together, for runtimes that have to know
    beforehand how large a pod gets.

    Nothing limits the pause process itself to it. Upstream:
    `calculateSandboxResources`.
    """
    bare = PodResourcesOptions(exclude_overhead=True)
    requests, limits = (
        milli_values(pod_requests(pod, bare)),
        milli_values(pod_limits(pod, bare)),
    )
    resources = {
        "cpu_period": QUOTA_PERIOD,
        "cpu_quota": milli_cpu_to_quota(limits.get("cpu", 0)),
        "cpu_shares": milli_cpu_to_shares(requests.get("cpu") or limits.get("cpu", 0)),
        "memory_limit_in_bytes": limits.get("memory", 0) // 1000,
    }
    return {name: value for name, value in resources.items() if value}


def generate_pod_sandbox_config(
    pod: Object,
    attempt: int,
    *,
    hostname: str = "",
    dns_config: Fields | None = None,
    cgroup_parent: str = "",
    logs: str = POD_LOGS,
    userns: Mapping[str, Any] | None = None,
) -> PodSandboxConfig:
    """The config of a pod's next sandbox. `logs`: the directory in which each pod has
    its own. `userns`: CRI's `UserNamespace` of it. Upstream:
    `generatePodSandboxConfig`.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    mappings = [
        {
            "protocol": port.get("protocol", "TCP"),
            "container_port": port["containerPort"],
            "host_port": port.get("hostPort", 0),
            "host_ip": port.get("hostIP", ""),
        }
        for container in spec["containers"]
        for port in container.get("ports") or ()
    ]
    linux: dict[str, Any] = {
        "security_context": sandbox_security_context(pod, userns),
        "resources": sandbox_resources(pod),
    }
    sysctls = {
        each["name"]: each["value"]
        for each in (spec.get("securityContext") or {}).get("sysctls") or ()
    }
    if sysctls:
        linux["sysctls"] = sysctls
    if cgroup_parent:
        linux["cgroup_parent"] = cgroup_parent
    return PodSandboxConfig(
        PodSandboxMetadata(
            metadata["name"], metadata["uid"], metadata["namespace"], attempt
        ),
        hostname=(
            ""  # it has the node's, and no right to give it another
            if spec.get("hostNetwork")
            else hostname or spec.get("hostname") or metadata["name"]
        ),
        labels=pod_labels(pod),
        host_network=bool(spec.get("hostNetwork")),
        log_directory=pod_logs_directory(pod, logs),
        dns_config=dns_config or {},
        port_mappings=tuple(mappings),
        annotations=metadata.get("annotations") or {},
        linux=_one_for_all(linux),
    )
