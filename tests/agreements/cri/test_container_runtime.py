"""Every recorded CRI config, put to our translation: the OCI spec is containerd's, and a changed rule shows."""

from __future__ import annotations

import pytest

from lifecycle.agreements.cri.container_runtime import container_runtime_agreement
from lifecycle.cri import oci_spec
from lifecycle.inspector import open_recording


def test_each_recorded_pod_and_container_is_specified_as_containerd_did() -> None:
    table = container_runtime_agreement(open_recording())
    assert not table.unexplained, table.unexplained[:3]
    assert len(table.rows) == 119
    different = [row.input for row in table.rows if not row.equal]
    assert [name.split("-")[0] for name in different] == ["container kube"] * 3, different  # the privileged ones


def test_a_container_that_makes_its_own_network_namespace_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = oci_spec.namespaces_of

    def own_network(*arguments: object) -> list[dict[str, object]]:
        return [{"type": n["type"]} if n["type"] == "network" else n for n in real(*arguments)]  # type: ignore[arg-type]

    monkeypatch.setattr(oci_spec, "namespaces_of", own_network)
    table = container_runtime_agreement(open_recording())
    assert any("/linux/namespaces" in difference.path for _, difference in table.unexplained)
    assert sum(row.input.startswith("container") and not row.equal for row in table.rows) == 31


def test_mounts_in_another_order_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oci_spec, "ordered", lambda mounts: list(mounts))
    assert container_runtime_agreement(open_recording()).unexplained


def test_a_container_without_its_filter_of_system_calls_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oci_spec, "seccomp_of", lambda *_: None)
    table = container_runtime_agreement(open_recording())
    assert any("/linux/seccomp" in difference.path for _, difference in table.unexplained)


def test_a_recording_without_nodes_has_nothing_to_compare() -> None:
    assert container_runtime_agreement(open_recording("bare-1.20.2")).rows == []
