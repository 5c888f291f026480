"""Reading from an informer's cache as one would from the server, without asking it.

Upstream: `client-go/listers` (generated, one type per kind),
`client-go/tools/cache/listers.go` (`ListAll`, `ListAllByNamespace`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.client.indexer import Indexer


class LabelSelector(Protocol):
    """What `lifecycle.api.labels` parses."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are selected."""
        ...


def select(objects: list[Object], selector: LabelSelector | None) -> list[Object]:
    """The objects whose labels match; all of them without a selector."""
    if selector is None:
        return objects
    return [
        obj for obj in objects if selector.matches(obj["metadata"].get("labels") or {})
    ]


class Lister:
    """`get` and `list` over an indexer. Objects are shared: copy before changing."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    def get(self, name: str, namespace: str = "") -> Object | None:
        """The object, or None where the server would say NotFound."""
        return self._indexer.get_by_key(f"{namespace}/{name}" if namespace else name)

    def list(
        self, namespace: str = "", selector: LabelSelector | None = None
    ) -> list[Object]:
        """Objects of a namespace (empty: of all) that match."""
        return select(self._indexer.list_namespace(namespace), selector)
