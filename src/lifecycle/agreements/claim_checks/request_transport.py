"""Claims about the request on its way: put to recorded traces, and to our own kubectl
in front of a server that remembers.
"""

from __future__ import annotations

from lifecycle.agreements.apiserver.remembering_server import (
    RememberingServer,
    typed_at,
)
from lifecycle.agreements.claim_checks.kubectl import printed
from lifecycle.agreements.kubectl.request_transport import journey
from lifecycle.agreements.kubectl.traced_requests import traced_requests
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import Recording

RUN = ["run", "nginx", "--image=nginx"]
REFUSAL = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"}


@check("request-transport-create-is-a-post")
def create_is_a_post_recorded(recording: Recording) -> bool:
    """What the recorded command that creates put on the wire."""
    return [r.method for r in traced_requests(journey(recording)["01-create"].err)] == [
        "POST"
    ]


@rebuilt("request-transport-create-is-a-post")
def create_is_a_post() -> bool:
    """`run` itself: one request apart from discovery."""
    server = RememberingServer()
    typed_at(server, RUN)
    return server.asked == ["POST /api/v1/namespaces/default/pods"]


@check("request-transport-success-printed-after-response")
def success_after_response_recorded(recording: Recording) -> bool:
    """The trace has an answer of 201, and the line of success came on another stream
    after it: it names what was created.
    """
    transcript = journey(recording)["01-create"]
    return (
        "201 Created" in transcript.err
        and transcript.out.strip() == "deployment.apps/nginx created"
    )


@rebuilt("request-transport-success-printed-after-response")
def success_after_response() -> bool:
    """A refusal leaves nothing on stdout; success prints what the server sent, not what
    the client had.
    """
    server = RememberingServer()
    server.refuse = (403, REFUSAL)
    refused = typed_at(server, RUN)
    created = typed_at(RememberingServer(), [*RUN, "-o", "jsonpath={.metadata.uid}"])
    silent = (refused.code, refused.out) == (1, "")
    return silent and created.out == "made-by-the-server"


@check("request-transport-message-follows-output-format")
def message_follows_format_recorded(recording: Recording) -> bool:
    """The same kind of command with and without `-o json`."""
    plain = journey(recording)["01-create"]
    return not plain.objects and [
        obj["kind"] for obj in printed(recording, "create-deployment").objects
    ] == ["Deployment"]


@rebuilt("request-transport-message-follows-output-format")
def message_follows_format() -> bool:
    """One command, four formats."""
    outputs = [
        typed_at(RememberingServer(), [*RUN, *more]).out
        for more in ([], ["-o", "name"], ["-o", "json"], ["-o", "yaml"])
    ]
    return (
        outputs[:2] == ["pod/nginx created\n", "pod/nginx\n"]
        and outputs[2][:1] == "{"
        and outputs[3].startswith("apiVersion:")
    )
