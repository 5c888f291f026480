"""What a kubelet does about a pod, one after the other; and after what it does no more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.kubelet import sync_pod
from lifecycle.kubelet.sync_pod import PodSyncer

POD: dict[str, Any] = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": []}}


def synced(
    monkeypatch: pytest.MonkeyPatch,
    *,
    phase: str = "Pending",
    known: bool = True,
    retry: float | None = None,
    resize: bool = False,
    sandboxes: int = 0,
) -> tuple[list[str], tuple[bool, float | None]]:
    """The steps in order, and the answer. `known`: whether the pod has a status already; `retry`: what it has to wait for."""
    order = list[str]()
    runtime = SimpleNamespace(sandboxes=[None] * sandboxes, containers=[])
    allocated = {**POD, "allocated": True}

    def step(name: str, answer: Any = None) -> Any:
        def take(*given: Any, **_: Any) -> Any:
            assert all(each is allocated for each in given if isinstance(each, dict) and "spec" in each), name
            order.append(name)
            return answer

        return take

    def later(name: str, answer: Any = None) -> Any:
        taken = step(name, answer)

        async def take(*given: Any, **more: Any) -> Any:
            return taken(*given, **more)

        return take

    def actions(*_: Any, restart_all: bool, **__: Any) -> Any:
        order.append("actions")
        return SimpleNamespace(update_pod_resources=resize)

    monkeypatch.setattr(sync_pod, "compute_pod_actions", actions)
    syncer = SimpleNamespace(
        _allocations=SimpleNamespace(update_pod_from_allocation=lambda pod: allocated),
        _manager=SimpleNamespace(get_pod_status=later("look", runtime), sync_pod=later("runtime", 7.0)),
        _note_resize=step("note resize"),
        _statuses=SimpleNamespace(
            get_pod_status=lambda uid: {} if known else None, set_pod_status=step("status is set")
        ),
        _on_step=lambda *_: None,
        metrics=SimpleNamespace(worker_started=step("worker counted"), running=step("start counted")),
        _clock=SimpleNamespace(now=lambda: 0.0),
        _status=step("status", {"phase": phase, "conditions": []}),
        _probes=SimpleNamespace(
            trigger_readiness=step("readiness"), add_pod=step("probes"), unhealthy={}, started=lambda *_: None
        ),
        _prepare=later("prepare", retry),
        _pull_secrets=later("secrets"),
        _resizer=SimpleNamespace(action=lambda *_: None),
        _resize=later("resize", 0.0),
    )
    answer = asyncio.run(PodSyncer.sync_pod(cast(Any, syncer), POD))
    return order, answer


BEGIN = ["look", "note resize", "status", "status is set", "readiness"]
REST = ["prepare", "secrets", "probes", "actions"]


@pytest.mark.parametrize("sandboxes", [0, 1])
def test_what_a_pod_needs_comes_before_its_probes_and_these_before_its_containers(
    sandboxes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time, whether anything of it runs already. Upstream: `kubelet.SyncPod`."""
    order, answer = synced(monkeypatch, sandboxes=sandboxes)
    assert (order, answer) == ([*BEGIN, *REST, "runtime"], (False, 7.0))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_of_one_that_is_over_the_status_is_told_and_nothing_is_started(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert synced(monkeypatch, phase=phase) == (BEGIN, (True, None))


def test_what_has_to_wait_is_not_probed_and_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for retry in (10.0, 0.0):
        assert synced(monkeypatch, retry=retry) == ([*BEGIN, "prepare"], (False, retry))


def test_a_start_is_counted_when_it_runs_and_a_worker_when_the_pod_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    order, _ = synced(monkeypatch, phase="Running")
    assert order == [*BEGIN, "start counted", *REST, "runtime"]
    order, _ = synced(monkeypatch, known=False)
    assert order == [*BEGIN[:2], "worker counted", *BEGIN[2:], *REST, "runtime"]
    order, _ = synced(monkeypatch, phase="Failed", known=False)
    assert order == [*BEGIN[:2], "worker counted", *BEGIN[2:]]


def test_what_is_to_be_resized_is_resized_around_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    assert synced(monkeypatch, resize=True) == ([*BEGIN, *REST, "resize"], (False, 0.0))
