"""Request info: what a method and a path mean.

Everything behind this stage – flow control, authorization, audit, the registry – speaks
of verbs and resources, not of URLs. The translation is purely lexical:
`/api/v1/namespaces/x/pods/y` is `get pods "y" in "x"` whether or not anything of the
kind exists.

Two rules surprise. A GET without a name is a `list`, unless `?watch` makes it a
`watch`, and a DELETE without a name is a `deletecollection`. And a list whose field
selector pins `metadata.name` counts as a request for that name, so a role limited by
`resourceNames` can allow watching one object.

Upstream: `apiserver/pkg/endpoints/request/requestinfo.go`
(`RequestInfoFactory.NewRequestInfo`) and `endpoints/filters/requestinfo.go`
(`WithRequestInfo`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.fields import parse_field_selector
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Handler, Request, RequestInfo, Response
from lifecycle.api.loop.worker import beside
from lifecycle.api.status import StatusError, failure
from lifecycle.apiserver.filters.refusal import refuse

SPECIAL_VERBS = frozenset({"proxy", "watch"})
SPECIAL_VERBS_NO_SUBRESOURCES = frozenset({"proxy"})
NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
VERBS_WITH_SELECTORS = frozenset({"list", "watch", "deletecollection"})
METHOD_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
CACHE_SIZE = 8192
"""Each of five thousand nodes has a path of its own for its lease."""


class UnknownRequestError(ValueError):
    """A path such as `/api/v1/watch` that names a special verb and nothing to apply it
    to.
    """


class RequestInfoFactory:
    """Makes `RequestInfo`s. Paths repeat, so what depends on method and path alone is
    remembered.
    """

    def __init__(
        self,
        api_prefixes: frozenset[str] = frozenset({"api", "apis"}),
        groupless_api_prefixes: frozenset[str] = frozenset({"api"}),
    ) -> None:
        self.api_prefixes = api_prefixes
        self.groupless_api_prefixes = groupless_api_prefixes
        self._known: BoundedCache[tuple[str, str], RequestInfo] = BoundedCache(
            CACHE_SIZE
        )

    def new_request_info(
        self, method: str, path: str, query: dict[str, list[str]]
    ) -> RequestInfo:
        """What the request asks for. Raises UnknownRequestError if the path stops right
        after a special verb.
        """
        key = (method, path)
        info = self._known.get(key)
        if info is None:
            info = self._parse(method, path)
            self._known.put(key, info)
        if query and info.is_resource_request and info.verb in VERBS_WITH_SELECTORS:
            return _with_query(info, query)
        return info

    def _parse(self, method: str, path: str) -> RequestInfo:
        """What method and path say. A GET without a name comes out as `list`."""
        parts = _split_path(path)
        if len(parts) < 3 or parts[0] not in self.api_prefixes:
            return RequestInfo(False, path, method.lower())
        prefix, parts, group = parts[0], parts[1:], ""
        if prefix not in self.groupless_api_prefixes:
            if len(parts) < 3:
                return RequestInfo(False, path, method.lower(), prefix)
            group, parts = parts[0], parts[1:]
        version, parts = parts[0], parts[1:]

        verb = METHOD_VERBS.get(method, "")
        if parts[0] in SPECIAL_VERBS:
            if len(parts) < 2:
                raise UnknownRequestError(
                    f"unable to determine kind and namespace from url, {path}"
                )
            verb, parts = parts[0], parts[1:]

        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 1:
            namespace = parts[1]
            # /namespaces/x/status is a subresource of the namespace; /namespaces/x/pods
            # are the pods inside it
            if len(parts) > 2 and parts[2] not in NAMESPACE_SUBRESOURCES:
                parts = parts[2:]

        name = parts[1] if len(parts) >= 2 else ""
        has_subresource = len(parts) >= 3 and verb not in SPECIAL_VERBS_NO_SUBRESOURCES
        if not name and verb == "get":
            verb = "list"
        if not name and verb == "delete":
            verb = "deletecollection"
        return RequestInfo(
            is_resource_request=True,
            path=path,
            verb=verb,
            api_prefix=prefix,
            group=group,
            version=version,
            namespace=namespace,
            resource=parts[0],
            subresource=parts[2] if has_subresource else "",
            name=name,
            parts=tuple(parts),
        )


def _split_path(path: str) -> list[str]:
    path = path.strip("/")
    return path.split("/") if path else []


def _with_query(info: RequestInfo, query: dict[str, list[str]]) -> RequestInfo:
    """The same, refined by `watch` and the selectors."""
    if (
        info.verb == "watch"
    ):  # by path: the deprecated form takes no part in authorization by selector
        return info
    field_selector = query.get("fieldSelector", [""])[0]
    label_selector = query.get("labelSelector", [""])[0]
    watch = info.verb == "list" and bool_parameter(query, "watch")
    if not (watch or field_selector or label_selector):
        return info
    return replace(
        info,
        verb="watch" if watch else info.verb,
        name=_required_name(field_selector) if info.verb == "list" else "",
        field_selector=field_selector,
        label_selector=label_selector,
    )


def _required_name(field_selector: str) -> str:
    """The name that a field selector asks for with `metadata.name=…`, if it could be
    one.
    """
    if "metadata.name" not in field_selector:
        return ""
    try:
        name = (
            parse_field_selector(field_selector).requires_exact_match("metadata.name")
            or ""
        )
    except StatusError:
        return ""
    return "" if name in (".", "..") or "/" in name or "%" in name else name


def is_long_running(info: RequestInfo) -> bool:
    """Watches and streams: they may last, so no timeout applies and no concurrency
    share is held.

    Upstream: `apiserver/pkg/server/filters/longrunning.go` with kube-apiserver's verbs
    and subresources.
    """
    if info.verb in ("watch", "proxy"):
        return True
    if info.is_resource_request:
        return info.subresource in ("attach", "exec", "proxy", "log", "portforward")
    return info.path.startswith("/debug/pprof/")


def with_request_info(handler: Handler, factory: RequestInfoFactory) -> Handler:
    """Fill in `request.info`."""

    async def request_info(request: Request) -> Response:
        try:
            selectors = sum(map(len, request.query.get("fieldSelector", ())))
            request.info = await beside(
                selectors,
                factory.new_request_info,
                request.method,
                request.path,
                request.query,
            )
        except UnknownRequestError as error:
            return refuse(failure(500, "", f"failed to create RequestInfo: {error}"))
        return await handler(request)

    return request_info
