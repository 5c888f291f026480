"""Answers that a real server gave to the same requests, beside those of the recorded scenarios."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.apiserver.https_site import CONFIG_MAPS, Site, config_map

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
Object = dict[str, Any]
Ask = Callable[..., Awaitable[tuple[int, Object]]]


def run(questions: Callable[[Ask, Site], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Site() as site:

            async def ask(method: str, path: str, body: Any = None, patch: str = "") -> tuple[int, Object]:
                headers = {"Content_Type": f"application/{patch}"} if patch else {}
                code, _, answer = await site.ask(method, path, body if body is not None else b"", **headers)
                return code, json.loads(answer)

            await questions(ask, site)

    asyncio.run(main())


def names(answer: Object) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def labelled(name: str, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}}


def test_a_full_page_may_be_followed_by_an_empty_one() -> None:
    """Whether any of the rest would match, nobody looks."""

    async def questions(ask: Ask, _: Site) -> None:
        for name, group in (("a", "x"), ("b", "x"), ("c", "y")):
            await ask("POST", CONFIG_MAPS, labelled(name, group=group))
        _, page = await ask("GET", f"{CONFIG_MAPS}?labelSelector=group%3Dx&limit=2")
        assert names(page) == ["a", "b"]
        assert "remainingItemCount" not in page["metadata"]
        token = page["metadata"]["continue"]
        _, rest = await ask("GET", f"{CONFIG_MAPS}?labelSelector=group%3Dx&limit=2&continue={token}")
        assert (rest["items"], "continue" in rest["metadata"]) == ([], False)
        _, whole = await ask("GET", f"{CONFIG_MAPS}?limit=1&resourceVersion=0")
        assert len(whole["items"]) >= 3, "who takes whatever there is gets it in one piece"
        _, one = await ask("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Da&continue=nonsense")
        assert names(one) == ["a"]

    run(questions)


def test_a_token_from_before_the_compaction_can_be_traded() -> None:
    async def questions(ask: Ask, site: Site) -> None:
        for name in "abc":
            _, made = await ask("POST", CONFIG_MAPS, labelled(name))
        old = made["metadata"]["resourceVersion"]
        _, page = await ask("GET", f"{CONFIG_MAPS}?limit=1")
        await ask("POST", CONFIG_MAPS, labelled("d"))
        await site.server.store.compact(site.server.store.revision)
        code, gone = await ask("GET", f"{CONFIG_MAPS}?limit=1&continue={page['metadata']['continue']}")
        assert (code, gone["reason"]) == (410, "Expired")
        assert "use the continue token in this response" in gone["message"]
        _, rest = await ask("GET", f"{CONFIG_MAPS}?continue={gone['metadata']['continue']}")
        assert "d" in names(rest)
        code, gone = await ask("GET", f"{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact")
        assert (code, gone["message"]) == (410, "The resourceVersion for the provided list is too old.")

    run(questions)


def test_metadata_that_a_client_sends() -> None:
    async def questions(ask: Ask, _: Site) -> None:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}
        _, made = await ask(
            "POST", CONFIG_MAPS, {"metadata": {"name": "a", "generation": 7, "ownerReferences": [owner, owner]}}
        )
        assert (made["metadata"]["generation"], made["metadata"]["ownerReferences"]) == (7, [owner])
        assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")
        code, taken = await ask("POST", CONFIG_MAPS, {"metadata": {"name": "a", "generateName": "x-"}})
        assert code == 409
        assert taken["message"].endswith(
            "already exists, the server was not able to generate a unique name for the object"
        )
        assert taken["details"]["retryAfterSeconds"] == 1
        await ask("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": ["a.b/c"]}}, "merge-patch+json")
        await ask("DELETE", f"{CONFIG_MAPS}/a")
        _, taken = await ask("POST", CONFIG_MAPS, config_map("a"))
        assert taken["message"] == 'object is being deleted: configmaps "a" already exists'
        _, reset = await ask("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"managedFields": []}}, "merge-patch+json")
        assert "managedFields" not in reset["metadata"]

    run(questions)


def test_a_scale_is_the_deployments_and_no_others() -> None:
    async def questions(ask: Ask, _: Site) -> None:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        await ask("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
        for metadata, code in (
            ({}, 400),
            ({"name": "e"}, 400),
            ({"name": "d", "namespace": "x"}, 400),
            ({"name": "d", "uid": "x"}, 409),
        ):
            assert (await ask("PUT", f"{DEPLOYMENTS}/d/scale", {"metadata": metadata, "spec": {"replicas": 2}}))[
                0
            ] == code
        code, refused = await ask("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": "x"}}, "merge-patch+json")
        assert (code, refused["details"]["causes"][0]["field"]) == (422, "patch")
        assert "kind" not in refused["details"]

    run(questions)


def test_a_scale_can_be_asked_for_as_a_table() -> None:
    async def main() -> None:
        async with Site() as site:
            template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
            await site.ask("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
            accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
            code, _, body = await site.ask("GET", f"{DEPLOYMENTS}/d/scale", Accept=accept)
            table = json.loads(body)
            assert code == 200
            assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
            assert table["columnDefinitions"][1]["description"] == (
                "replicas is the desired number of instances for the scaled object."
            )
            assert table["rows"][0]["cells"][:3] == ["d", 2, 0]
            assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("path", "headers", "pretty"),
    [
        (f"{CONFIG_MAPS}/a", {"User_Agent": "curl/8.5.0"}, True),
        (f"{CONFIG_MAPS}/a", {"User_Agent": "Wget/1.21"}, True),
        (f"{CONFIG_MAPS}/a", {"User_Agent": "Mozilla/5.0 (X11)"}, True),
        (f"{CONFIG_MAPS}/a", {"User_Agent": "Mozilla/4.0"}, False),
        (f"{CONFIG_MAPS}/a", {"User_Agent": "kubectl/v1.36.2"}, False),
        (f"{CONFIG_MAPS}/a?pretty=false", {"User_Agent": "curl/8.5.0"}, False),
        (f"{CONFIG_MAPS}/a?pretty=yes", {"User_Agent": "curl/8.5.0"}, False),
        (f"{CONFIG_MAPS}/a?pretty=", {"User_Agent": "curl/8.5.0"}, True),
        (f"{CONFIG_MAPS}/a?pretty=t", {}, True),
        (f"{CONFIG_MAPS}/a?pretty=true", {}, True),
        (f"{CONFIG_MAPS}/a?pretty=1", {}, True),
        (f"{CONFIG_MAPS}/a", {"Accept": "application/json;pretty=1"}, True),
        (f"{CONFIG_MAPS}/a", {"Accept": "application/json;pretty=true"}, False),
        (f"{CONFIG_MAPS}/absent", {"User_Agent": "curl/8.5.0"}, True),
        (CONFIG_MAPS, {"User_Agent": "curl/8.5.0"}, True),
        ("/apis/apps/v1", {"User_Agent": "curl/8.5.0"}, True),
        ("/openapi/v2", {"User_Agent": "curl/8.5.0"}, False),
    ],
)
def test_json_is_indented_for_whoever_reads_it_on_a_screen(path: str, headers: dict[str, str], pretty: bool) -> None:
    async def main() -> None:
        async with Site() as site:
            await site.ask("POST", CONFIG_MAPS, config_map("a"))
            _, _, body = await site.ask("GET", path, **headers)
            assert body.startswith(b"{\n  ") is pretty
            assert not pretty or body == json.dumps(json.loads(body), indent=2, ensure_ascii=False).encode()

    asyncio.run(main())


def test_a_patched_document_shows_its_keys_in_the_order_of_a_go_map() -> None:
    """Where the patch has been; what it did not touch stays in the order of the struct."""

    async def questions(ask: Ask, _: Site) -> None:
        await ask("POST", CONFIG_MAPS, config_map("a", k="v"))
        _, refused = await ask("PATCH", f"{CONFIG_MAPS}/a", {"data": {"k": 1}}, "merge-patch+json")
        shown = json.loads(refused["message"].partition("Invalid value: ")[2].partition('": json')[0] + '"')
        document = json.loads(shown)
        assert list(document) == ["apiVersion", "data", "kind", "metadata"]
        assert list(document["metadata"])[:3] == ["name", "namespace", "uid"]

    run(questions)


def test_what_is_too_large_for_the_store() -> None:
    async def questions(ask: Ask, _: Site) -> None:
        volumes = "/apis/apps/v1/namespaces/default/controllerrevisions"
        code, refused = await ask(
            "POST", volumes, {"metadata": {"name": "x"}, "revision": 1, "data": {"x": "y" * 1_600_000}}
        )
        assert (code, refused["message"], "reason" in refused) == (500, "etcdserver: request is too large", False)

    run(questions)
