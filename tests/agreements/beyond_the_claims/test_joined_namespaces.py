"""Whose namespaces a container joins that debugs another one."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.oci_spec import namespaces_of


def test_who_debugs_another_container_joins_its_processes_and_the_users_of_the_pod() -> None:
    ids = [{"container_id": 0, "host_id": 65536, "length": 65536}]
    users = {"userns_options": {"mode": "POD", "uids": ids, "gids": ids}}
    joined = namespaces_of({"namespace_options": {"pid": "TARGET", **users}}, 42, 7)
    paths = {n["type"]: n.get("path") for n in joined}
    assert (paths["pid"], paths["user"]) == ("/proc/7/ns/pid", "/proc/42/ns/user")


@pytest.mark.parametrize(
    ("pid", "made"),
    [
        (None, {"type": "pid", "path": "/proc/42/ns/pid"}),
        ("POD", {"type": "pid", "path": "/proc/42/ns/pid"}),
        ("CONTAINER", {"type": "pid"}),
        ("TARGET", {"type": "pid", "path": "/proc/7/ns/pid"}),
        ("NODE", None),
    ],
)
@pytest.mark.parametrize("users", [False, True])
def test_each_container_has_its_own_mounts_and_joins_all_else_of_its_pod(
    pid: str | None, made: dict[str, str] | None, users: bool
) -> None:
    """`POD` is the first of CRI's numbers, and so what is meant where nothing is said. Upstream: containerd's
    `WithPodNamespaces`.
    """
    ids = [{"container_id": 0, "host_id": 65536, "length": 65536}]
    options: dict[str, Any] = {"userns_options": {"mode": "POD", "uids": ids, "gids": ids}} if users else {}
    if pid is not None:
        options["pid"] = pid
    joined = namespaces_of({"namespace_options": options} if options else {}, 42, 7)
    assert joined == [
        *([{"type": "user", "path": "/proc/42/ns/user"}] if users else []),
        *([made] if made else []),
        {"type": "ipc", "path": "/proc/42/ns/ipc"},
        {"type": "uts", "path": "/proc/42/ns/uts"},
        {"type": "mount"},
        {"type": "network", "path": "/proc/42/ns/net"},
    ]
