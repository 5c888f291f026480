"""Claims about the Node authorizer: put to the recorded access reviews, and to ours."""

from __future__ import annotations

from lifecycle.agreements.apiserver.authorization import questions
from lifecycle.agreements.claim_checks.authorizing import asked
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording


@check("authz-node-limited-to-own-resources")
def node_limits(recording: Recording) -> Partly:
    """A node may not read some secret; but services it may list, all of them."""
    decisions: dict[tuple[str, str], set[bool]] = {}
    for user, info, answer in questions(recording):
        if user.name.startswith("system:node:") and "system:nodes" in user.groups:
            decisions.setdefault((info.verb, info.resource), set()).add(
                bool(answer["allowed"])
            )
    return Partly(
        False in decisions.get(("get", "secrets"), set()),
        True in decisions.get(("list", "services"), set()),
    )


def pod(node: str) -> Object:
    """A pod on a node, with a secret."""
    volume = {"name": "v", "secret": {"secretName": "key"}}
    spec = {"nodeName": node, "containers": [], "volumes": [volume]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "till", "namespace": "shop", "uid": "p"},
        "spec": spec,
    }


WORKER = UserInfo("system:node:worker", ("system:nodes", "system:authenticated"))


@rebuilt("authz-node-limited-to-own-resources")
def ours_node_limits() -> Partly:
    """A secret of a pod that runs here, not one of a pod elsewhere; but any service."""
    here, elsewhere = (
        NodeAuthorizer(StaticReader([pod(node)])) for node in ("worker", "worker2")
    )
    secret = asked("get", "secrets", "key")
    confined = (
        here.authorize(WORKER, secret).allowed
        and not elsewhere.authorize(WORKER, secret).allowed
    )
    return Partly(confined, here.authorize(WORKER, asked("list", "services")).allowed)


@rebuilt("authz-node-authorizer-needs-cluster-state")
def needs_state() -> bool:
    """The same question before and after a pod moves."""
    reader = StaticReader([pod("worker")])
    node, secret = NodeAuthorizer(reader), asked("get", "secrets", "key")
    before = node.authorize(WORKER, secret).allowed
    reader.put(pod("worker2"))
    return before and not node.authorize(WORKER, secret).allowed
