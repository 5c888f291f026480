"""What the status manager forgets, and what it does not."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.status import failure
from lifecycle.kubelet.status.status_manager import StatusManager


class Refusing:
    """A server that is too busy."""

    async def get(self, *path: str) -> None:
        """See `Client`."""
        raise failure(503, "ServiceUnavailable", "too busy")


def test_a_pod_that_goes_with_news_at_the_same_moment_is_forgotten() -> None:
    async def main() -> None:
        nobody: Any = None
        manager = StatusManager(cast(Any, Refusing()), Clock(), nobody, nobody)
        pod = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}}
        manager.set_pod_status(pod, {"phase": "Pending", "conditions": []})
        await asyncio.sleep(1)
        manager.set_pod_status(pod, {"phase": "Running", "conditions": []})
        manager.remove_orphaned_status("u")
        await asyncio.sleep(60)
        assert [task for task in asyncio.all_tasks() if task.get_name() == "status p"] == []

    run_virtual(main())


class Holding:
    """A server that has one pod and does not get it deleted by itself."""

    def __init__(self, pod: Object) -> None:
        self.pod: Object | None = pod
        self.deletes: list[float] = []

    async def get(self, *path: str) -> Object:
        """See `Client`."""
        if self.pod is None:
            raise failure(404, "NotFound", "gone")
        return self.pod

    async def patch(self, row: Any, name: str, namespace: str, patch: Object, **options: Any) -> Object:
        """See `Client`."""
        assert self.pod is not None
        self.pod = {**self.pod, "status": {**self.pod.get("status", {}), **patch["status"]}}
        return self.pod

    async def delete(self, *path: Any, uid: str, grace_period: int) -> None:
        """See `Client`."""
        assert (uid, grace_period) == ("u", 0)
        self.deletes.append(asyncio.get_running_loop().time())
        if len(self.deletes) == 1:
            raise failure(503, "ServiceUnavailable", "no store")
        self.pod = None


class AllOver:
    """No container runs any more."""

    def could_have_running_containers(self, uid: str) -> bool:
        """See `PodDeletionSafetyProvider`."""
        return False

    def is_terminated(self, uid: str) -> bool:
        """See `PodDeletionSafetyProvider`."""
        return True


def test_a_pod_that_ended_before_it_was_deleted_is_let_go_until_the_server_does() -> None:
    async def main() -> list[float]:
        pod: Object = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {"containers": []}}
        server, nobody = Holding(pod), cast(Any, None)
        manager = StatusManager(cast(Any, server), Clock(), nobody, AllOver())
        manager.set_pod_status(pod, {"phase": "Succeeded", "conditions": []})
        manager.terminate_pod(pod)
        await asyncio.sleep(60)
        assert server.deletes == []
        assert server.pod is not None
        deleted = {"deletionTimestamp": "2027-01-01T00:00:23Z", "deletionGracePeriodSeconds": 0}
        server.pod = {**server.pod, "metadata": pod["metadata"] | deleted}
        began = asyncio.get_running_loop().time()
        manager.reconcile(server.pod)
        await asyncio.sleep(60)
        assert server.pod is None
        await manager.stop()
        return [at - began for at in server.deletes]

    assert run_virtual(main()) == [10, 20]
