"""`/statusz`: text for people, the object for programs that name it."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.apiserver.asked_server import Asked, asked

OBJECT = "application/json;as=Statusz;v=v1beta1;g=config.k8s.io"


@pytest.mark.parametrize("accept", ["*/*", "text/plain", "application/json, */*"])
def test_people_get_text(accept: str) -> None:
    async def scene(ask: Asked) -> None:
        await asyncio.sleep(3725)
        status, found = await ask("GET", "/statusz", Accept=accept)
        assert status == 200
        head, _, rest = found.partition("\n\n")
        assert head.splitlines()[1] == "apiserver statusz"
        assert re.search(r"^Up[:= ]+1 hr 02 min 05 sec$", rest, re.MULTILINE)
        assert re.search(r"^Binary version[:= ]+1\.36\.2$", rest, re.MULTILINE)
        assert re.search(r"^Paths[:= ]+/\S+ .*/metrics", rest, re.MULTILINE)

    asked(scene)


def test_programs_get_the_object_they_name() -> None:
    async def scene(ask: Asked) -> None:
        await asyncio.sleep(5)
        status, found = await ask("GET", "/statusz", Accept=OBJECT)
        assert status == 200
        assert (found["kind"], found["apiVersion"]) == ("Statusz", "config.k8s.io/v1beta1")
        assert (found["uptimeSeconds"], found["emulationVersion"]) == (5, "1.36")
        assert "/healthz" in found["paths"]
        assert not {"/api", "/apis", "/openapi"} & set(found["paths"])

    asked(scene)


@pytest.mark.parametrize(
    "accept", ["application/json", OBJECT.replace("v1beta1", "v2"), OBJECT.replace("Statusz", "X")]
)
def test_nothing_else_is_to_be_had(accept: str) -> None:
    async def scene(ask: Asked) -> None:
        found = await ask.refused("GET", "/statusz", Accept=accept)
        assert found == (
            406, "only the following media types are accepted: application/json, application/yaml, text/plain",
        )  # fmt: skip

    asked(scene)
