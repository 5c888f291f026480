"""What one request wants from the registry, gathered in one place.

Upstream: `apiserver/pkg/endpoints/handlers/rest.go` (`RequestScope`),
`apimachinery/pkg/apis/meta/v1/types.go` (`CreateOptions`, `UpdateOptions`,
`PatchOptions`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.http.wire import Object, Request, UserInfo
from lifecycle.api.loop.worker import size_of
from lifecycle.api.resources import Resource
from lifecycle.api.schema.empties import Empty
from lifecycle.apiserver.registry.rest.strategy import GENERIC, Strategy

FIELD_VALIDATION = ("Ignore", "Warn", "Strict")
MAX_MANAGER_LENGTH = 128
YAML = 8
"""How much longer it takes to read a byte of it than one of JSON."""
EXPRESSIONS = frozenset(
    {"admissionregistration.k8s.io", "apiextensions.k8s.io", "resource.k8s.io"}
)
CEL = 16
"""The groups of which most bytes may be expressions, and how much longer it takes to
compile a byte of those than to read it.
"""


@dataclass(slots=True)
class RequestScope:
    """One request's resource and options. `warnings` are sent back as `Warning`
    headers.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    user: UserInfo | None = None
    manager: str = "unknown"
    dry_run: bool = False
    field_validation: str = "Warn"
    warnings: list[str] = field(default_factory=list)
    options: Object = field(default_factory=dict)
    """What the client said of it, as admission is told."""
    strategy: Strategy = GENERIC
    empties: Collection[Empty] = ()
    """What the object sent has that the normal form leaves out."""
    requested_version: str = ""
    """The older group and version that the client named; empty: the resource's own.
    Upstream: `GroupVersion` of the context's `RequestInfo`.
    """
    size: int = 0
    """Bytes of what the request is about: whether it is the worker's. See
    `api.worker`.
    """


def scope_of(request: Request, resource: Resource, strategy: Strategy) -> RequestScope:
    """The scope of a request that the handler chain has worked out already."""
    info = request.info
    assert info is not None
    media_type = request.headers.get("content-type", "")
    return RequestScope(
        resource=resource,
        namespace=info.namespace if resource.namespaced else "",
        name=info.name,
        subresource=info.subresource,
        user=request.user,
        manager=request.param("fieldManager")
        or user_agent_manager(request.headers.get("user-agent", "")),
        dry_run="All" in request.query.get("dryRun", ()),
        field_validation=request.param("fieldValidation") or "Warn",
        warnings=request.warnings,
        options={
            key: value
            for key in ("fieldManager", "fieldValidation")
            if (value := request.param(key))
        },
        strategy=strategy.in_version(request.requested_version),
        requested_version=request.requested_version,
        size=strategy.weighed(
            (len(request.body) or size_of(request.obj))
            * (YAML if "yaml" in media_type else 1)
            * (CEL if resource.group in EXPRESSIONS else 1)
        ),
    )


@short_lru_cache(1024)
def user_agent_manager(user_agent: str) -> str:
    """The field manager of a client that names none: its user agent up to the first
    `/`. Upstream: `managerOrUserAgent`.
    """
    printable = filter(str.isprintable, user_agent.partition("/")[0])
    return "".join(islice(printable, MAX_MANAGER_LENGTH)) or "unknown"
