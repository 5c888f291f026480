"""Logs, exec, attach and port-forward: the API server as a go-between.

Nothing is stored here. The server finds out where the pod runs, checks that the
container is one of the pod's, and asks that node's kubelet. From then on it passes
bytes on and understands nothing of them: kubectl and the kubelet (or the runtime) agree
on a protocol with each other.

Upstream: `pkg/registry/core/pod/strategy.go` (`LogLocation`, `streamLocation`,
`validateContainer`), `pod/rest/{log,subresources}.go`,
`apiserver/pkg/registry/generic/rest/response_checker.go`,
`apimachinery/pkg/util/proxy/upgradeaware.go`, v1.36. Left out: upstream translates
WebSocket to SPDY for kubelets that speak no WebSocket; ours speak it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol
from urllib.parse import quote

from lifecycle.api import status
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import ANONYMOUS, Object, Request, Response
from lifecycle.api.schema import scalars
from lifecycle.apiserver.authz.authorizer import Authorizer, decide
from lifecycle.apiserver.authz.forbidden import forbidden_status_error
from lifecycle.apiserver.endpoints.websocket_reader import over_websocket

LOG_FLAGS = ("follow", "previous", "timestamps")
LOG_PARAMETERS = ("sinceSeconds", "sinceTime", "tailLines", "limitBytes")
STREAMS = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}


class NodeTransport(Protocol):
    """The way to one kubelet."""

    async def round_trip(self, request: Request) -> Response:
        """Ask it. Raises OSError if nobody answers."""
        ...

    async def reach_pod(
        self, ip: str, port: int, request: Request, scheme: str = "http"
    ) -> Response:
        """Ask whoever listens at an address of that node, `request.target` over its
        network. Raises OSError.
        """
        ...


def validate_container(pod: Object, container: str) -> str:
    """The container that is meant. Raises StatusError if that is not clear, or if there
    is none of that name.
    """
    spec, name = pod["spec"], pod["metadata"]["name"]
    own = [c["name"] for c in spec["containers"]]
    init = [c["name"] for c in spec.get("initContainers") or ()]
    ephemeral = [c["name"] for c in spec.get("ephemeralContainers") or ()]
    if container:
        if container not in (*init, *own, *ephemeral):
            raise status.bad_request(
                f"container {container} is not valid for pod {name}"
            )
        return container
    if len(own) == 1:
        return own[0]
    # upstream names every container, init containers first, as Go prints a list
    listed = " ".join([*init, *own, *ephemeral])
    raise status.bad_request(
        f"a container name must be specified for pod {name}, choose one of: [{listed}]"
    )


def check_log_options(request: Request, name: str) -> None:
    """Raises StatusError. Upstream: `ValidatePodLogOptions`."""
    causes = []
    values: dict[str, int] = {}
    for key in ("sinceSeconds", "tailLines", "limitBytes"):
        text = request.param(key)
        if text:
            try:
                values[key] = int(text)
            except ValueError:
                raise status.bad_request(
                    f'strconv.ParseInt: parsing "{text}": invalid syntax'
                ) from None
    if request.param("sinceTime"):
        try:
            scalars.time(request.param("sinceTime"))
        except ValueError as error:
            raise status.bad_request(str(error)) from None
    checks = (
        (
            "tailLines",
            values.get("tailLines", 0) < 0,
            "must be greater than or equal to 0",
        ),
        ("limitBytes", values.get("limitBytes", 1) < 1, "must be greater than 0"),
        ("sinceSeconds", values.get("sinceSeconds", 1) < 1, "must be greater than 0"),
    )
    if "sinceSeconds" in values and request.param("sinceTime"):
        causes.append(
            _cause(
                "FieldValueForbidden",
                "",
                "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be"
                " specified",
            )
        )
    causes += [
        _cause("FieldValueInvalid", k, f"Invalid value: {values[k]}: {why}")
        for k, bad, why in checks
        if bad
    ]
    if request.param("stream"):  # `PodLogsQuerySplitStreams` is alpha
        causes.append(
            _cause("FieldValueForbidden", "stream", "Forbidden: may not be specified")
        )
    if causes:
        raise status.invalid("PodLogOptions", name, causes)


def _cause(reason: str, field: str, message: str) -> Object:
    return {"reason": reason, "message": message, "field": field or "[]"}


class PodConnector:
    """Carries requests to kubelets. `nodes`: the way to each, by node name.

    A WebSocket can only be opened with GET, which is the verb *get*; but whoever runs a
    command in a pod does more than read. So such requests must be allowed as *create*,
    too (since 1.35).
    """

    def __init__(
        self, nodes: Mapping[str, NodeTransport], authorizer: Authorizer | None = None
    ) -> None:
        self.nodes = nodes
        self._authorizer = authorizer

    async def log(self, request: Request, pod: Object) -> Response:
        """What a container has written, from its kubelet. Raises StatusError."""
        name = pod["metadata"]["name"]
        check_log_options(request, name)
        container = validate_container(pod, request.param("container"))
        node = pod["spec"].get("nodeName")
        if not node:  # nothing has run, so nothing was written
            return Response(204, body=b"")
        query = {
            key: ["true"] for key in LOG_FLAGS if bool_parameter(request.query, key)
        }
        query |= {
            key: request.query[key] for key in LOG_PARAMETERS if request.param(key)
        }
        asked = _kubelet_request(request, "GET", "containerLogs", pod, container, query)
        return over_websocket(request, _checked(await self._ask(node, asked), name))

    async def connect(
        self, request: Request, pod: Object, subresource: str, options: Object
    ) -> Response:
        """Open exec, attach or portforward of a pod as its options say. Raises
        StatusError.
        """
        if request.method == "GET":
            await self._check_create(request)
        container, query = "", dict[str, list[str]]()
        if subresource == "portforward":
            path = "portForward"
            if options.get("ports"):
                query["port"] = [",".join(map(str, options["ports"]))]
        else:
            path = subresource
            container = validate_container(pod, options.get("container", ""))
            query = {STREAMS[key]: ["1"] for key in STREAMS if options.get(key)}
            query["command"] = options.get("command") or []
        node = pod["spec"].get("nodeName")
        if not node:
            name = pod["metadata"]["name"]
            raise status.bad_request(f"pod {name} does not have a host assigned")
        asked = _kubelet_request(request, request.method, path, pod, container, query)
        return await self._ask(node, asked)

    async def _check_create(self, request: Request) -> None:
        if self._authorizer is None or request.info is None:
            return
        info, user = replace(request.info, verb="create"), request.user or ANONYMOUS
        verdict = await decide(self._authorizer.authorize, user, info)
        if not verdict.allowed:
            raise forbidden_status_error(user, info, verdict.reason)

    async def _ask(self, node: str, request: Request) -> Response:
        transport = self.nodes.get(node)
        if transport is None:
            raise status.not_found("nodes", node)
        try:
            return await transport.round_trip(request)
        except OSError as error:
            verb, url = (
                request.method.capitalize(),
                f"https://{node}:10250{quote(request.path)}",
            )
            raise status.internal_error(f'{verb} "{url}": {error}') from None


def _kubelet_request(
    request: Request,
    method: str,
    path: str,
    pod: Object,
    container: str,
    query: dict[str, list[str]],
) -> Request:
    """What the kubelet is asked; not as whom, which is the API server's business."""
    metadata = pod["metadata"]
    target = f"/{path}/{metadata['namespace']}/{metadata['name']}"
    headers = {
        key: value
        for key, value in request.headers.items()
        if key not in ("authorization", "accept")
    }
    return Request(
        method, target + (f"/{container}" if container else ""), query, headers
    )


def _checked(response: Response, name: str) -> Response:
    """The kubelet's refusals become the API's. Upstream:
    `GenericHttpResponseChecker.Check`.
    """
    if response.status == 200:
        return response
    text = (response.body or b"").decode(errors="replace")
    if response.status == 500:
        raise status.internal_error(text)
    if response.status == 400:
        raise status.bad_request(text)
    details: Object = {"name": name, "kind": "pods/log"}
    if response.status == 404:
        details["causes"] = [{"reason": "UnexpectedServerResponse", "message": text}]
        message = f"the server could not find the requested resource ( pods/log {name})"
        raise status.failure(404, "NotFound", message, details)
    raise status.failure(response.status, "InternalError", text, details)
