"""What a node keeps for its pods: their cgroups, directories and volumes.

There are two kinds of node. One has a machine of its own (`local_pod_host.py`). The
other is only there on paper: a kubelet with a hollow runtime keeps nothing, which is
why thousands fit in one process, but it still says what is missing for a pod, and asks
for the tokens that the API server expects to be asked for.

Upstream: `pkg/kubelet/cm/container_manager.go` (`ContainerManager`),
`container_manager_stub.go`, `pkg/kubelet/volumemanager/volume_manager.go`
(`VolumeManager`), v1.36; the hollow kubelet of `pkg/kubemark/hollow_kubelet.go` is made
of such stubs, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.cm.resource_config import ResourceConfig
from lifecycle.kubelet.container.runtime_helper import RuntimeHelper
from lifecycle.kubelet.kubelet_pods.paper_volumes import PaperVolumes
from lifecycle.kubelet.kubelet_pods.run_container_options import (
    PaperOptions,
    subpaths_only,
)
from lifecycle.kubelet.service_lister import ServiceLister
from lifecycle.kubelet.token.token_manager import TokenManager
from lifecycle.kubelet.userns.userns_manager import UsernsManager
from lifecycle.kubelet.volumemanager.pending_operations import (
    Operation,
    PendingOperations,
)
from lifecycle.kubelet.volumemanager.references import (
    ObjectReferences,
    mounted_volumes,
    token_projections,
)
from lifecycle.kubelet.volumemanager.volume_manager import MountResult


class PodHost(Protocol):
    """One per node. `unified`: what every container's cgroup gets of version 2's
    files.
    """

    runtime_helper: RuntimeHelper
    tokens: TokenManager
    userns: UsernsManager
    unified: Mapping[str, str]

    def start(self) -> None:
        """Make what all pods need. Raises CgroupError."""
        ...

    async def wait_for_services(self) -> None:
        """Until it knows the cluster's services: before, no pod is started."""
        ...

    async def stop(self) -> None:
        """No more watching."""
        ...

    def ensure_cgroups(
        self, pod: Object, active_pods: Callable[[], Iterable[Object]]
    ) -> None:
        """Weigh the classes anew and make the pod's own group. Raises CgroupError."""
        ...

    def pod_cgroup_config(self, pod: Object) -> ResourceConfig | None:
        """The limits that the kernel keeps for the pod; None if it has no group."""
        ...

    def grow_cgroup(self, pod: Object) -> None:
        """Raise the limits of the pod's group to what it was promised, where they are
        lower. Raises CgroupError.
        """
        ...

    def resize_cgroups(self, pod: Object, active_pods: Iterable[Object]) -> None:
        """Make the limits of the pod's group what it was promised, and weigh the
        classes anew. Raises CgroupError.
        """
        ...

    def make_directories(self, pod: Object) -> None:
        """Raises OSError."""
        ...

    async def mount(self, pod: Object) -> MountResult:
        """Set its volumes up."""
        ...

    async def release(self, pod: Object, active_pods: Iterable[Object]) -> None:
        """Nothing of it runs any more: take its volumes down, remove its group, forget
        its tokens. Raises VolumeError, OSError.
        """
        ...

    def clean_up(self, known: Collection[str]) -> list[str]:
        """Remove what is left of pods that nobody knows: groups, volumes, directories.
        The uids whose directories went. Raises VolumeError, OSError.
        """
        ...


class PaperPodHost:
    """A node that is not there. `volumes`: what would be on its disk, for a runtime
    that wants to know.
    """

    def __init__(
        self,
        references: ObjectReferences,
        tokens: TokenManager,
        allocatable: Mapping[str, str],
        host_ip: str,
        volumes: PaperVolumes | None = None,
        cluster_dns: tuple[str, ...] = (),
        *,
        services: ServiceLister,
        rng: random.Random,
        now: Callable[[], float],
    ) -> None:
        self._references = references
        self._services = services
        self.userns = UsernsManager(None, lambda handler: True, rng)
        self.tokens = tokens
        self._volumes = volumes
        self._now = now
        self._pending = PendingOperations()
        self.unified: Mapping[str, str] = {}
        self.runtime_helper: RuntimeHelper = PaperOptions(
            references.get,
            host_ip,
            allocatable,
            subpaths_only if volumes is None else volumes.mounts,
            cluster_dns,
            services.list,
        )

    def start(self) -> None:
        pass

    async def wait_for_services(self) -> None:
        await self._services.wait_for_sync()

    async def stop(self) -> None:
        await self._services.stop()

    def ensure_cgroups(
        self, pod: Object, active_pods: Callable[[], Iterable[Object]]
    ) -> None:
        pass

    def pod_cgroup_config(self, pod: Object) -> ResourceConfig | None:
        return None

    def grow_cgroup(self, pod: Object) -> None:
        pass

    def resize_cgroups(self, pod: Object, active_pods: Iterable[Object]) -> None:
        pass

    def make_directories(self, pod: Object) -> None:
        pass

    async def mount(self, pod: Object) -> MountResult:
        """Look whether all is there that would be mounted, and say where it can be
        read.
        """
        uid, now, result = pod["metadata"]["uid"], self._now(), MountResult()
        lacking = dict(await self._references.unmountable_volumes(pod))
        lacking |= dict(await self._fetch_tokens(pod))
        names = [volume["name"] for volume in mounted_volumes(pod)]
        for name in names:
            if not self._pending.is_due(uid, name, now):
                continue
            if name in lacking:
                reason = lacking[name]
                self._pending.failed(uid, name, Operation.MOUNT, reason, now)
                result.failures.append((name, reason))
            else:
                self._pending.succeeded(uid, name)
        waiting = self._pending.failures(uid, names).values()
        if waiting:
            soonest = min(failure.again_at for failure in waiting)
            result.retry_after = max(soonest - now, 0.1)
        elif self._volumes is not None:
            self._volumes.publish(pod)
        return result

    async def _fetch_tokens(self, pod: Object) -> list[tuple[str, str]]:
        """Volumes whose token is not to be had, and why."""
        failures = []
        for volume, source in token_projections(pod):
            try:
                await self.tokens.get_service_account_token(
                    pod,
                    source.get("audience", ""),
                    source.get("expirationSeconds", 3600),
                )
            except LookupError as error:
                failures.append((volume, f"failed to fetch token: {error.args[0]}"))
        return failures

    async def release(self, pod: Object, active_pods: Iterable[Object]) -> None:
        uid = pod["metadata"]["uid"]
        self.tokens.delete_for_pod(uid)
        self.userns.release(uid)
        self._pending.forget(uid)
        if self._volumes is not None:
            await self._volumes.withdraw(uid)

    def clean_up(self, known: Collection[str]) -> list[str]:
        return []
