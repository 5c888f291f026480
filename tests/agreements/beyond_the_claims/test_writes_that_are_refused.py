"""A store that does not take what is to be written, and one in which somebody else is quicker."""

from __future__ import annotations

from functools import partial

from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.agreements.resource_handling import on_a_server
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import RequestTooLargeError


class _Narrow(MemoryStore):
    """Takes so many bytes of a value and no more."""

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        """See `Store`."""
        if "/configmaps/" in key and len(value) > 400:
            raise RequestTooLargeError()
        return await super().put(key, value, expected=expected, lease=lease)


class _Raced(MemoryStore):
    """Somebody else is quicker whenever one change is to be written: so many times."""

    races = 0

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        """See `Store`."""
        if self.races and key.endswith("/raced"):
            self.races -= 1
            await super().put(key, value, lease=lease)
        return await super().put(key, value, expected=expected, lease=lease)


async def _too_large(server: GenericAPIServer, client: Client) -> list[tuple[int, bool]]:
    """Sizes of the values that are written, and whether the notes on who set which field are with them."""
    kept = []
    for size in (10, 150, 500):
        body = {**config_map(f"m{size}"), "data": {"v": "x" * size}}
        try:
            made = await client.create(MAPS, body, "default")
        except StatusError:
            continue
        kept.append((size, "managedFields" in made["metadata"]))
    return kept


def test_what_is_too_large_is_tried_again_without_the_notes_on_who_set_which_field() -> None:
    assert on_a_server(_too_large, _Narrow()) == [(10, True), (150, False)]


async def _somebody_quicker(store: _Raced, server: GenericAPIServer, client: Client) -> list[str]:
    made = await client.create(MAPS, config_map("raced"), "default")
    anyhow = {**made, "metadata": {**made["metadata"]}}
    del anyhow["metadata"]["resourceVersion"]
    said = []
    for change in (made, anyhow):
        store.races = 1
        try:
            await client.update(MAPS, {**change, "data": {"by": "me"}})
            said.append("written")
        except StatusError as error:
            said.append(error.reason)
    return said


def test_a_change_that_names_no_version_is_made_anew_where_another_is_a_conflict() -> None:
    raced = _Raced()
    assert on_a_server(partial(_somebody_quicker, raced), raced) == ["Conflict", "written"]
