"""Images that a registry serves, good ones and bad ones: what containerd makes of them, and what we do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.images.oci_image import INDEX, MANIFEST, BuiltImage, File, build, digest_of_bytes, machine
from tests.conftest import unavailable
from tests.cri.private_containerd import private_containerd, why_not
from tests.cri.subjects import sandbox_runtime

Served = dict[str, tuple[str, bytes]]
"""Content type and body by the end of a path: `manifests/1`, `blobs/sha256:…`."""
Case = Callable[[Served], str | None]
"""Puts into what is served what it is about; the reference if it is not tag 1."""

CASES: dict[str, tuple[Case, AuthConfig | None]] = {}


def case(made: Case) -> Case:
    CASES[made.__name__] = (made, None)
    return made


def image(number: int, **config: Any) -> BuiltImage:
    return build(
        [{"etc/number": File(str(number).encode())}, {"etc/upper": File(b"x" * number)}], {"Cmd": ["true"], **config}
    )


def serve(served: Served, made: BuiltImage, reference: str = "1") -> bytes:
    """The image's blobs, its manifest under a tag and under its own name."""
    manifest = made.blobs[made.manifest]
    served |= {f"blobs/{digest}": ("application/octet-stream", blob) for digest, blob in made.blobs.items()}
    served |= {f"manifests/{name}": (MANIFEST, manifest) for name in (reference, made.manifest)}
    return manifest


def entry(manifest: bytes, architecture: str, system: str = "linux") -> dict[str, Any]:
    platform = {"architecture": architecture, "os": system}
    return {"mediaType": MANIFEST, "digest": digest_of_bytes(manifest), "size": len(manifest), "platform": platform}


def serve_index(served: Served, *entries: dict[str, Any]) -> None:
    body = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
    served |= {f"manifests/{name}": (INDEX, body) for name in ("1", digest_of_bytes(body))}


@case
def one_image(served: Served) -> None:
    serve(served, image(1))


@case
def by_its_digest(served: Served) -> str:
    return f"@{digest_of_bytes(serve(served, image(2)))}"


@case
def by_tag_and_digest(served: Served) -> str:
    return f":whatever@{digest_of_bytes(serve(served, image(3)))}"


@case
def one_for_each_machine(served: Served) -> None:
    others = [
        entry(serve(served, image(n), f"other-{n}"), name, system)
        for n, name, system in ((4, "s390x", "linux"), (5, machine(), "windows"))
    ]
    serve_index(served, *others, entry(serve(served, image(6), "mine"), machine()))


@case
def none_for_this_machine(served: Served) -> None:
    serve_index(served, entry(serve(served, image(7), "other"), "s390x"))


@case
def another_image_than_the_index_says(served: Served) -> None:
    mine, other = serve(served, image(8), "mine"), serve(served, image(9), "other")
    serve_index(served, entry(mine, machine()))
    served[f"manifests/{digest_of_bytes(mine)}"] = (MANIFEST, other[:-1] + b" " * (len(mine) - len(other)) + b"}")


@case
def another_image_than_the_digest_says(served: Served) -> str:
    digest = digest_of_bytes(serve(served, image(10)))
    served[f"manifests/{digest}"] = (MANIFEST, serve(served, image(11)))
    return f"@{digest}"


@case
def a_layer_that_is_not_there(served: Served) -> None:
    manifest = json.loads(serve(served, image(12)))
    del served[f"blobs/{manifest['layers'][1]['digest']}"]


@case
def a_layer_that_is_another(served: Served) -> None:
    manifest = json.loads(serve(served, image(13)))
    kind, body = served[f"blobs/{manifest['layers'][0]['digest']}"]
    served[f"blobs/{manifest['layers'][0]['digest']}"] = kind, body[:-1] + bytes([body[-1] ^ 1])


@case
def a_configuration_that_is_not_there(served: Served) -> None:
    manifest = json.loads(serve(served, image(14)))
    del served[f"blobs/{manifest['config']['digest']}"]


@case
def no_such_tag(served: Served) -> str:
    serve(served, image(15))
    return ":2"


@case
def nothing(served: Served) -> None:
    """404 for everything."""


def _with(auth: AuthConfig) -> Callable[[Case], Case]:
    def noted(made: Case) -> Case:
        CASES[made.__name__] = (made, auth)
        return made

    return noted


PAIR = "Basic cmVhZGVyOnNlY3JldA=="
CLOSED = ("a-pair-in-base64", "half-a-pair", "a-pair-that-is-no-base64", "no-pair", "another-pair")


@_with(AuthConfig())
def no_pair(served: Served) -> None:
    serve(served, image(19))


@_with(AuthConfig("reader", "guess"))
def another_pair(served: Served) -> None:
    serve(served, image(20))


@_with(AuthConfig(auth="cmVhZGVyOnNlY3JldA=="))
def a_pair_in_base64(served: Served) -> None:
    serve(served, image(16))


@_with(AuthConfig(auth="cmVhZGVy"))
def half_a_pair(served: Served) -> None:
    serve(served, image(17))


@_with(AuthConfig(auth="%%%"))
def a_pair_that_is_no_base64(served: Served) -> None:
    serve(served, image(18))


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[str, dict[str, Served]]]:
    """The registry's host, and what it has by repository."""
    repositories: dict[str, Served] = {}

    async def answer(request: web.Request) -> web.Response:
        _, _, repository, rest = request.path.split("/", 3)
        found = repositories.get(repository, {}).get(rest)
        if repository in CLOSED and request.headers.get("Authorization") != PAIR:
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="r"'})
        if found is None:
            return web.Response(status=404)
        kind, body = found
        return web.Response(body=body, headers={"Content-Type": kind, "Docker-Content-Digest": digest_of_bytes(body)})

    app = web.Application()

    async def hello(request: web.Request) -> web.Response:
        return web.Response()

    app.router.add_get("/v2/", hello)
    app.router.add_get("/v2/{rest:.+}", answer)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address, port = runner.addresses[0][:2]
    try:
        yield f"{address}:{port}", repositories
    finally:
        await runner.cleanup()


async def pulled(runtime: Any, name: str, auth: AuthConfig | None) -> list[Any]:
    """What comes of a pull: the image's id and what is known of it, or why not."""
    try:
        made = await runtime.pull_image(name, auth)
    except RuntimeServiceError as error:
        return [re.sub(r"^rpc error: code = (\w+) desc = ", r"\1: ", str(error)).replace(name, "IMAGE")]
    status = await runtime.image_status(name)
    return [made, sorted(status.repo_tags), sorted(status.repo_digests)]


async def both(folder: Path) -> dict[str, tuple[list[Any], list[Any]]]:
    async with (
        serving() as (host, repositories),
        private_containerd(folder / "theirs") as theirs,
        sandbox_runtime(folder) as (ours, _),
    ):
        found = {}
        for name, (made, auth) in CASES.items():
            repository = name.replace("_", "-")
            reference = made(repositories.setdefault(repository, {})) or ":1"
            image_name = f"{host}/{repository}{reference}"
            found[name] = (await pulled(ours, image_name, auth), await pulled(theirs, image_name, auth))
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Any], list[Any]]]:
    if why_not():
        unavailable(why_not())
    return asyncio.run(both(tmp_path_factory.mktemp("pull")))


@pytest.mark.parametrize("name", CASES)
def test_containerd_makes_the_same_of_it(outcomes: dict[str, tuple[list[Any], list[Any]]], name: str) -> None:
    ours, theirs = outcomes[name]
    assert ours == theirs
