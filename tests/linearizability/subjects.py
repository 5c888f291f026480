"""What is asked: a store by itself, or a whole API server over one."""

from __future__ import annotations

from typing import Protocol

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.etcd.store import KeyValue, Store, StoreError, UnavailableError, prefix_end
from tests.linearizability.operations import State

PREFIX = "/registry/linearizability/"
CONFIG_MAPS = resource("configmaps")
LABEL = "linearizability"


class RefusedError(Exception):
    """The condition was not met."""


class NothingDoneError(Exception):
    """Turned away: whatever was asked was certainly not done."""


class NoAnswerError(Exception):
    """Nobody knows whether it was done."""


class Subject(Protocol):
    """All raise NothingDoneError and NoAnswerError; what has a condition, RefusedError."""

    async def create(self, key: str, value: str) -> int:
        """The revision."""
        ...

    async def get(self, key: str) -> State:
        """The newest."""
        ...

    async def update(self, key: str, value: str, expected: int) -> int:
        """The revision."""
        ...

    async def delete(self, key: str, expected: int) -> None:
        """0: whatever is there."""
        ...

    async def list(self) -> tuple[int, dict[str, tuple[str, int]]]:
        """The revision of the picture, and the picture."""
        ...


class StoreSubject:
    """`store.Store` says when a writer may not know: if it is an UnavailableError, and only then."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def create(self, key: str, value: str) -> int:
        return await self._put(key, value, 0)

    async def update(self, key: str, value: str, expected: int) -> int:
        return await self._put(key, value, expected)

    async def _put(self, key: str, value: str, expected: int) -> int:
        try:
            revision = await self.store.put(PREFIX + key, value.encode(), expected=expected)
        except UnavailableError as error:
            raise NoAnswerError from error
        except StoreError as error:
            raise NothingDoneError from error
        if revision is None:
            raise RefusedError
        return revision

    async def get(self, key: str) -> State:
        try:
            kv = await self.store.get(PREFIX + key)
        except StoreError as error:
            raise NothingDoneError from error
        return _state(kv) if kv is not None else None

    async def delete(self, key: str, expected: int) -> None:
        try:
            revision = await self.store.delete(PREFIX + key, expected=expected or None)
        except UnavailableError as error:
            raise NoAnswerError from error
        except StoreError as error:
            raise NothingDoneError from error
        if revision is None:
            raise RefusedError

    async def list(self) -> tuple[int, dict[str, tuple[str, int]]]:
        try:
            answer = await self.store.range(PREFIX, prefix_end(PREFIX))
        except StoreError as error:
            raise NothingDoneError from error
        return answer.revision, {kv.key.removeprefix(PREFIX): _state(kv) for kv in answer.kvs}


def _state(kv: KeyValue) -> tuple[str, int]:
    return kv.value.decode(), kv.mod_revision


class ServerSubject:
    """ConfigMaps through an API server. A list without a `resourceVersion` comes from its cache, and may not be behind."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(self, key: str, value: str) -> int:
        try:
            return _revision(await self._client.create(CONFIG_MAPS, _config_map(key, value), "default"))
        except (StatusError, OSError, EOFError) as error:
            raise _sort(error, 409) from error

    async def get(self, key: str) -> State:
        try:
            obj = await self._client.get(CONFIG_MAPS, key, "default")
        except StatusError as error:
            if error.code == 404:
                return None
            raise _sort(error) from error
        except (OSError, EOFError) as error:
            raise NothingDoneError from error
        return obj["data"]["k"], _revision(obj)

    async def update(self, key: str, value: str, expected: int) -> int:
        obj = _config_map(key, value)
        obj["metadata"]["resourceVersion"] = str(expected)
        try:
            return _revision(await self._client.update(CONFIG_MAPS, obj))
        except (StatusError, OSError, EOFError) as error:
            raise _sort(error, 404, 409) from error

    async def delete(self, key: str, expected: int) -> None:
        try:
            await self._client.delete(CONFIG_MAPS, key, "default", resource_version=str(expected) if expected else "")
        except (StatusError, OSError, EOFError) as error:
            raise _sort(error, 404, 409) from error

    async def list(self) -> tuple[int, dict[str, tuple[str, int]]]:
        try:
            answer = await self._client.list(CONFIG_MAPS, "default", label_selector=LABEL)
        except (StatusError, OSError, EOFError) as error:
            raise NothingDoneError from error
        items = {obj["metadata"]["name"]: (obj["data"]["k"], _revision(obj)) for obj in answer["items"]}
        return int(answer["metadata"]["resourceVersion"]), items


def _sort(error: Exception, *refused: int) -> Exception:
    """What an error means. One that nobody has thought of is a mistake of the server's, and is raised as it is."""
    if not isinstance(error, StatusError) or error.code in (500, 503, 504):
        return NoAnswerError()
    if error.code in refused:
        return RefusedError()
    return NothingDoneError() if error.code == 429 else error


def _config_map(key: str, value: str) -> dict[str, object]:
    metadata = {"name": key, "namespace": "default", "labels": {LABEL: ""}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": value}}


def _revision(obj: dict[str, dict[str, str]]) -> int:
    return int(obj["metadata"]["resourceVersion"])
