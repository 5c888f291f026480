"""A kubelet that cannot look at its containers, and one that need not look often."""

from __future__ import annotations

import asyncio

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kuberuntime.container_config import generate_pod_sandbox_config
from lifecycle.kubelet.pleg.generic import (
    EVENTED_RELIST_PERIOD,
    RELIST_PERIOD,
    EventedPLEG,
    GenericPLEG,
)

OFTEN, SELDOM = RELIST_PERIOD, EVENTED_RELIST_PERIOD
LOOKS = [OFTEN, SELDOM, SELDOM, OFTEN, OFTEN, SELDOM]
BLIND = [
    "pleg has yet to be successful",
    "",
    "",
    "pleg was last seen active 181s ago; threshold is 3m0s",
    "",
]


def says_when_it_cannot_see() -> list[str]:
    """What is wrong before it has looked, then, three minutes later, one second more,
    and when it has looked again.
    """

    async def main() -> list[str]:
        looking = GenericPLEG(HollowRuntime(), lambda event: None)
        said = [looking.healthy()]
        await looking.relist()
        said.append(looking.healthy())
        for seconds in (180, 1):
            await asyncio.sleep(seconds)
            said.append(looking.healthy())
        await looking.relist()
        return [*said, looking.healthy()]

    return on_virtual_time(main())


def looks_as_often_as_it_has_to() -> list[float]:
    """In how many seconds a kubelet looks again that is told of events: at first; when
    it has heard of all that it sees, and goes on to; when it sees what it has not been
    told, while nothing happens any more, and when it is told again.
    """

    async def main() -> list[float]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.0.0.0/24")
        heard: list[str] = []
        looking = EventedPLEG(runtime, lambda event: heard.append(event.container_id))
        periods = []
        for name, told in (
            ("", False),
            ("a", True),
            ("", False),
            ("b", False),
            ("", False),
            ("c", True),
        ):
            if name:
                pod = {"metadata": {"name": name, "namespace": "n", "uid": name}}
                config = generate_pod_sandbox_config({**pod, "spec": {"containers": []}}, 0)
                made = await runtime.run_pod_sandbox(config)
                if told:
                    started = ContainerEventType.STARTED
                    looking.event(ContainerEventResponse(made, started, 0, "", name))
            periods.append(await looking.look())
        assert len(heard) == len(set(heard)) == 3, "of each once"
        return periods

    return on_virtual_time(main())


def test_who_cannot_see_says_so() -> None:
    assert says_when_it_cannot_see() == BLIND


def test_who_is_told_of_events_looks_less_often() -> None:
    assert looks_as_often_as_it_has_to() == LOOKS
