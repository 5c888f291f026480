"""What a template's pods have in common is checked, warned about and booked once, and nobody passes by another's words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.clock import run_virtual
from lifecycle.api.known_words import LONGEST, KnownWords
from lifecycle.api.wire import Object, Request, Response, UserInfo
from lifecycle.apiserver.managedfields import update
from lifecycle.apiserver.registry.core.pod import strategy, validation
from lifecycle.apiserver.registry.core.pod.spec_words import spec_words
from lifecycle.apiserver.registry.rest.faultless import Faultless
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore

ADMIN = UserInfo("admin", ("system:masters",))
TOKEN = "kube-api-access-bcdfg"
Post = Callable[[str, Object], Awaitable[Response]]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who has looked through a whole pod from now on; what was known before is forgotten."""
    calls: list[str] = []

    def counted(module: Any, name: str) -> None:
        function = getattr(module, name)

        def call(*args: Any, **named: Any) -> Any:
            calls.append(name)
            return function(*args, **named)

        monkeypatch.setattr(module, name, call)

    monkeypatch.setattr(validation, "_FAULTLESS", Faultless())
    monkeypatch.setattr(strategy, "_WITHOUT_WARNING", Faultless())
    monkeypatch.setattr(update, "_CREATED", KnownWords())
    counted(validation, "validate_pod_spec")
    counted(strategy, "get_warnings_for_pod")
    counted(update, "changes")
    return calls


def on_server(scene: Callable[[Post], Awaitable[None]]) -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()

        async def post(plural: str, obj: Object) -> Response:
            path = f"/api/v1/namespaces/default/{plural}"
            return await server.handler(Request("POST", path, obj=obj, accepts_object=True, user=ADMIN))

        account: Object = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        assert (await post("serviceaccounts", account)).status == 201
        await scene(post)
        await server.stop()

    run_virtual(main())


def pod(name: str, **spec: Any) -> Object:
    containers = [{"name": "c", "image": "nginx"}]
    metadata = {"name": name, "labels": {"app": "a"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def test_pods_of_a_template_are_looked_through_once_although_their_tokens_volumes_differ(looked: list[str]) -> None:
    async def scene(post: Post) -> None:
        looked.clear()
        answers = await asyncio.gather(*(post("pods", pod(f"p{number}")) for number in range(20)))
        made = [answer.obj for answer in answers]
        assert {answer.status for answer in answers} == {201}
        assert len({each["spec"]["volumes"][0]["name"] for each in made}) == 20  # type: ignore[index]
        assert sorted(looked) == ["changes", "get_warnings_for_pod", "validate_pod_spec"]
        booked = [fast_json.dumps(each["metadata"]["managedFields"][0]["fieldsV1"]) for each in made]  # type: ignore[index]
        assert len(set(booked)) == 1

    on_server(scene)


def test_a_mistake_that_is_made_again_is_told_again(looked: list[str]) -> None:
    async def scene(post: Post) -> None:
        looked.clear()
        answers = [await post("pods", pod("p", restartPolicy="Sometimes")) for _ in range(3)]
        assert {answer.status for answer in answers} == {422}
        assert len({fast_json.dumps(answer.obj) for answer in answers}) == 1
        assert looked.count("validate_pod_spec") == 3
        warned = [
            await post("pods", pod(f"w{number}", nodeSelector={"beta.kubernetes.io/os": "linux"}))
            for number in range(2)
        ]
        assert {answer.status for answer in warned} == {201}
        assert looked.count("get_warnings_for_pod") == 2

    on_server(scene)


def test_a_name_is_checked_for_each_pod_and_a_claim_named_after_it_as_well(looked: list[str]) -> None:
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    volumes = [{"name": "v" * 30, "ephemeral": {"volumeClaimTemplate": claim}}]

    async def scene(post: Post) -> None:
        for name, status in (("good", 201), ("Bad", 422)):
            assert (await post("pods", pod(name))).status == status
        for name, status in (("good-again", 201), ("x" * 240, 422)):  # with the volume's, too long for a claim
            assert (await post("pods", pod(name, volumes=volumes))).status == status

    on_server(scene)


def with_token(volume: str, mount: str) -> Object:
    mounts = [{"name": mount, "mountPath": "/m"}]
    return {"volumes": [{"name": volume, "emptyDir": {}}], "containers": [{"name": "c", "volumeMounts": mounts}]}


def test_the_name_drawn_by_lot_does_not_count_and_every_other_name_does() -> None:
    drawn = spec_words(with_token(TOKEN, TOKEN))
    assert drawn == spec_words(with_token("kube-api-access-xxxxx", "kube-api-access-xxxxx"))
    for volume, mount in (
        (TOKEN, "kube-api-access-xxxxx"),  # a mount of no volume
        (TOKEN, "\x00"),
        (TOKEN, "kube-api-access-\x00"),
        ("kube-api-access-aaaaa", "kube-api-access-aaaaa"),  # the lot has no vowels: somebody's own
        (TOKEN.upper(), TOKEN.upper()),
        ("\x00", "\x00"),
    ):
        assert spec_words(with_token(volume, mount)) != drawn
    assert b"\x00" in drawn
    assert b"\x00" not in spec_words(with_token("\x00", "\x00"))
    assert spec_words({}, True) != spec_words({}, 1) != spec_words({}, False)


def test_a_mount_of_no_volume_is_refused_whoever_was_let_through_before(looked: list[str]) -> None:
    mounts = [{"name": "\x00", "mountPath": "/m"}]
    wrong = [{"name": "c", "image": "nginx", "volumeMounts": mounts}]
    mine = [{"name": TOKEN, "emptyDir": {}}]
    right = [{"name": "c", "image": "nginx", "volumeMounts": [{"name": TOKEN, "mountPath": "/m"}]}]

    async def scene(post: Post) -> None:
        assert (await post("pods", pod("right", containers=right, volumes=mine))).status == 201
        assert (await post("pods", pod("wrong", containers=wrong, volumes=mine))).status == 422

    on_server(scene)


def test_what_is_booked_depends_on_every_field_but_those_that_are_nobodys(looked: list[str]) -> None:
    def config_map(name: str, data: dict[str, str], **metadata: Any) -> Object:
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data}

    async def scene(post: Post) -> None:
        looked.clear()
        booked = []
        for each in (
            config_map("a", {"x": "1"}),
            config_map("b", {"x": "1"}),
            config_map("c", {"y": "1"}),
            config_map("d", {"x": "1"}, labels={"l": "1"}),
        ):
            answer = (await post("configmaps", each)).obj
            assert answer is not None
            booked.append(answer["metadata"]["managedFields"][0]["fieldsV1"])
        data = [{"f:data": {".": {}, key: {}}} for key in ("f:x", "f:x", "f:y", "f:x")]
        data[3]["f:metadata"] = {"f:labels": {".": {}, "f:l": {}}}
        assert booked == data
        assert looked == ["changes"] * 3

    on_server(scene)


def test_long_words_and_none_are_nobodys() -> None:
    known: KnownWords[int] = KnownWords()
    for words, found in ((b"x", 7), (b"x" * LONGEST, 7), (b"x" * (LONGEST + 1), None), (b"", None)):
        known.put(known.key(words), 7)
        assert known.get(known.key(words)) == found
    assert known.get(known.key(b"y")) is None
    looks: list[int] = []
    for _ in range(3):
        assert Faultless().find(b"", lambda: looks.append(1) or []) == []  # type: ignore[func-returns-value]
    assert len(looks) == 3
