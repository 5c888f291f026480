"""The status of a StatefulSet is written again if the set has changed meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, conflict
from lifecycle.client.rest import Client
from lifecycle.client.retry import STEPS, retry_on_conflict
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.statefulset.stateful_set_status_updater import StatefulSetStatusUpdater

SETS = resource("statefulsets.apps")


def test_a_refused_status_is_written_on_what_the_lister_knows_by_then() -> None:
    async def main() -> Object:
        api = FakeAPI()
        client = Client(api, "statefulset-controller/v1")
        body: Any = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": {}}
        before = await client.create(SETS, body, "default")
        await client.patch(SETS, "s", "default", {"metadata": {"labels": {"a": "b"}}})
        factory = SharedInformerFactory(client)
        sets = factory.informer(SETS)
        await sets.wait_for_sync()
        written = await StatefulSetStatusUpdater(client, sets).update(before, {"replicas": 2})
        await sets.stop()
        return written

    written = run_virtual(main())
    assert (written["metadata"]["labels"], written["status"]) == ({"a": "b"}, {"replicas": 2})


@pytest.mark.parametrize(("conflicts", "attempts"), [(1, 2), (STEPS - 1, STEPS), (STEPS + 3, STEPS)])
def test_a_conflict_is_tried_again_a_few_times(conflicts: int, attempts: int) -> None:
    async def main() -> tuple[int, float]:
        tries = 0

        async def attempt() -> int:
            nonlocal tries
            tries += 1
            if tries <= conflicts:
                raise conflict("statefulsets", "s", group="apps")
            return tries

        if conflicts < STEPS:
            assert await retry_on_conflict(attempt) == attempts
        else:
            with pytest.raises(StatusError, match="Operation cannot be fulfilled"):
                await retry_on_conflict(attempt)
        return tries, asyncio.get_running_loop().time()

    tries, seconds = run_virtual(main())
    assert tries == attempts
    assert seconds == pytest.approx(0.01 * (attempts - 1))


def test_another_refusal_is_final() -> None:
    async def main() -> None:
        async def attempt() -> None:
            nonlocal tries
            tries += 1
            raise StatusError({"reason": "NotFound", "code": 404, "message": "gone"})

        tries = 0
        with pytest.raises(StatusError, match=r"gone$"):
            await retry_on_conflict(attempt)
        assert tries == 1

    run_virtual(main())
