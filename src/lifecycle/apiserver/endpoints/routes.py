"""Which method goes with which path.

The translation of paths (`filters.request_info`) is purely lexical; whether a route
*exists* is decided here: pods are created in a namespace and listed in all of them,
nodes live in none, a name is a single path segment. What has no route is a 404, what
has one for another method a 405.

The 404 has two faces. Below a group that is served, a router answers with a `Status`; a
path that no router knows gets the plain text of the HTTP library.

Upstream: `apiserver/pkg/endpoints/installer.go` (`registerResourceHandlers`),
`apiserver/pkg/server/handler.go` (`director.ServeHTTP`),
`apimachinery/pkg/api/validate/content/path.go` (`IsPathSegmentName`), v1.36.
"""

from __future__ import annotations

from functools import cache

from lifecycle.api import status
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import RequestInfo, Response
from lifecycle.api.resources import Resource, all_resources
from lifecycle.apiserver.endpoints.document import page_not_found

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
PROXY_METHODS = METHODS | {"HEAD", "OPTIONS"}


@cache
def _groups() -> frozenset[str]:
    return frozenset(row.group for row in all_resources())


def no_such_resource(info: RequestInfo) -> Response:
    """The answer for a resource that does not exist. Raises StatusError 404 where a
    router would answer.
    """
    if not info.path.startswith("//") and (
        info.api_prefix == "api" or info.group in _groups()
    ):
        raise status.generic_not_found()
    return page_not_found()


def check_route(method: str, info: RequestInfo, resource: Resource) -> None:
    """Raises StatusError 404 or 405 for a path or method without a route, 400 for a
    name that cannot be one.
    """
    if method not in (PROXY_METHODS if info.subresource == "proxy" else METHODS):
        raise status.method_not_allowed()
    if info.verb == "proxy":
        raise status.generic_not_found()
    if info.verb == "watch" and method != "GET":
        raise status.method_not_allowed()
    if set(resource.verbs) == {"create"} and (
        len(info.parts) > 1 or (resource.namespaced and not info.namespace)
    ):
        # a review can be posted; no other route is made for it
        raise status.generic_not_found()
    if resource.namespaced:
        if not info.namespace and "/namespaces//" not in info.path:
            if len(info.parts) > 1:
                raise status.generic_not_found()
            if method != "GET":
                raise status.method_not_allowed()
        elif not info.namespace and info.name:
            raise status.bad_request("Namespace parameter required.")
    elif info.namespace and resource.plural != "namespaces":
        raise status.generic_not_found()
    if len(info.parts) > 1:
        check_path_segment(info.name)


def check_path_segment(name: str) -> None:
    """Raises StatusError 400 for a name that could not be part of a key."""
    why = []
    if name in (".", ".."):
        why.append(f"may not be '{name}'")
    why += [f"may not contain '{char}'" for char in "/%" if char in name]
    if why:
        raise status.bad_request(
            f"Name parameter invalid: {go_quote(name)}: {';'.join(why)}"
        )
