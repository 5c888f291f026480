"""Request info: what a method and a path mean, before anybody looks further."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lifecycle.agreements.apiserver.handler_chain import recorded_events
from lifecycle.api.http.wire import Object, RequestInfo
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
request_info(method, path, query) -> dict

method: "GET", "HEAD", "POST", "PUT", "PATCH" or "DELETE".
path:   as in "/apis/apps/v1/namespaces/shop/deployments/web/scale".
query:  {"watch": ["true"], ...}: what stands behind the "?", a list for each key.
Returns {"verb", "group", "version", "namespace", "resource", "subresource", "name"},
each a text, empty where there is none. The verb is get, list, watch, create, update,
patch, delete or deletecollection; of a path that names no resource ("/healthz") it is
the method in small letters, and all else is empty. /api/v1/namespaces/shop is the
namespace itself, and lies in itself. A GET without a name that has metadata.name=x as
its fieldSelector asks for that name, and is still a list or a watch."""

STARTER = '''\
def request_info(method, path, query):
    """What the request is about."""
    verbs = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}
    found = dict.fromkeys(("group", "namespace", "subresource", "name"), "")
    parts = path.strip("/").split("/")
    found.update(version=parts[1] if len(parts) > 1 else "", resource=parts[-1])
    return {"verb": verbs.get(method, method.lower()), **found}
'''

METHODS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
PATHS = (
    "/api/v1/pods",
    "/api/v1/namespaces/shop",
    "/api/v1/namespaces/shop/status",
    "/api/v1/namespaces/shop/finalize",
    "/api/v1/namespaces/shop/pods",
    "/api/v1/namespaces/shop/pods/web/log",
    "/api/v1/nodes/n1/proxy/metrics",
    "/apis/apps/v1/namespaces/shop/deployments/web/scale",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin",
    "/api/v1/watch/namespaces/shop/pods",
    "/api/v1/watch/pods",
)
NO_RESOURCES = ("/", "/api", "/api/v1", "/apis", "/apis/apps/v1", "/healthz/etcd")
QUERIES: dict[str, dict[str, list[str]]] = {
    "": {},
    "?watch=1": {"watch": ["1"]},
    "?watch=false": {"watch": ["false"]},
    "?fieldSelector=metadata.name=web": {"fieldSelector": ["metadata.name=web"]},
}


def cases() -> Iterator[Case]:
    """Every kind of request in a real audit log, and paths that nobody asked there."""
    seen: set[tuple[str, str]] = set()
    for event in recorded_events(open_recording()):
        url, verb = urlsplit(event["requestURI"]), event["verb"]
        about = event.get("objectRef")
        if about is None or (verb, event["requestURI"]) in seen:
            continue
        seen.add((verb, event["requestURI"]))
        expected = {
            "verb": verb,
            "group": about.get("apiGroup", ""),
            "version": about.get("apiVersion", ""),
            "namespace": about.get("namespace", ""),
            "resource": about["resource"],
            "subresource": about.get("subresource", ""),
            # of something new the log takes the name from the body
            "name": ""
            if verb == "create" and not _named(url.path, about)
            else about.get("name", ""),
        }
        method = METHODS.get(verb, "GET")
        yield _case(
            f"recorded: {verb}",
            expected,
            method,
            url.path,
            parse_qs(url.query),
            f"?{url.query}" if url.query else "",
        )
    answers = ours()
    for path, method, text in product(
        PATHS, ("GET", "HEAD", "DELETE", "POST"), QUERIES
    ):
        query = QUERIES[text]
        expected = answers(method, path, query)
        yield _case("made up", expected, method, path, query, text)
    for path, method in product(NO_RESOURCES, ("GET", "HEAD", "POST")):
        yield _case("no resource", answers(method, path, {}), method, path, {})


def _named(path: str, about: Object) -> bool:
    return about.get("name", "") in path.split("/")


def _case(
    group: str,
    expected: Object,
    method: str,
    path: str,
    query: dict[str, list[str]],
    text: str = "",
) -> Case:
    label = f"{method} {path}{text}".replace("/", "∕")
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(method, path, query)  # noqa: E731
    question = {"method": method, "path": path, "query": query}
    return Case(group, label, expected, ask, query, question)


def _in_words(info: RequestInfo) -> Object:
    return {
        "verb": info.verb,
        "group": info.group,
        "version": info.version,
        "namespace": info.namespace,
        "resource": info.resource,
        "subresource": info.subresource,
        "name": info.name,
    }


def ours() -> Attempt:
    """The book's."""
    factory = RequestInfoFactory()
    return lambda *request: _in_words(factory.new_request_info(*request))


EXERCISE = Exercise(
    "request-info",
    "What a request means",
    CONTRACT,
    STARTER,
    "a real API server's audit log",
    cases,
    ours,
    ("handler-chain",),
)
