"""All that the controller manager knows is controllers, and the server knows each; how they begin and end."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.cluster.rehearsal import on_virtual_time, rehearse
from lifecycle.controllers.manager import CONTROLLERS, OWN_IDENTITY, ControllerManager

BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"


def test_each_controller_has_an_account_with_rights_of_its_own() -> None:
    accounts = {account for account, _ in CONTROLLERS.values()} - {OWN_IDENTITY}
    rights = rehearse(lambda cluster: cluster.items(BINDINGS))
    bound = {each["metadata"]["name"] for each in rights}
    assert {f"system:controller:{account}" for account in accounts} <= bound


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("end", ["fails", "is told to stop"])
def test_all_run_beside_one_another_after_the_informers_and_go_down_together(own: bool, end: str) -> None:
    """Whoever brought the informers along stops them. Upstream: `controllermanager.Run`."""
    told = list[str]()

    class Informers:
        def start(self) -> None:
            told.append("informers")

        async def stop(self) -> None:
            told.append("informers stop")

    class Loop:
        def __init__(self, name: str) -> None:
            self.name = name

        async def run(self) -> None:
            told.append(self.name)
            try:
                await asyncio.sleep(1 if self.name == "one" else 100)
                raise ValueError("nobody thought of it")
            except asyncio.CancelledError:
                told.append(f"{self.name} stops")
                raise

    async def main() -> None:
        loops = {name: Loop(name) for name in ("one", "two")}
        manager = SimpleNamespace(informers=Informers(), controllers=loops, _owns_informers=own)
        running = asyncio.create_task(ControllerManager.run(cast(Any, manager)))
        if end == "fails":
            with pytest.raises(ExceptionGroup, match="unhandled errors"):
                await running
            return
        await asyncio.sleep(0.5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    on_virtual_time(main())
    stopped = {"two stops"} if end == "fails" else {"one stops", "two stops"}
    begun, ended, last = told[:3], told[3 : 3 + len(stopped)], told[3 + len(stopped) :]
    assert (begun, set(ended), last) == (["informers", "one", "two"], stopped, ["informers stop"] if own else [])
