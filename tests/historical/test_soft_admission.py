"""A handler that refused for now left the pod pending, its containers blocked."""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.historical.kubelet.soft_admission import (
    can_run_pod,
    no_new_privs_handler,
    no_new_privs_required,
    sync_pod_status,
)
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitAttributes

NODE: Object = {"metadata": {"name": "n1", "labels": {}}, "spec": {}, "status": {}}


def asking(*allowed: bool | None) -> PodAdmitAttributes:
    """A pod with a container for each `allowPrivilegeEscalation`; None: without the field."""
    containers = [
        {
            "name": f"c{i}",
            "image": "x",
            **({} if each is None else {"securityContext": {"allowPrivilegeEscalation": each}}),
        }
        for i, each in enumerate(allowed)
    ]
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": containers}}
    return PodAdmitAttributes(pod, (), NODE, {})


def test_the_old_soft_handler_left_a_pod_pending_and_blocked() -> None:
    attributes = asking(False, None)
    refused = can_run_pod([no_new_privs_handler("docker", (1, 22, 0))], attributes)
    assert refused.reason == "NoNewPrivs"
    assert refused.message == "Cannot enforce NoNewPrivs: docker API version 1.22.0 does not support NoNewPrivs"
    status = sync_pod_status(attributes.pod, refused)
    assert status["phase"] == "Pending"
    assert [each["state"] for each in status["containerStatuses"]] == [{"waiting": {"reason": "Blocked"}}] * 2


def test_a_newer_docker_or_another_runtime_is_trusted() -> None:
    for runtime, version in (("docker", (1, 23, 0)), ("remote", (1, 0, 0))):
        result = can_run_pod([no_new_privs_handler(runtime, version)], asking(False))
        assert result.admit
        assert sync_pod_status(asking(False).pod, result) == {"phase": "Pending"}


def test_only_who_forbids_escalation_needs_the_flag() -> None:
    assert [no_new_privs_required(asking(*each).pod) for each in ((None,), (True,), (True, False))] == [
        False,
        False,
        True,
    ]
    assert no_new_privs_handler("docker", (1, 0, 0))(asking(None, True)).admit
