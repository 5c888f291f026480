"""Admission of connections: policies and webhooks read what somebody wants to do in a pod."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Response
from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch
from tests.apiserver.admission_server import Asker, play, pod, put_policy, webhooks

SAYS = " + ".join(
    [
        "request.operation + ' ' + request.kind.kind + ' ' + request.subResource + ' ' + request.name",
        "(oldObject == null ? '' : ' old')",
        "(has(object.stdin) ? ' stdin' : '') + (has(object.stdout) ? ' stdout' : '')",
        "(has(object.stderr) ? ' stderr' : '') + (has(object.tty) ? ' tty' : '')",
        "(has(object.container) ? ' c=' + object.container : '')",
        "(has(object.command) ? ' command=' + object.command.join(' ') : '')",
        "(has(object.ports) ? ' ports=' + string(object.ports) : '')",
        "(has(object.path) ? ' path=' + object.path : '')",
    ]
).replace("string(object.ports)", "object.ports.map(p, string(p)).join('+')")
CONNECTIONS: list[Object] = [
    {
        "apiGroups": [""],
        "apiVersions": ["*"],
        "operations": ["CONNECT"],
        "resources": ["pods/*", "services/*", "nodes/*"],
    }
]


async def connect(asker: Asker, method: str, target: str) -> Response:
    path, _, query = f"/api/v1/{target}".partition("?")
    values: dict[str, list[str]] = {}
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    request = asker.request(method, path, values)
    return await asker.server.handler(request)


@pytest.mark.parametrize(
    ("method", "target", "code", "says"),
    [
        (
            "POST",
            "namespaces/default/pods/none/exec?command=ls&command=-l&stdin=true&container=c",
            422,
            "CONNECT PodExecOptions exec none stdin c=c command=ls -l",
        ),
        (
            "POST",
            "namespaces/default/pods/none/exec?command=ls&stderr=1&stdout=false&tty=yes&foo=bar",
            422,
            "CONNECT PodExecOptions exec none stderr tty command=ls",
        ),
        ("GET", "namespaces/default/pods/none/attach?stdin=", 422, "CONNECT PodAttachOptions attach none stdin"),
        (
            "POST",
            "namespaces/default/pods/none/portforward?ports=80,81&ports=82",
            422,
            "CONNECT PodPortForwardOptions portforward none ports=80+81+82",
        ),
        ("POST", "namespaces/default/pods/none/portforward", 422, "CONNECT PodPortForwardOptions portforward none"),
        (
            "GET",
            "namespaces/default/pods/http:none:80/proxy/a/b/?x=1&path=/u",
            422,
            "CONNECT PodProxyOptions proxy http:none:80 path=/a/b/",
        ),
        ("GET", "namespaces/default/services/none:80/proxy", 422, "CONNECT ServiceProxyOptions proxy none:80"),
        ("GET", "namespaces/default/services/n/proxy/", 422, "CONNECT ServiceProxyOptions proxy n path=/"),
        ("DELETE", "nodes/none/proxy/logs", 422, "CONNECT NodeProxyOptions proxy none path=/logs"),
        ("GET", "namespaces/default/pods/none/log", 404, 'pods "none" not found'),
        ("POST", "namespaces/default/pods/none/attach?dryRun=", 400, "dryRun is not supported"),
        *(
            (
                "POST",
                f"namespaces/default/pods/none/portforward?ports={text}",
                400,
                f'cannot convert to []int32: strconv.ParseUint: parsing "{text}": {why}',
            )
            for text, why in (
                ("x", "invalid syntax"),
                ("", "invalid syntax"),
                ("-1", "invalid syntax"),
                ("65536", "value out of range"),
                ("1" + "0" * 30, "value out of range"),
            )
        ),
    ],
)
def test_a_policy_reads_the_options_of_a_connection_before_anybody_looks_for_the_pod(
    method: str, target: str, code: int, says: str
) -> None:
    """What upstream 1.36.2 said to the same policy and requests."""

    async def scene(asker: Asker) -> Response:
        refusal = [{"expression": "false", "messageExpression": SAYS}]
        await put_policy(asker, "Validating", "p", matches=CONNECTIONS, validations=refusal)
        return await connect(asker, method, target)

    answer = play(scene)
    assert answer.obj is not None
    message = answer.obj["message"].rpartition("denied request: ")[2]
    assert (answer.status, message) == (code, says)


def hook(server: WebhookServer, *resources: str) -> Object:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": list(resources)}]
    return {"clientConfig": server.client_config(), "rules": rules}


def test_a_webhook_is_shown_the_options_and_refuses_an_attach() -> None:
    async def scene(asker: Asker) -> tuple[Response, Response]:
        await asker.made(pod("web"))
        await asker.made(webhooks("Validating", "h", hook(server, "pods/attach")))
        refused = await connect(asker, "POST", "namespaces/default/pods/web/attach?stdin=1&container=c0")
        other = await connect(asker, "POST", "namespaces/default/pods/web/exec?command=ls")
        return refused, other

    no = {"allowed": False, "status": {"message": "attaching to pod 'web' is not allowed", "code": 403}}
    with WebhookServer(lambda request: no) as server:
        refused, other = play(scene)
        [review] = server.asked
    assert refused.obj is not None
    assert refused.status == 403
    assert refused.obj["message"].endswith("denied the request: attaching to pod 'web' is not allowed")
    request = review["request"]
    assert (request["operation"], request["name"], request["namespace"]) == ("CONNECT", "web", "default")
    assert request["kind"] == {"group": "", "version": "v1", "kind": "PodAttachOptions"}
    assert request["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert request["subResource"] == "attach"
    assert request["object"] == {"kind": "PodAttachOptions", "apiVersion": "v1", "stdin": True, "container": "c0"}
    assert request["oldObject"] is None
    assert request["options"] is None
    assert (other.status, other.obj and other.obj["message"]) == (400, "pod web does not have a host assigned")


def test_a_webhook_that_changes_the_options_changes_the_connection() -> None:
    def answer(request: Object) -> Any:
        return json_patch({"op": "add", "path": "/container", "value": "other"})

    async def scene(asker: Asker) -> Response:
        await asker.made(pod("web"))
        await asker.made(webhooks("Mutating", "h", hook(server, "pods/exec")))
        return await connect(asker, "POST", "namespaces/default/pods/web/exec?command=ls")

    with WebhookServer(answer) as server:
        response = play(scene)
    assert (response.status, response.obj and response.obj["message"]) == (
        400,
        "container other is not valid for pod web",
    )
