"""What the status manager forgets."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from lifecycle.api.clock import Clock, run_virtual
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
