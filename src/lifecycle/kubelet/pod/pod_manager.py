"""Which static pods the API server shows, and as what.

The status manager asks it where a static pod's status goes; the loop of the kubelet
tells it what the API server says. (Upstream's also keeps the pods themselves; here
those are the pod workers'.)

Upstream: `pkg/kubelet/pod/pod_manager.go` (`Manager`, `GetMirrorPodByPod`,
`IsMirrorPodOf`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.types.pod_update import CONFIG_HASH, CONFIG_MIRROR, is_mirror_pod


def is_mirror_pod_of(mirror: Object, pod: Object) -> bool:
    """Whether it still shows what the static pod is."""
    annotations = mirror["metadata"].get("annotations") or {}
    return bool(
        annotations.get(CONFIG_MIRROR)
        == (pod["metadata"].get("annotations") or {}).get(CONFIG_HASH)
    )


class PodManager:
    """The mirror pods of one node, by the full name that they share with theirs."""

    def __init__(self) -> None:
        self._mirrors: dict[tuple[str, str], Object] = {}

    def get_mirror_pod(self, pod: Object) -> Object | None:
        """A static pod's mirror, also an outdated one."""
        return self._mirrors.get(full_name(pod))

    def get_current_mirror_pod(self, pod: Object) -> Object | None:
        """A static pod's mirror, if it shows the pod as it is."""
        mirror = self.get_mirror_pod(pod)
        if mirror is None or not is_mirror_pod_of(mirror, pod):
            return None
        return mirror

    def update_mirror_pod(self, pod: Object) -> bool:
        """Whether what came from the API server is a mirror; then it is remembered, and
        nothing else is to be done with it.
        """
        if not is_mirror_pod(pod):
            return False
        self._mirrors[full_name(pod)] = pod
        return True

    def remove_mirror_pod(self, pod: Object) -> bool:
        """Whether what is gone was a mirror."""
        return (
            is_mirror_pod(pod) and self._mirrors.pop(full_name(pod), None) is not None
        )


def full_name(pod: Object) -> tuple[str, str]:
    """Namespace and name."""
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
