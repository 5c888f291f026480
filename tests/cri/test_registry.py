"""A registry lets pull who may, and says what is wrong to everybody else."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from typing import Any

import aiohttp
import pytest

from lifecycle.cri.images.oci_image import BuiltImage
from lifecycle.cri.images.registry import Registry, Repository

IMAGE = BuiltImage("sha256:m", "sha256:b", {"sha256:m": b'{"a manifest": 1}', "sha256:b": b"a blob"})
OTHER = BuiltImage("sha256:n", "sha256:c", {"sha256:n": b"{}", "sha256:c": b"another"})
REPOSITORIES = {
    "open": Repository({"1": IMAGE, "2": OTHER}),
    "deep/closed": Repository({"1": IMAGE}, "secret"),
    "token": Repository({"1": IMAGE}, "secret", "bearer"),
}


def asked(*questions: tuple[str, dict[str, str]]) -> list[tuple[int, dict[str, str], bytes]]:
    async def main() -> list[tuple[int, dict[str, str], bytes]]:
        answers = []
        async with Registry(REPOSITORIES) as registry, aiohttp.ClientSession() as session:
            for path, headers in questions:
                path = path.replace("TOKEN", token(answers))
                headers = {name: value.replace("TOKEN", token(answers)) for name, value in headers.items()}
                async with session.get(f"http://{registry.host}{path}", headers=headers) as answer:
                    told = {name: value.replace(registry.host, "HOST") for name, value in answer.headers.items()}
                    answers.append((answer.status, told, await answer.read()))
            assert registry.requests == [
                f"GET {path.partition('?')[0]} {status}"
                for (path, _), (status, *_) in zip(questions, answers, strict=True)
            ]
            assert registry.name("open:1") == f"{registry.host}/open:1"
        return answers

    return asyncio.run(main())


def token(answers: list[Any]) -> str:
    """That was handed out last."""
    found = re.findall(r'"token": "([^"]+)"', b"".join(body for *_, body in answers).decode(errors="replace"))
    return found[-1] if found else ""


def basic(user: str, password: str) -> dict[str, str]:
    shown = b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {shown}"}


@pytest.mark.parametrize("reference", ["1", "sha256:m"])
def test_a_manifest_is_found_by_its_tag_or_its_digest(reference: str) -> None:
    ((status, headers, body),) = asked((f"/v2/open/manifests/{reference}", {}))
    assert (status, headers["Docker-Content-Digest"], body) == (200, "sha256:m", b'{"a manifest": 1}')
    assert headers["Content-Type"] == "application/vnd.oci.image.manifest.v1+json"


def test_a_blob_of_any_tag_is_found() -> None:
    first, second = asked(("/v2/open/blobs/sha256:b", {}), ("/v2/open/blobs/sha256:c", {}))
    assert (first[0], first[1]["Docker-Content-Digest"], first[2]) == (200, "sha256:b", b"a blob")
    assert (second[0], second[2], second[1]["Content-Type"]) == (200, b"another", "application/octet-stream")


def test_it_is_there() -> None:
    assert [(status, body) for status, _, body in asked(("/v2/", {}))] == [(200, b"{}")]


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/v2/none/manifests/1", "NAME_UNKNOWN", "repository name not known to registry"),
        ("/v2/none/blobs/sha256:b", "NAME_UNKNOWN", "repository name not known to registry"),
        ("/v2/open/manifests/3", "MANIFEST_UNKNOWN", "manifest unknown"),
        ("/v2/open/blobs/sha256:x", "BLOB_UNKNOWN", "blob unknown to registry"),
    ],
)
def test_what_is_not_there_is_said(path: str, code: str, message: str) -> None:
    ((status, _, body),) = asked((path, {}))
    assert status == 404
    assert body.decode() == f'{{"errors": [{{"code": "{code}", "message": "{message}", "detail": null}}]}}'


@pytest.mark.parametrize("path", ["/v2/deep/closed/manifests/1", "/v2/deep/closed/blobs/sha256:b"])
def test_a_password_opens_and_nothing_else_does(path: str) -> None:
    wrong = [
        {},
        basic("reader", "secres"),
        basic("reader", "secreu"),
        basic("writer", "secret"),
        {"Authorization": "Basic "},
    ]
    answers = asked((path, basic("reader", "secret")), *((path, headers) for headers in wrong))
    assert [status for status, *_ in answers] == [200, *[401] * len(wrong)]
    assert {headers["WWW-Authenticate"] for _, headers, _ in answers[1:]} == {'Basic realm="registry"'}
    assert b'"code": "UNAUTHORIZED", "message": "authentication required"' in answers[1][2]


@pytest.mark.parametrize("path", ["/v2/token/manifests/1", "/v2/token/blobs/sha256:b"])
def test_a_token_is_had_for_the_password_and_opens_its_repository(path: str) -> None:
    ask = "/token?scope=repository:token:pull"
    refused, handed, opened, other = asked(
        (path, {}),
        (ask, basic("reader", "secret")),
        (path, {"Authorization": "Bearer TOKEN"}),
        (path, {"Authorization": "Bearer x"}),
    )
    assert refused[0] == 401
    assert refused[1]["WWW-Authenticate"] == (
        'Bearer realm="http://HOST/token",service="registry",scope="repository:token:pull"'
    )
    assert b'"expires_in": 300' in handed[2]
    assert (opened[0], other[0]) == (200, 401)


def test_a_token_of_another_repository_opens_nothing() -> None:
    *_, answer = asked(
        ("/token?scope=repository:deep/closed:pull", basic("reader", "secret")),
        ("/v2/token/manifests/1", {"Authorization": "Bearer TOKEN"}),
    )
    assert answer[0] == 401


@pytest.mark.parametrize(
    ("scope", "headers"),
    [
        ("repository:token:pull", {}),
        ("repository:token:pull", basic("reader", "secres")),
        ("repository:token:pull", basic("reader", "secreu")),
        ("repository:none:pull", basic("reader", "secret")),
        ("", basic("reader", "secret")),
    ],
)
def test_who_has_no_password_gets_no_token(scope: str, headers: dict[str, str]) -> None:
    ((status, _, body),) = asked((f"/token?scope={scope}", headers))
    assert status == 401
    assert b'"code": "UNAUTHORIZED", "message": "incorrect username or password"' in body
