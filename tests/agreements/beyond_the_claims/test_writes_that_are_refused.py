"""A store that does not take what is to be written, and one in which somebody else is quicker."""

from __future__ import annotations

from functools import partial

from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.agreements.resource_handling import on_a_server
from lifecycle.api.resources import resource
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


LEASES = resource("leases.coordination.k8s.io")


async def _versions(server: GenericAPIServer, client: Client) -> list[tuple[int, str]]:
    """What is said to updates of a Lease with these versions, of a ConfigMap with the same, and with its own at last."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}}
    said = []
    for kind, body in ((LEASES, lease), (MAPS, config_map("m"))):
        made = await client.create(kind, body, "default")
        for version in ("", "0", "1", "soon", "-1", "99999999999999999999", made["metadata"]["resourceVersion"]):
            metadata = {**made["metadata"], "resourceVersion": version}
            try:
                await client.update(kind, {**made, "metadata": metadata | {"labels": {"a": version or "none"}}})
                said.append((200, ""))
            except StatusError as error:
                said.append((error.code, error.message.partition(": ")[2][:60]))
    return said


def test_a_version_is_a_number_and_some_kinds_must_have_one() -> None:
    """As a real server answers: what is no number is its storage's own error."""
    no_number = [(500, 'parsing "soon": invalid syntax'), (500, 'parsing "-1": invalid syntax')]
    late = "the object has been modified; please apply your changes to t"
    needed = (422, "metadata.resourceVersion: Invalid value: 0: must be specifie")
    far = (500, 'parsing "99999999999999999999": value out of range')
    assert on_a_server(_versions)[:7] == [needed, needed, (409, late), *no_number, far, (200, "")]
