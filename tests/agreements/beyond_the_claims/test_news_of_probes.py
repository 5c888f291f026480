"""Whom a probe's news reaches: the status of the pod, if it is about being ready or having started; and its worker, always."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.kubelet.kubelet import Kubelet
from lifecycle.kubelet.prober.prober_manager import ProbeUpdate


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize(("kind", "told"), [("readiness", "ready"), ("startup", "started"), ("liveness", "")])
def test_what_a_probe_finds_is_noted_as_what_it_is_about(kind: str, told: str, passed: bool) -> None:
    """A container that is not alive has nothing noted: its worker looks. Upstream: `syncLoopIteration`, `handleProbeSync`."""
    heard = list[tuple[Any, ...]]()
    statuses = SimpleNamespace(
        set_container_readiness=lambda *said: heard.append(("ready", *said)),
        set_container_startup=lambda *said: heard.append(("started", *said)),
    )
    workers = SimpleNamespace(sync=lambda uid: heard.append(("sync", uid)))
    kubelet = SimpleNamespace(status_manager=statuses, pod_workers=workers)
    update = ProbeUpdate({"metadata": {"uid": "u"}}, kind, "c1", passed)
    Kubelet.handle_probe_update(cast(Any, kubelet), update)
    assert heard == [*([(told, "u", "c1", passed)] if told else []), ("sync", "u")]
