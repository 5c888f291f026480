"""Which ids pods get: each its own, none of the machine's, remembered on the disk, free again afterwards."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.runtime_state import RuntimeState
from lifecycle.kubelet.userns.userns_manager import IDS_PER_POD, UsernsError, UsernsManager, parse_mappings


def manager(where: Path, slots: int = 4) -> UsernsManager:
    return UsernsManager(PodDirectories(where), lambda handler: True, random.Random(1), slots * IDS_PER_POD)


def pod(uid: str, **spec: Any) -> Object:
    return {"metadata": {"uid": uid, "name": uid}, "spec": {"hostUsers": False, **spec}}


def first_of(userns: dict[str, Any]) -> int:
    assert userns["mode"] == "POD"
    assert userns["uids"] == userns["gids"]
    assert [(each["container_id"], each["length"]) for each in userns["uids"]] == [(0, 65536)]
    return int(userns["uids"][0]["host_id"])


def test_no_two_pods_share_an_id_and_nobody_gets_the_machines(tmp_path: Path) -> None:
    ours = manager(tmp_path)
    firsts = {first_of(ours.get_or_create_user_namespace_mappings(pod(f"p{number}"))) for number in range(4)}
    assert firsts == {65536 * number for number in (1, 2, 3, 4)}
    with pytest.raises(
        UsernsError, match=r"create user namespace: could not find an empty slot to allocate a user namespace$"
    ):
        ours.get_or_create_user_namespace_mappings(pod("one-too-many"))


class LastSlot(random.Random):
    """Chance at the end of what is possible."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return start - 1


def test_the_ids_of_a_machine_end_with_the_last_of_32_bits() -> None:
    """65,536 ranges there are, and the first is the machine's own; behind the last the search goes on at the first."""
    ours = UsernsManager(None, lambda handler: True, LastSlot())
    firsts = [first_of(ours.get_or_create_user_namespace_mappings(pod(f"p{number}"))) for number in range(3)]
    assert firsts == [2**32 - 65536, 65536, 2 * 65536]


def test_where_a_range_begins_is_chance_and_on_paper_too() -> None:
    firsts = {
        first_of(
            UsernsManager(None, lambda handler: True, random.Random(seed)).get_or_create_user_namespace_mappings(
                pod("p")
            )
        )
        for seed in range(20)
    }
    assert len(firsts) == 20
    assert all(first % 65536 == 0 and 65536 <= first < 2**32 for first in firsts)


def test_a_pod_keeps_what_it_has(tmp_path: Path) -> None:
    ours = manager(tmp_path)
    assert ours.get_or_create_user_namespace_mappings(pod("p")) == ours.get_or_create_user_namespace_mappings(pod("p"))


def test_a_pod_that_does_not_ask_has_the_nodes_users(tmp_path: Path) -> None:
    ours = manager(tmp_path)
    for spec in ({"hostUsers": True}, {"hostUsers": None}):
        assert ours.get_or_create_user_namespace_mappings(pod("p", **spec)) == {"mode": "NODE"}
    assert not ours.pod_allocated("p")
    assert not tmp_path.joinpath("pods").exists()


def test_what_was_given_is_on_the_disk_as_the_kubelet_writes_it(tmp_path: Path) -> None:
    first = first_of(manager(tmp_path).get_or_create_user_namespace_mappings(pod("p")))
    mapping = {"hostId": first, "containerId": 0, "length": 65536}
    assert json.loads((tmp_path / "pods/p/userns").read_text()) == {"uidMappings": [mapping], "gidMappings": [mapping]}


def test_a_kubelet_that_starts_again_goes_on_with_it(tmp_path: Path) -> None:
    before = manager(tmp_path)
    given = {uid: first_of(before.get_or_create_user_namespace_mappings(pod(uid))) for uid in ("a", "b", "c")}
    after = manager(tmp_path)
    fourth = first_of(after.get_or_create_user_namespace_mappings(pod("d")))
    assert fourth not in given.values()
    for uid, first in given.items():
        assert after.pod_allocated(uid)
        assert first_of(after.get_or_create_user_namespace_mappings(pod(uid))) == first


def test_what_is_released_is_free(tmp_path: Path) -> None:
    ours = manager(tmp_path, slots=1)
    first = first_of(ours.get_or_create_user_namespace_mappings(pod("a")))
    ours.release("a")
    ours.release("a")
    assert not (tmp_path / "pods/a/userns").exists()
    assert first_of(ours.get_or_create_user_namespace_mappings(pod("b"))) == first
    ours.clean_up_orphaned_pod_userns_allocations({"b"})
    assert ours.pod_allocated("b")
    ours.clean_up_orphaned_pod_userns_allocations(())
    assert not ours.pod_allocated("b")


def test_a_pod_whose_directory_has_gone_before_is_released_all_the_same(tmp_path: Path) -> None:
    ours = manager(tmp_path)
    ours.get_or_create_user_namespace_mappings(pod("a"))
    (tmp_path / "pods/a/userns").unlink()
    ours.release("a")
    assert not ours.pod_allocated("a")


def test_what_contradicts_itself_on_the_disk_stops_the_kubelet(tmp_path: Path) -> None:
    manager(tmp_path).get_or_create_user_namespace_mappings(pod("a"))
    (tmp_path / "pods/b").mkdir()
    (tmp_path / "pods/b/userns").write_text((tmp_path / "pods/a/userns").read_text())
    message = 'record pod mappings for existing pod "b": range picked for pod "b" already taken'
    with pytest.raises(UsernsError, match=f"{message}$"):
        manager(tmp_path)


WRONG = "invalid user namespace configuration: "
MAPPING = {"hostId": 65536, "containerId": 0, "length": 65536}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("no JSON", "invalid user namespace mappings file: Expecting value: line 1 column 1 (char 0)"),
        ({}, WRONG + "no more than one mapping allowed."),
        ({"uidMappings": [MAPPING] * 2}, WRONG + "no more than one mapping allowed."),
        ({"uidMappings": [MAPPING]}, WRONG + "GID and UID mappings should be identical."),
        ({"uidMappings": [MAPPING], "gidMappings": [{**MAPPING, "hostId": 1}]}, WRONG + "GID and UID mapping should be identical"),
        ({"uidMappings": [{**MAPPING, "containerId": 1}], "gidMappings": [{**MAPPING, "containerId": 1}]}, WRONG + "UID 0 must be mapped"),
        ({"uidMappings": [{**MAPPING, "length": 10}], "gidMappings": [{**MAPPING, "length": 10}]}, "wrong user namespace length 10"),
    ],
)  # fmt: skip
def test_a_file_that_nobody_wrote_is_refused(document: Any, why: str) -> None:
    with pytest.raises(UsernsError) as refused:
        parse_mappings(document if isinstance(document, str) else json.dumps(document))
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("first", "why"), [(0, "id 0 is out of range"), (1, "wrong user namespace offset specified 1")]
)
def test_a_range_that_was_never_to_be_given_is_refused(first: int, why: str, tmp_path: Path) -> None:
    mapping = {**MAPPING, "hostId": first}
    (tmp_path / "pods/p").mkdir(parents=True)
    (tmp_path / "pods/p/userns").write_text(json.dumps({"uidMappings": [mapping], "gidMappings": [mapping]}))
    with pytest.raises(UsernsError, match=f"{why}$"):
        manager(tmp_path)


def test_a_runtime_without_user_namespaces_is_not_asked_for_any(tmp_path: Path) -> None:
    state = RuntimeState()
    ours = UsernsManager(PodDirectories(tmp_path), state.supports_user_namespaces, random.Random(1))
    message = "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
    with pytest.raises(UsernsError, match=message + ': the handler "" is not known$'):
        ours.get_or_create_user_namespace_mappings(pod("p"))
    state.note(
        {"runtime_handlers": [{"name": ""}, {"name": "kata"}, {"name": "new", "features": {"user_namespaces": True}}]}
    )
    with pytest.raises(UsernsError, match=message + "$"):
        ours.get_or_create_user_namespace_mappings(pod("p"))
    message = 'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces'
    with pytest.raises(UsernsError, match=message):
        ours.get_or_create_user_namespace_mappings(pod("p"), "kata")
    assert first_of(ours.get_or_create_user_namespace_mappings(pod("p"), "new")) >= 65536
