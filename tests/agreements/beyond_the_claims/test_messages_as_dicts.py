"""What a runtime's messages say as dicts: what is there and no more, lists and maps whole, enums by their names."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.messages import fields_of, message_class, new

MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("ContainerConfig", {}),
    ("ContainerConfig", {"metadata": {"name": "c", "attempt": 2}, "command": ["a", "b", "a"], "tty": True}),
    ("ContainerConfig", {"labels": {"a": "1", "b": ""}, "envs": [{"key": "K", "value": b"v"}, {"key": "E"}]}),
    ("ContainerConfig", {"linux": {"resources": {"cpu_shares": 2}}, "working_dir": "/srv"}),
    (
        "ContainerConfig",
        {"mounts": [{"container_path": "/a", "propagation": "PROPAGATION_BIDIRECTIONAL"}, {"container_path": "/b"}]},
    ),
    ("ContainerStatus", {"id": "c", "state": "CONTAINER_EXITED", "exit_code": 137, "finished_at": 7}),
    ("ExecSyncResponse", {"stdout": b"\xff\x00", "exit_code": 1}),
    ("PodSandboxStatus", {"network": {"ip": "10.0.0.1", "additional_ips": [{"ip": "fd00::1"}]}}),
    ("NamespaceOption", {"network": "NODE", "pid": "CONTAINER"}),
]


@pytest.mark.parametrize(("name", "fields"), MESSAGES)
def test_what_is_said_is_read_again_after_it_has_been_sent(name: str, fields: dict[str, Any]) -> None:
    assert fields_of(new(name, fields)) == fields
    assert fields_of(message_class(name).FromString(new(name, fields).SerializeToString())) == fields


def test_what_is_as_it_is_anyway_is_not_said_and_an_empty_part_that_is_there_is() -> None:
    assert fields_of(new("ContainerStatus", {"state": "CONTAINER_CREATED", "exit_code": 0, "id": ""})) == {}
    assert fields_of(new("ContainerConfig", {"linux": {}, "command": [], "labels": {}})) == {"linux": {}}


def test_of_a_name_that_nobody_knows_there_is_the_number() -> None:
    status = new("ContainerStatus", {"id": "c"})
    status.state = 7
    assert fields_of(status) == {"id": "c", "state": 7}
