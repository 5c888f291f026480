"""Container configs and the order of starts beside the recorded ones."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.cri import container_start
from lifecycle.agreements.cri.container_start import container_start_agreement
from lifecycle.compare import AgreementTable
from lifecycle.inspector import open_recording
from lifecycle.kubelet.kuberuntime import container_config, security_context
from tests.conftest import RECORDINGS


def different(table: AgreementTable) -> list[str]:
    return [row.input for row in table.rows if not row.equal]


@pytest.mark.parametrize("cluster", ["kind-1.36.2", "kind-1.36.2-again"])
def test_configs_and_orders_are_the_recorded_ones(cluster: str) -> None:
    table = container_start_agreement(open_recording(RECORDINGS / cluster))
    assert different(table) == [], [d for row in table.rows for d in row.unexplained][:3]
    assert sum(int(row.ours.split()[0]) for row in table.rows if "Config" in row.input) >= 25


@pytest.mark.parametrize(
    ("module", "part", "wrong"),
    [
        (container_config, "hash_container", lambda container: "0"),
        (security_context, "MASKED_PATHS", ()),
        (container_config, "container_log_path", lambda name, attempt: f"{name}_{attempt}.log"),
        (container_start, "linux_container_resources", lambda pod, container, memory: {}),
    ],
)
def test_a_wrong_rule_turns_the_configs_red(
    monkeypatch: pytest.MonkeyPatch, module: Any, part: str, wrong: Any
) -> None:
    monkeypatch.setattr(module, part, wrong)
    table = container_start_agreement(open_recording())
    configs = [row for row in table.rows if "Config" in row.input]
    assert [row.equal for row in configs] == [False] * 3


def test_another_order_turns_the_events_red(monkeypatch: pytest.MonkeyPatch) -> None:
    real = container_start.order_of_events
    calls: list[int] = []

    def reversed_once(played: Any, names: Any) -> Any:
        calls.append(1)
        order = real(played, names)
        return {key: value[::-1] for key, value in order.items()} if len(calls) == 1 else order

    monkeypatch.setattr(container_start, "order_of_events", reversed_once)
    assert different(container_start_agreement(open_recording())) == ["Pulling, Pulled, Created, Started, in order"]
