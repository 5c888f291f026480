"""Claims about admission by the kubelet."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, rebuilt
from lifecycle.historical.kubelet.soft_admission import (
    can_run_pod,
    no_new_privs_handler,
)
from lifecycle.kubelet.lifecycle.admit_handlers import (
    default_handlers,
)
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitAttributes, can_admit_pod
from lifecycle.kubelet.lifecycle.predicate import predicate_handler

NODE: Object = {"metadata": {"name": "n", "labels": {}}, "spec": {}, "status": {}}


def attributes(container: Object | None = None, **spec: Any) -> PodAdmitAttributes:
    """A pod on an otherwise empty node of two CPUs."""
    pod = {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": {
            "containers": [{"name": "c", "image": "x", **(container or {})}],
            **spec,
        },
    }
    return PodAdmitAttributes(
        pod, (), NODE, {"cpu": "2", "memory": "1Gi", "pods": "110"}
    )


def reason(asked: PodAdmitAttributes, *, apparmor: bool = False) -> str:
    """What the row of handlers says."""
    return can_admit_pod(
        default_handlers(predicate_handler, apparmor=lambda: apparmor), asked
    ).reason


@rebuilt("kubelet-admit-handlers-check-pod")
def handlers_check_pod() -> Partly:
    """Some look at rights; most look at room and fit."""
    sysctl = attributes(
        securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
    )
    profile = attributes(
        securityContext={"appArmorProfile": {"type": "RuntimeDefault"}}
    )
    greedy = attributes({"resources": {"requests": {"cpu": "3"}}})
    elsewhere = attributes(nodeSelector={"disk": "ssd"})
    return Partly(
        (reason(sysctl), reason(profile), reason(attributes()))
        == ("SysctlForbidden", "AppArmor", ""),
        (reason(greedy), reason(elsewhere)) == ("OutOfcpu", "NodeAffinity"),
    )


@rebuilt("kubelet-admit-apparmor-handler")
def apparmor_handler() -> bool:
    """Refused where AppArmor is not enforced, let in where it is; a pod that asks for
    none is let in anywhere.
    """
    profile = attributes(
        {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}
    )
    return (reason(profile), reason(profile, apparmor=True), reason(attributes())) == (
        "AppArmor",
        "",
        "",
    )


@rebuilt("kubelet-admit-no-new-privs-handler", model=True)
def no_new_privs() -> bool:
    """The old handler: refuses with an old Docker what it lets in with a newer one."""
    asked = attributes({"securityContext": {"allowPrivilegeEscalation": False}})
    old, new = (
        can_run_pod([no_new_privs_handler("docker", version)], asked)
        for version in ((1, 22, 0), (1, 23, 0))
    )
    return old.reason == "NoNewPrivs" and new.admit


@rebuilt("kubelet-admit-denied-pod-stays-pending")
def denied_stays_pending() -> bool:
    """Pods refused for room and for AppArmor, a while later."""

    async def scene(node: OneNode) -> bool:
        greedy = await node.run_pod(
            "a", container={"resources": {"requests": {"cpu": "999"}}}, seconds=300
        )
        sysctl = await node.run_pod(
            "b", securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
        )
        phases = {pod["status"]["phase"] for pod in (greedy, sysctl)}
        assert phases <= {"Pending", "Failed"}, "both were denied"
        return "Pending" in phases

    return on_one_node(scene)
