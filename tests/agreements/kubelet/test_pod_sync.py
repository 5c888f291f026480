"""The pod sync table: every recorded cgroup, path, mount, variable and limit is ours; and a changed rule shows."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.kubelet.played_nodes import played
from lifecycle.agreements.kubelet.pod_sync import pod_sync_agreement
from lifecycle.inspector import open_recording
from lifecycle.kubelet.cm import resource_config
from lifecycle.kubelet.kuberuntime import container_resources
from lifecycle.kubelet.volume import empty_dir
from lifecycle.kubelet.volumemanager import volume_manager
from tests.conftest import RECORDINGS


@pytest.mark.parametrize("cluster", ["kind-1.36.2", "kind-1.36.2-again"])
def test_everything_recorded_is_ours(cluster: str) -> None:
    table = pod_sync_agreement(open_recording(RECORDINGS / cluster))
    assert table.equal, table.unexplained[:3]
    assert table.total > 1100
    assert all(row.comparison.total > 15 for row in table.rows)


@pytest.mark.parametrize(
    ("module", "part", "wrong", "row"),
    [
        (resource_config, "milli_cpu_to_shares", lambda milli: 1024, "cgroups"),
        (container_resources, "oom_score_adjust", lambda pod, c, memory: 0, "limits"),
        (empty_dir, "memory_size", lambda pod, limit, memory: memory, "size"),
        (volume_manager, "READ_ONLY_PLUGINS", set(), "mounts"),
    ],
)
def test_a_wrong_rule_turns_its_row_red(
    monkeypatch: pytest.MonkeyPatch, module: Any, part: str, wrong: Any, row: str
) -> None:
    monkeypatch.setattr(module, part, wrong)
    recording = open_recording()
    table = pod_sync_agreement(recording, played(recording))
    assert row in {r.input.split()[0] for r in table.rows if not r.equal}


def test_containers_that_we_never_made_are_differences() -> None:
    recording = open_recording()
    nodes = played(recording)
    for node in nodes.values():
        node.containers.clear()
    red = {row.input.split()[0] for row in pod_sync_agreement(recording, nodes).rows if not row.equal}
    assert red == {"mounts", "environment", "limits"}


def test_what_only_we_have_is_a_difference() -> None:
    recording = open_recording()
    nodes = played(recording)
    node = next(node for node in nodes.values() if "volumes" in node.pods)
    node.cgroups["kubelet/kubelet-kubepods.slice/extra"] = {}
    inside = next(path for path in node.contents if path.endswith("/down/..data"))
    node.contents[inside.replace("..data", "more")] = ("file", 0o644, "")
    red = {row.input.split()[0] for row in pod_sync_agreement(recording, nodes).rows if not row.equal}
    assert red == {"cgroups", "one"}
