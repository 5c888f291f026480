"""Claims about how a request reaches its registry, and what comes back."""

from __future__ import annotations

from unittest.mock import patch

from lifecycle.agreements.apiserver.resource_handling import on_a_server, stages_of
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.agreements.kubectl.request_transport import journey
from lifecycle.agreements.kubectl.traced_requests import traced_requests
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.resources import all_resources, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.endpoints.resource_handler import ResourceHandler
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import InspectorError, Recording

DEPLOYMENTS = resource("deployments.apps")
DEPLOYMENT: Object = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "nginx"},
    "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "nginx"}},
        "template": {
            "metadata": {"labels": {"app": "nginx"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
        },
    },
}  # fmt: skip


@check("resource-handling-routes-registered-at-startup")
def recorded_routes(recording: Recording) -> bool:
    """Every resource of every list has verbs, and a path that is in no list is a
    404.
    """
    lists = [
        each.response
        for each in recording.exchanges("discovery")
        if isinstance(each.response, dict)
        and each.response.get("kind") == "APIResourceList"
    ]
    rows = [row for each in lists for row in each["resources"]]
    strangers = [
        each.status
        for each in recording.exchanges("storage")
        if each.moment == "unknown subresource"
    ]
    return (
        len(rows) > 80 and all(row["verbs"] for row in rows) and set(strangers) == {404}
    )


@rebuilt("resource-handling-routes-registered-at-startup")
def routes() -> bool:
    """On a fresh server every list that discovery names answers, and an unknown version
    does not.
    """

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        listed = [
            row
            for row in all_resources()
            if "list" in row.verbs and row.plural != "componentstatuses"
        ]
        for row in {(row.group, row.plural): row for row in reversed(listed)}.values():
            if (row.group, row.plural) in server.stores:
                await client.list(row)
        try:
            await client.request("GET", "/apis/apps/v1beta9/deployments")
        except StatusError as error:
            return error.code == 404
        return False

    return on_a_server(scene)


@check("resource-handling-method-and-path-choose-handler")
def recorded_methods(recording: Recording) -> bool:
    """One path, several methods, several things that happen; and a method that has no
    handler there.
    """
    by_path: dict[str, set[tuple[str, int]]] = {}
    for each in recording.exchanges("storage"):
        by_path.setdefault(each.path.partition("?")[0], set()).add(
            (each.method, each.status)
        )
    maps = by_path["/api/v1/namespaces/default/configmaps"]
    refused = {
        each.status
        for each in recording.exchanges("storage")
        if each.moment == "method not allowed"
    }
    return {("POST", 201), ("GET", 200), ("DELETE", 200)} <= maps and refused == {405}


def _handlers_reached(*asked: tuple[str, str]) -> list[str]:
    """The name of the verb's handler that each request lands in, or the code of the
    refusal.
    """
    reached: list[str] = []

    def stand_in(name: str):  # type: ignore[no-untyped-def]
        async def handler(
            self: ResourceHandler, request: Request, scope: RequestScope
        ) -> Response:
            reached.append(f"{name} {scope.resource.plural}")
            return Response(200, obj={"kind": "Status", "apiVersion": "v1"})

        return handler

    async def scene(server: GenericAPIServer, client: Client) -> None:
        from lifecycle.apiserver.endpoints import resource_handler

        verbs = {verb: stand_in(verb) for verb in resource_handler.VERBS}
        with patch.dict(resource_handler.VERBS, verbs):
            for method, path in asked:
                try:
                    await client.request(method, path, obj=DEPLOYMENT)
                except StatusError as error:
                    reached.append(str(error.code))

    on_a_server(scene)
    return reached


@rebuilt("resource-handling-method-and-path-choose-handler")
def methods() -> bool:
    """Where six requests land."""
    one = "/apis/apps/v1/namespaces/default/deployments/nginx"
    many = one.removesuffix("/nginx")
    expected = {
        ("GET", one): "get deployments", ("GET", many): "list deployments", ("PUT",
        one): "update deployments",
        ("DELETE", one): "delete deployments", ("DELETE",
        many): "deletecollection deployments", ("PUT", many): "405",
    }  # fmt: skip
    return _handlers_reached(*expected) == list(expected.values())


@check("resource-handling-post-reaches-create-handler")
def recorded_post(recording: Recording) -> bool:
    """kubectl's POST made a Deployment: the next list has it. Where an audit log was
    kept, the server called the request *create*.
    """
    [request] = traced_requests(journey(recording)["01-create"].err)
    listed = recording.at("journey", "after create").get(
        request.path.partition("?")[0]
    )["items"]
    try:
        events = [
            event
            for event in recording.audit("journey")
            if event["userAgent"].startswith("kubectl")
        ]
    except InspectorError:
        events = []
    verbs = {
        event["verb"]
        for event in events
        if event["requestURI"].startswith(f"{request.path}?fieldManager=")
    }
    return request.method == "POST" and len(listed) == 1 and verbs <= {"create"}


@rebuilt("resource-handling-post-reaches-create-handler")
def post() -> bool:
    """Ours lands in `create`."""
    return _handlers_reached(
        ("POST", "/apis/apps/v1/namespaces/default/deployments")
    ) == ["create deployments"]


@check("resource-handling-create-handler-decodes-and-validates")
def recorded_validation(recording: Recording) -> Partly:
    """A body that is no JSON is a 400; one that is, and is wrong in what it says, a 422
    with causes: two judges, two voices.
    """
    undecoded = [
        each.status
        for each in recording.exchanges("storage")
        if each.moment == "malformed body"
    ]
    judged = [each for each in recording.exchanges("corpus") if each.status == 422]
    return Partly(
        set(undecoded) == {400},
        any(each.response["details"].get("causes") for each in judged),
    )


@rebuilt("resource-handling-create-handler-decodes-and-validates")
def validation() -> Partly:
    """Decoding comes before admission, validation after it, and both before the
    store.
    """

    async def scene(server: GenericAPIServer, client: Client) -> None:
        await client.create(DEPLOYMENTS, DEPLOYMENT, "default")

    order = [span.name for span in stages_of(scene) if span.name in _STAGES]
    return Partly(order[0] == "decode", order == list(_STAGES))


_STAGES = (
    "decode",
    "mutating admission",
    "validation",
    "validating admission",
    "storage",
)


@check("resource-handling-performance-trace-and-audit")
def recorded_audit(recording: Recording) -> bool | None:
    """The audit event of a create holds the object as it was decoded: with fields that
    kubectl never sent.
    """
    try:
        events = list(recording.audit("journey"))
    except (InspectorError, FileNotFoundError):
        return None
    creates = [
        each
        for each in events
        if each["verb"] == "create"
        and each.get("requestObject")
        and each["stage"] == "ResponseComplete"
    ]
    deployments = [
        each["requestObject"]
        for each in creates
        if each["objectRef"]["resource"] == "deployments"
    ]
    if not deployments:
        return None
    return all("progressDeadlineSeconds" in each["spec"] for each in deployments)


@rebuilt("resource-handling-performance-trace-and-audit")
def audit() -> bool:
    """Ours notes the decoded object, and every stage is a span."""
    from lifecycle.apiserver.audit import context

    event: Object = {}

    async def scene(server: GenericAPIServer, client: Client) -> None:
        token = context.audit_event.set(event)
        try:
            await client.create(DEPLOYMENTS, DEPLOYMENT, "default")
        finally:
            context.audit_event.reset(token)

    names = [span.name for span in stages_of(scene)]
    noted = event.get("_request") or {}
    traced = "request" in names and names.index("decode") < names.index("storage")
    decoded = (noted.get("spec") or {}).get("progressDeadlineSeconds") == 600
    return traced and decoded


@check("resource-handling-response-carries-persisted-object")
def recorded_response(recording: Recording) -> bool:
    """What a create answered is what was read later, wherever that is still the same
    version: to the last field.
    """
    same = []
    for scenario in ("storage", "services", "admission"):
        created: dict[tuple[str, str], Object] = {}
        for each in recording.exchanges(scenario):
            answer = each.response
            if (
                not isinstance(answer, dict)
                or "Table" in each.accept
                or "Partial" in each.accept
            ):
                continue
            items = answer.get("items") if "items" in answer else [answer]
            for obj in items or ():
                metadata = obj.get("metadata") or {} if isinstance(obj, dict) else {}
                version = (metadata.get("uid", ""), metadata.get("resourceVersion", ""))
                if each.method == "POST" and each.status == 201 and all(version):
                    created[version] = obj
                elif each.method == "GET" and version in created:
                    same.append(
                        {k: v for k, v in created[version].items() if k in obj} == obj
                    )
    return bool(same) and all(same)


@rebuilt("resource-handling-response-carries-persisted-object")
def response() -> bool:
    """A create's answer and a get right after it are the same."""

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        created = await client.create(MAPS, config_map(), "default")
        fetched = await client.get(MAPS, "m", "default")
        return fast_json.dumps(created) == fast_json.dumps(fetched) and bool(
            created["metadata"]["resourceVersion"]
        )

    return on_a_server(scene)
