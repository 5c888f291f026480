"""Admission: who is refused, for what reason, in which words."""

# ruff: noqa: E501 - messages in full, one case a line

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.lifecycle.admit_handlers import SysctlAllowlist, default_handlers
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitAttributes, can_admit_pod
from lifecycle.kubelet.lifecycle.predicate import predicate_handler

NODE: Object = {"metadata": {"name": "n1", "labels": {"disk": "ssd"}}, "spec": {}, "status": {}}
ALLOCATABLE = {"cpu": "2", "memory": "1Gi", "pods": "3"}


def pod(requests: dict[str, str] | None = None, container: Object | None = None, **spec: Any) -> Object:
    made = {"name": "c", "image": "x", "resources": {"requests": requests or {}}, **(container or {})}
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"nodeName": "n1", "containers": [made], **spec},
    }


def ask(which: Object, others: tuple[Object, ...] = (), node: Object = NODE, **more: Any) -> tuple[str, str]:
    more.setdefault("apparmor", lambda: False)
    handlers = default_handlers(predicate_handler, **more)
    result = can_admit_pod(handlers, PodAdmitAttributes(which, others, node, ALLOCATABLE))
    return result.reason, result.message


def host_port(**more: Any) -> Object:
    return {"ports": [{"containerPort": 1, "hostPort": 80, **more}]}


HOST_PORT = host_port()


@pytest.mark.parametrize(
    ("which", "others", "reason", "message"),
    [
        (pod({"cpu": "2"}), (), "", ""),
        (pod({"cpu": "2"}), (pod({"cpu": "1m"}),), "OutOfcpu", "Node didn't have enough resource: cpu, requested: 2000, used: 1, capacity: 2000"),
        (pod({"memory": "2Gi"}), (), "OutOfmemory", "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824"),
        (pod(), (pod(), pod(), pod()), "OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"),
        (pod({"example.com/gpu": "1"}), (), "", ""),
        (pod(nodeSelector={"disk": "hdd"}), (), "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
        (pod(container=HOST_PORT), (pod(container=HOST_PORT),), "NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"),
        (pod(container=host_port(hostIP="127.0.0.1")), (pod(container=host_port(hostIP="172.19.0.2")),), "", ""),
        (pod(container=host_port(protocol="UDP")), (pod(container=HOST_PORT),), "", ""),
        (pod(container=host_port(hostIP="127.0.0.1")), (pod(container=HOST_PORT),), "NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"),
        (pod(os={"name": "windows"}), (), "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"),
        (pod(securityContext={"supplementalGroupsPolicy": "Strict"}), (), "SupplementalGroupsPolicyNotSupported", "SupplementalGroupsPolicy=Strict is not supported in this node"),
        (pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}), (), "SysctlForbidden", 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
        (pod(securityContext={"sysctls": [{"name": "net/ipv4/tcp_rmem", "value": "1"}]}), (), "", ""),
        (pod(hostNetwork=True, securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "1"}]}), (), "SysctlForbidden", 'forbidden sysctl: "net.ipv4.tcp_rmem" not allowed with host Net enabled'),
        (pod(securityContext={"appArmorProfile": {"type": "RuntimeDefault"}}), (), "AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host"),
        (pod(securityContext={"appArmorProfile": {"type": "Unconfined"}}), (), "", ""),
    ],
)  # fmt: skip
def test_the_reasons_and_the_words(which: Object, others: tuple[Object, ...], reason: str, message: str) -> None:
    assert ask(which, others) == (reason, message)


def test_a_pod_that_names_another_node_or_asks_for_another_system_by_label_is_refused() -> None:
    assert ask(pod(nodeName="n2")) == (
        "NodeName",
        "Predicate NodeName failed: node(s) didn't match the requested node name",
    )
    assert ask(pod(nodeName="")) == ("", "")
    for system, refused in (("windows", True), ("linux", False)):
        labelled = pod()
        labelled["metadata"]["labels"] = {"kubernetes.io/os": system}
        words = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
        assert ask(labelled) == (("PodOSSelectorNodeLabelDoesNotMatch", words) if refused else ("", ""))


ANNOUNCED: Object = {**NODE, "status": {"allocatable": {**ALLOCATABLE, "example.com/gpu": "2"}}}


def test_what_somebody_announced_on_the_node_is_counted() -> None:
    one, two = pod({"example.com/gpu": "1"}), pod({"example.com/gpu": "2"})
    assert ask(two, node=ANNOUNCED) == ("", "")
    assert ask(two, (one,), node=ANNOUNCED) == (
        "OutOfexample.com/gpu",
        "Node didn't have enough resource: example.com/gpu, requested: 2, used: 1, capacity: 2",
    )
    gone = {**NODE, "status": {"allocatable": {**ALLOCATABLE, "example.com/gpu": "0"}}}
    assert ask(one, node=gone)[0] == "OutOfexample.com/gpu"


def test_what_the_node_knows_nothing_of_is_dropped_unless_it_is_kubernetes_own() -> None:
    assert ask(pod({"example.com/tpu": "9"}), node=ANNOUNCED) == ("", "")
    init = [{"name": "i", "image": "x", "resources": {"requests": {"example.com/tpu": "9"}}}]
    assert ask(pod(initContainers=init), node=ANNOUNCED) == ("", "")
    assert ask(pod({"hugepages-2Mi": "2Mi"}), node=ANNOUNCED)[0] == "OutOfhugepages-2Mi"
    assert ask(pod({"sub.kubernetes.io/x": "1"}), node=ANNOUNCED)[0] == "OutOfsub.kubernetes.io/x"


def test_what_a_claim_was_made_for_is_not_counted_twice() -> None:
    asks = pod({"example.com/gpu": "3"})
    mapping = {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"}
    backed = {**asks, "status": {"extendedResourceClaimStatus": {"requestMappings": [mapping]}}}
    assert ask(backed, node=ANNOUNCED) == ("", "")
    mapping["containerName"] = "another"
    assert ask(backed, node=ANNOUNCED)[0] == "OutOfexample.com/gpu"


def test_what_a_shrinking_pod_still_has_is_not_free() -> None:
    shrinking = pod({"cpu": "500m"})
    status = {"name": "c", "resources": {"requests": {"cpu": "1500m"}}, "allocatedResources": {"cpu": "500m"}}
    assert ask(pod({"cpu": "1"}), (shrinking,)) == ("", "")
    reason, message = ask(pod({"cpu": "1"}), ({**shrinking, "status": {"containerStatuses": [status]}},))
    assert (reason, message.partition("cpu, ")[2]) == ("OutOfcpu", "requested: 1000, used: 1500, capacity: 2000")


def test_a_pod_that_does_not_tolerate_no_execute_is_refused_unless_it_is_static() -> None:
    tainted = {**NODE, "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}
    assert ask(pod(), node=tainted) == (
        "TaintToleration",
        "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    )
    fine = {**NODE, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    assert ask(pod(), node=fine)[0] == ""
    static = pod()
    static["metadata"]["annotations"] = {"kubernetes.io/config.source": "file"}
    assert ask(static, node=tainted)[0] == ""


def test_under_memory_pressure_only_pods_that_asked_for_nothing_are_refused() -> None:
    def pressure(*conditions: str) -> Any:
        return lambda: list(conditions)

    assert ask(pod(), node_conditions=pressure("MemoryPressure")) == (
        "Evicted",
        "The node had condition: [MemoryPressure]. ",
    )
    assert ask(pod({"memory": "1Mi"}), node_conditions=pressure("MemoryPressure"))[0] == ""
    assert ask(pod({"memory": "1Mi"}), node_conditions=pressure("DiskPressure"))[0] == "Evicted"
    assert ask(pod(priority=2_000_001_000), node_conditions=pressure("DiskPressure"))[0] == ""
    tolerant = pod(tolerations=[{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}])
    assert ask(tolerant, node_conditions=pressure("MemoryPressure"))[0] == ""


def test_exclusive_cpus_that_are_not_there_and_a_node_that_goes_down() -> None:
    def allocate(which: Object) -> tuple[str, str]:
        return "UnexpectedAdmissionError", "Allocate failed due to not enough cpus, which is unexpected"

    too_large = pod({"cpu": "900"})
    assert ask(too_large, allocate=allocate) == allocate(too_large), "CPUs are set aside before room is looked for"
    assert ask(too_large, allocate=lambda which: ("", ""))[0] == "OutOfcpu"
    assert ask(pod(), shutting_down=lambda: True) == ("NodeShutdown", "Pod was rejected as the node is shutting down.")
    assert ask(pod(), shutting_down=lambda: False) == ("", "")


def test_administrators_may_allow_more_sysctls_but_only_of_namespaces() -> None:
    allowed = SysctlAllowlist(["kernel.msg*"])
    assert allowed.validate_sysctl("kernel.msgmax", False, False) == ""
    assert allowed.validate_sysctl("kernel.msgmax", False, True) == '"kernel.msgmax" not allowed with host IPC enabled'
    with pytest.raises(ValueError, match=r'the sysctl "vm\.swappiness" are not known to be namespaced$'):
        SysctlAllowlist(["vm.swappiness"])


def test_for_a_pod_that_asks_for_nothing_the_others_are_only_numbered() -> None:
    class Pods(tuple[Object, ...]):
        def __iter__(self) -> Iterator[Object]:
            raise AssertionError("every pod of the node is looked at")

    others = Pods([pod(), pod()])
    assert ask(pod(), others) == ("", "")
    for nosy in (pod({"cpu": "1"}), pod(container=HOST_PORT)):
        with pytest.raises(AssertionError, match=r"every pod of the node is looked at$"):
            ask(nosy, others)
