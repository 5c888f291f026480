"""Conversion by a webhook over real HTTPS: what one version writes, another one reads."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.webhook_server import WebhookServer
from lifecycle.cluster.target import HandlerTarget
from tests.apiserver.asked_server import MERGE, Asked, asked
from tests.apiserver.custom_server import DEFINITIONS, definition

GROUP = "/apis/stable.example.com"
V1, V2 = (f"{GROUP}/{version}/namespaces/default/crontabs" for version in ("v1", "v2"))
FIELDS = {"v1": ("hostPort",), "v2": ("host", "port")}
WHAT = "conversion webhook for stable.example.com/v1, Kind=CronTab"


def two_versions(server: WebhookServer) -> Object:
    """`v1`, which is stored, has `hostPort`; `v2` has `host` and `port`."""
    made = definition()
    spec = made["spec"]
    template = spec["versions"][0]
    spec["versions"] = []
    for name, fields in FIELDS.items():
        version = copy.deepcopy(template) | {"name": name, "storage": name == "v1", "subresources": {}}
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        properties["spec"] = {"type": "object", "properties": {key: {"type": "string"} for key in fields}}
        spec["versions"].append(version)
    webhook = {"conversionReviewVersions": ["v9", "v1"], "clientConfig": server.client_config("/convert")}
    spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return made


def converted(obj: Object, api_version: str) -> Object:
    spec = obj["spec"]
    if api_version.endswith("/v2"):
        host, _, port = spec["hostPort"].partition(":")
        new = {"host": host, "port": port}
    else:
        new = {"hostPort": f"{spec['host']}:{spec['port']}"}
    return {**obj, "apiVersion": api_version, "spec": new}


class Converter:
    """Answers reviews; `spoil` changes an answer before it is sent."""

    spoil: Callable[[Object], Any] | None = None

    def __call__(self, review: Object) -> Object:
        request = review["request"]
        objects = [converted(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
        response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
        answer = {"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response}
        if self.spoil is not None:
            self.spoil(answer)
        return answer


def scene(steps: Callable[[Asked, WebhookServer, Converter], Awaitable[None]]) -> None:
    converter = Converter()

    async def play(ask: Asked) -> None:
        status, answer = await ask("POST", DEFINITIONS, two_versions(server))
        assert status == 201, answer
        await asyncio.sleep(10)
        await steps(ask, server, converter)

    with WebhookServer(converter) as server:
        asked(play)


def v1(name: str, host_port: str, **metadata: Any) -> Object:
    spec = {"hostPort": host_port}
    return {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": name, **metadata}, "spec": spec}  # fmt: skip


def v2(name: str, host: str, port: str) -> Object:
    spec = {"host": host, "port": port}
    return {"apiVersion": "stable.example.com/v2", "kind": "CronTab", "metadata": {"name": name}, "spec": spec}


def test_what_one_version_writes_another_reads() -> None:
    async def steps(ask: Asked, server: WebhookServer, _: Converter) -> None:
        assert (await ask("POST", V1, v1("a", "one:1")))[0] == 201
        assert (await ask("GET", f"{V1}/a"))[1]["spec"] == {"hostPort": "one:1"}
        assert server.asked == []  # who stays with the stored version asks nobody
        _, seen = await ask("GET", f"{V2}/a")
        assert (seen["apiVersion"], seen["spec"]) == ("stable.example.com/v2", {"host": "one", "port": "1"})
        (review,) = server.asked
        assert (review["kind"], review["apiVersion"]) == ("ConversionReview", "apiextensions.k8s.io/v1")
        assert review["request"]["desiredAPIVersion"] == "stable.example.com/v2"
        assert "resourceVersion" not in review["request"]["objects"][0]["metadata"]

        assert (await ask("POST", V2, v2("b", "two", "2")))[1]["spec"] == {"host": "two", "port": "2"}
        assert (await ask("GET", f"{V1}/b"))[1]["spec"] == {"hostPort": "two:2"}
        assert (await ask("PATCH", f"{V2}/a", {"spec": {"port": "9"}}, **MERGE))[0] == 200
        assert (await ask("GET", f"{V1}/a"))[1]["spec"] == {"hostPort": "one:9"}
        assert (await ask("DELETE", f"{V2}/b"))[0] == 200
        assert [each["metadata"]["name"] for each in (await ask("GET", V1))[1]["items"]] == ["a"]

    scene(steps)


def test_a_list_is_converted_in_one_review_and_nothing_twice() -> None:
    async def steps(ask: Asked, server: WebhookServer, _: Converter) -> None:
        for name in ("a", "b", "c"):
            await ask("POST", V1, v1(name, f"{name}:1"))
        for _ in range(2):
            _, listed = await ask("GET", V2)
            assert [each["spec"]["host"] for each in listed["items"]] == ["a", "b", "c"]
        assert [len(review["request"]["objects"]) for review in server.asked] == [3]
        await ask("POST", V1, v1("d", "d:1"))
        assert len((await ask("GET", V2))[1]["items"]) == 4
        assert [len(review["request"]["objects"]) for review in server.asked] == [3, 1]

    scene(steps)


def test_who_watches_one_version_sees_what_is_written_in_the_other() -> None:
    async def steps(ask: Asked, server: WebhookServer, _: Converter) -> None:
        seen: list[Any] = []

        async def follow() -> None:
            async for event in HandlerTarget(ask.server, ("admin", ("system:masters",))).watch(V2):
                seen.append((event["type"], event["object"]["spec"]))

        task = asyncio.create_task(follow())
        await asyncio.sleep(1)
        await ask("POST", V1, v1("a", "one:1"))
        await asyncio.sleep(5)
        await ask("DELETE", f"{V1}/a")
        await asyncio.sleep(5)
        task.cancel()
        spec = {"host": "one", "port": "1"}
        assert seen == [("ADDED", spec), ("DELETED", spec)]

    scene(steps)


def change_labels(answer: Object) -> None:
    answer["response"]["convertedObjects"][0]["metadata"]["labels"] = {"by": "webhook"}
    answer["response"]["convertedObjects"][0]["metadata"]["finalizers"] = ["example.com/mine"]


def test_of_the_metadata_only_labels_and_annotations_are_taken() -> None:
    async def steps(ask: Asked, server: WebhookServer, converter: Converter) -> None:
        await ask("POST", V1, v1("a", "one:1", annotations={"k": "v"}))
        converter.spoil = change_labels
        metadata = (await ask("GET", f"{V2}/a"))[1]["metadata"]
        assert metadata["labels"] == {"by": "webhook"}
        assert metadata["annotations"] == {"k": "v"}
        assert "finalizers" not in metadata

    scene(steps)


def fail(answer: Object) -> None:
    answer["response"]["result"] = {"status": "Failure", "message": "no idea"}


def lose(answer: Object) -> None:
    answer["response"]["convertedObjects"] = []


def rename(answer: Object) -> None:
    answer["response"]["convertedObjects"][0]["metadata"]["name"] = "other"


def wrong_version(answer: Object) -> None:
    answer["response"]["convertedObjects"][0]["apiVersion"] = "stable.example.com/v7"


def other_review(answer: Object) -> None:
    answer["response"]["uid"] = "x"


def crash(answer: Object) -> None:
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (fail, f"{WHAT} failed: no idea"),
        (lose, f"{WHAT} returned 0 objects, expected 1"),
        (
            rename,
            f"{WHAT} returned invalid object: must have the same name: a != other",
        ),
        (
            wrong_version,
            f"{WHAT} returned invalid object at index 0: invalid groupVersion "
            "(expected stable.example.com/v2, received stable.example.com/v7)",
        ),
        (other_review, f"{WHAT} failed: expected response.uid="),
        (crash, f"{WHAT} failed: "),
    ],
)
def test_a_webhook_that_fails_fails_the_version_it_is_asked_for_until_it_works_again(
    spoil: Callable[[Object], None], message: str
) -> None:
    async def steps(ask: Asked, server: WebhookServer, converter: Converter) -> None:
        await ask("POST", V1, v1("a", "one:1"))
        converter.spoil = spoil
        code, told = await ask.refused("GET", f"{V2}/a")
        assert code == 500
        assert told.startswith(message)
        assert (await ask("POST", V2, v2("b", "two", "2")))[0] == 500
        assert (await ask("GET", f"{V1}/a"))[0] == 200
        converter.spoil = None
        assert (await ask("GET", f"{V2}/a"))[1]["spec"]["host"] == "one"
        assert (await ask("GET", f"{V1}/b"))[0] == 404

    scene(steps)
