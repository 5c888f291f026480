"""Watches of Tables and of bare metadata: every event is of the form that was asked for, bookmarks too."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.api.protobuf import decode_watch_frames
from tests.apiserver.https_site import CONFIG_MAPS, Site, config_map, request_bytes

Event = tuple[str, dict[str, Any]]
EVERYTHING = "watch=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def read_chunks(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """Content type and body of an answer that ends."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    return head.partition("content-type: ")[2].partition("\r\n")[0], body


async def watch(site: Site, path: str, accept: str) -> tuple[str, list[Event]]:
    """All that a watch says within its time."""
    reader, writer = await site.connect()
    writer.write(request_bytes("GET", f"{path}?{EVERYTHING}&timeoutSeconds=1", Accept=accept))
    async with asyncio.timeout(20):
        content_type, body = await read_chunks(reader)
    writer.transport.abort()
    if "protobuf" in content_type:
        events, rest = decode_watch_frames(body)
        assert rest == b""
        return content_type, events
    return content_type, [(event["type"], event["object"]) for event in map(json.loads, body.splitlines())]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize("media_type", ["application/json", "application/vnd.kubernetes.protobuf"])
def test_bare_metadata_comes_in_the_encoding_that_is_announced(media_type: str, version: str) -> None:
    async def main() -> None:
        async with Site() as site:
            await site.ask("POST", CONFIG_MAPS, config_map("a"))
            accept = f"{media_type};as=PartialObjectMetadata;g=meta.k8s.io;v={version}"
            content_type, events = await watch(site, CONFIG_MAPS, accept)
            assert content_type.startswith(media_type)
            assert [type for type, _ in events] == ["ADDED", "BOOKMARK"]
            for _, obj in events:
                assert (obj["kind"], obj["apiVersion"]) == ("PartialObjectMetadata", f"meta.k8s.io/{version}")
                assert set(obj) == {"kind", "apiVersion", "metadata"}
            assert events[0][1]["metadata"]["name"] == "a"
            assert events[1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}

    asyncio.run(main())


def test_definitions_are_followed_as_the_garbage_collector_does() -> None:
    async def main() -> None:
        async with Site() as site:
            accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            path = "/apis/apiregistration.k8s.io/v1/apiservices"
            content_type, events = await watch(site, path, f"{accept},application/json")
            assert content_type == "application/vnd.kubernetes.protobuf;stream=watch"
            assert {obj["kind"] for _, obj in events} == {"PartialObjectMetadata"}
            assert "v1.apps" in [obj["metadata"].get("name") for _, obj in events]

    asyncio.run(main())


def test_a_bookmark_is_a_table_of_its_own() -> None:
    async def main() -> None:
        async with Site() as site:
            accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
            _, [(type, bookmark)] = await watch(site, CONFIG_MAPS, accept)
            assert (type, bookmark["kind"]) == ("BOOKMARK", "Table")
            assert [column["name"] for column in bookmark["columnDefinitions"]] == ["Name", "Data", "Age"]
            [row] = bookmark["rows"]
            assert row["cells"] == ["", 0, "<unknown>"]
            assert set(row["object"]["metadata"]) == {"resourceVersion", "annotations"}
            await site.ask("POST", CONFIG_MAPS, config_map("a"))
            _, [(_, added), (_, bookmark)] = await watch(site, CONFIG_MAPS, accept)
            assert added["columnDefinitions"] is not None
            assert bookmark["columnDefinitions"] is None  # once is enough
            assert (
                bookmark["metadata"]["resourceVersion"] == bookmark["rows"][0]["object"]["metadata"]["resourceVersion"]
            )
            for path in ("/api/v1/pods", "/api/v1/nodes", "/apis/apps/v1/deployments", CRDS):
                _, events = await watch(site, path, accept)
                assert events[-1][1]["rows"][0]["cells"][0] == ""

    asyncio.run(main())


def test_custom_resources_have_no_protobuf_form_but_their_metadata_has() -> None:
    async def main() -> None:
        async with Site() as site:
            version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            spec = {
                "group": "x.io",
                "scope": "Namespaced",
                "names": {"plural": "as", "kind": "A"},
                "versions": [version],
            }
            await site.ask("POST", CRDS, {"metadata": {"name": "as.x.io"}, "spec": spec})
            path = "/apis/x.io/v1/namespaces/default/as"
            async with asyncio.timeout(20):
                while (await site.ask("POST", path, {"apiVersion": "x.io/v1", "kind": "A", "metadata": {"name": "a"}}))[
                    0
                ] == 404:
                    pass
            accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            content_type, events = await watch(site, path, accept)
            assert content_type == "application/vnd.kubernetes.protobuf;stream=watch"
            assert [obj["kind"] for _, obj in events] == ["PartialObjectMetadata"] * 2
            assert events[0][1]["metadata"]["name"] == "a"
            assert (await site.ask("GET", path, Accept="application/vnd.kubernetes.protobuf"))[0] == 406

    asyncio.run(main())
