"""How describers read: one object, or all of a kind, through the clients that know the
kinds.

Upstream: `client-go/kubernetes` (`Clientset`), `cli-runtime/pkg/resource/helper.go`
(`FollowContinue`), `kubectl/pkg/describe/interface.go` (`DescriberSettings`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.kubectl.session import JSON, TYPED, Session


@dataclass(slots=True, frozen=True)
class DescriberSettings:
    """Whether events are shown, and how many objects a list asks for at a time."""

    show_events: bool = True
    chunk_size: int = 500


class Clientset:
    """Reads for describers. Every method raises StatusError for what is refused."""

    def __init__(self, session: Session, settings: DescriberSettings) -> None:
        self._session = session
        self.settings = settings

    async def get(self, plural: str, namespace: str, name: str) -> Object:
        """One object of `pods`, `deployments.apps` …, its kind written on it."""
        row = resource(plural)
        obj = await self._session.send("GET", row.path(namespace, name), accept=TYPED)
        return {"apiVersion": row.api_version, "kind": row.kind, **obj}

    async def get_anything(self, path: str) -> Object:
        """The object at a URL, of whatever kind."""
        return await self._session.send("GET", path, accept=JSON)

    async def list_all(
        self,
        plural: str,
        namespace: str,
        query: Mapping[str, str],
        *,
        chunk: bool = True,
    ) -> list[Object]:
        """The objects of `pods`, `deployments.apps` … that a query selects, asked for
        in chunks.
        """
        row = resource(plural)
        limit = self.settings.chunk_size if chunk else 0
        asked = {**query, "limit": str(limit) if limit else ""}
        items: list[Object] = []
        while True:
            page = await self._session.send(
                "GET", row.path(namespace), asked, accept=TYPED
            )
            kind = {"apiVersion": row.api_version, "kind": row.kind}
            items += ({**kind, **item} for item in page.get("items") or ())
            asked["continue"] = (page.get("metadata") or {}).get("continue", "")
            if not asked["continue"]:
                return items
