"""Whose namespaces a container joins that debugs another one."""

from __future__ import annotations

from lifecycle.cri.oci_spec import namespaces_of


def test_who_debugs_another_container_joins_its_processes_and_the_users_of_the_pod() -> None:
    ids = [{"container_id": 0, "host_id": 65536, "length": 65536}]
    users = {"userns_options": {"mode": "POD", "uids": ids, "gids": ids}}
    joined = namespaces_of({"namespace_options": {"pid": "TARGET", **users}}, 42, 7)
    paths = {n["type"]: n.get("path") for n in joined}
    assert (paths["pid"], paths["user"]) == ("/proc/7/ns/pid", "/proc/42/ns/user")
