"""What a recorder did and did not write down, known from what came of it.

In *admission* a webhook that nobody answers for stops the creation of a ConfigMap;
fourteen milliseconds later the next one is created. In between the recorder took its
webhook configuration away, as part of its cleaning up, which leaves no line.

Most scenarios play in a namespace of their own, which no line creates: the recorder had
made it as part of its preparations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.inspector.exchange import Exchange

UNRECORDED = {
    ("admission", "POST", "/api/v1/namespaces/rec-term/configmaps"): (
        (
            "DELETE",
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/rec-hook",
        ),
    ),
}
"""Scenario, method and path of a recorded request → the requests that came before it
without a line.
"""


def unrecorded_before(
    scenario: str, method: str, path: str
) -> tuple[tuple[str, str], ...]:
    """Method and path of each request that has to be sent before a recorded one."""
    return UNRECORDED.get((scenario, method, path), ())


OF_A_FRESH_CLUSTER = (
    "default",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "local-path-storage",
)


def unrecorded_namespaces(exchanges: Iterable[Exchange]) -> list[str]:
    """The namespaces in which recorded writes succeeded, that no request creates, and
    that a fresh cluster does not have.
    """
    created, written = set(OF_A_FRESH_CLUSTER), dict[str, None]()
    for exchange in exchanges:
        match = re.match(r"/apis?/(?:[^/]+/){1,2}namespaces/([^/?]+)/", exchange.path)
        if (
            exchange.method == "POST"
            and exchange.path.partition("?")[0] == "/api/v1/namespaces"
        ):
            created.add(exchange.body["metadata"].get("name", ""))
        elif match and exchange.method != "GET" and exchange.status < 300:
            written.setdefault(match[1], None)
    return [name for name in written if name not in created]
