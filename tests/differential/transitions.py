"""From what an object may be to what else it may be: each state after each other state, by a patch and as a whole.

`Fields` changes one field of a plain object, `Scenes` throws dice; what an update carries over, drops or forbids depends on what was
there before. The states are written by hand: they differ in what their kind's update looks at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.scenes import MERGE

Object = dict[str, Any]

CORE = "/api/v1/namespaces/{ns}"
JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"
TIME, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def _port(number: int = 80, **more: Any) -> Object:
    return {"name": f"p{number}", "port": number, "protocol": "TCP", "targetPort": number, **more}


SERVICES: Mapping[str, Object] = {
    "inside": {"type": "ClusterIP", "ports": [_port()]},
    "headless": {"type": "ClusterIP", "clusterIP": "None", "ports": [_port()]},
    "without-ports": {"type": "ClusterIP", "clusterIP": "None"},
    "external-ips": {"type": "ClusterIP", "externalIPs": ["192.0.2.7"], "externalTrafficPolicy": "Local", "ports": [_port()]},
    "node-port": {"type": "NodePort", "ports": [_port(nodePort=30080)]},
    "two-node-ports": {"type": "NodePort", "ports": [_port(), _port(81)], "externalTrafficPolicy": "Local"},
    "balancer": {"type": "LoadBalancer", "ports": [_port(nodePort=30081)], "loadBalancerClass": "example.com/a"},
    "local-balancer": {
        "type": "LoadBalancer",
        "ports": [_port()],
        "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 30082,
        "loadBalancerSourceRanges": ["192.0.2.0/24"],
    },
    "bare-balancer": {"type": "LoadBalancer", "ports": [_port()], "allocateLoadBalancerNodePorts": False},
    "bare-balancer-with-a-port": {"type": "LoadBalancer", "ports": [_port(nodePort=30083)], "allocateLoadBalancerNodePorts": False},
    "local-name": {"type": "ExternalName", "externalName": "example.com", "internalTrafficPolicy": "Local"},
    "local-inside": {"type": "ClusterIP", "internalTrafficPolicy": "Local", "sessionAffinity": "ClientIP", "ports": [_port()]},
    "name": {"type": "ExternalName", "externalName": "example.com"},
    "name-with-ports": {"type": "ExternalName", "externalName": "example.com", "ports": [_port()]},
}  # fmt: skip


HIDES_A_POLICY = "local-name"
"""What a name is told of traffic inside is stored, never shown, and comes to light when it becomes a Service with an address;
ours forgets it, so this one is only what others become."""


def services() -> Iterator[Case]:
    """Every kind of Service becomes every other: the type alone, the type without what belonged to the old one, the whole."""
    path = f"{CORE}/services"
    for before in sorted(SERVICES.keys() - {HIDES_A_POLICY}):
        steps: list[Step] = []
        for after in SERVICES:
            for body, method, kind in (
                ({"spec": {"type": SERVICES[after]["type"]}}, "PATCH", MERGE),
                (
                    {"spec": {"ports": None, "clusterIP": None, "externalTrafficPolicy": None, **SERVICES[after]}},
                    "PATCH",
                    MERGE,
                ),
                (
                    {"metadata": {"name": "s", "resourceVersion": "{rv}"}, "spec": SERVICES[after]},
                    "PUT",
                    "application/json",
                ),
            ):
                steps += [
                    Step("POST", path, {"metadata": {"name": "s"}, "spec": SERVICES[before]}),
                    Step(method, f"{path}/s", body, kind),
                    Step("DELETE", f"{path}/s"),
                ]
        yield Case(tuple(steps), name=f"service {before}")


def _condition(type_: str, status: str = "True", **more: Any) -> Object:
    return {"type": type_, "status": status, "lastTransitionTime": TIME, **more}


def _container(name: str, state: Object, **more: Any) -> Object:
    always = {"image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {"name": name, **always, "state": state, **more}


RUNNING = {"running": {"startedAt": TIME}}
ENDED = {"terminated": {"exitCode": 0, "startedAt": TIME, "finishedAt": LATER, "containerID": "a://1"}}
FAILED = {"terminated": {"exitCode": 1, "startedAt": TIME, "finishedAt": LATER, "containerID": "a://1"}}
WAITING = {"waiting": {"reason": "ContainerCreating"}}

POD_STATUSES: Mapping[str, Object] = {
    "nothing": {},
    "observed": {"observedGeneration": 1, "conditions": [_condition("Ready", observedGeneration=1)]},
    "observed-pod": {"observedGeneration": 1, "conditions": [_condition("Ready")]},
    "observed-conditions": {"conditions": [_condition("Ready", observedGeneration=1), _condition("x.io/A", observedGeneration=3)]},
    "conditions": {"conditions": [_condition("x.io/A", "False"), _condition("Ready", "False"), _condition("x.io/B")]},
    "twice": {"conditions": [_condition("Ready", observedGeneration=1), _condition("Ready", "False", observedGeneration=2)]},
    "negative": {"observedGeneration": -1, "conditions": [_condition("a b", observedGeneration=-2)]},
    "running": {"phase": "Running", "podIP": "10.1.2.3", "hostIP": "192.0.2.1", "startTime": TIME,
                "containerStatuses": [_container("c", RUNNING), _container("d", RUNNING)]},
    "waiting": {"phase": "Pending", "containerStatuses": [_container("c", WAITING), _container("d", RUNNING)]},
    "ended": {"phase": "Succeeded", "containerStatuses": [_container("c", ENDED), _container("d", ENDED)]},
    "failed": {"phase": "Failed", "containerStatuses": [_container("c", FAILED), _container("d", ENDED)],
               "initContainerStatuses": [_container("i", FAILED), _container("s", ENDED)]},
    "preparing": {"phase": "Pending", "initContainerStatuses": [_container("i", RUNNING), _container("s", RUNNING, started=True)]},
    "prepared": {"initContainerStatuses": [_container("i", ENDED), _container("s", RUNNING, started=True)]},
    "two-families": {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}],
                     "hostIP": "192.0.2.1", "hostIPs": [{"ip": "192.0.2.1"}, {"ip": "fd00::1"}]},
    "moved": {"podIP": "10.1.2.9"},
    "wrong-addresses": {"podIP": "10.1.2.4", "podIPs": [{"ip": "10.1.2.3"}, {"ip": "10.1.2.5"}], "hostIPs": [{"ip": "x"}]},
    "qos": {"qosClass": "BestEffort", "nominatedNodeName": "some-node", "reason": "R", "message": "m"},
    "other-qos": {"qosClass": "Guaranteed", "nominatedNodeName": "Some_Node"},
    "resizing": {"resize": "InProgress", "containerStatuses": [
        _container("c", RUNNING, allocatedResources={"cpu": "1"}, resources={"requests": {"cpu": "1"}},
                   user={"linux": {"uid": 0, "gid": 0, "supplementalGroups": [1, 1]}}), _container("d", RUNNING)]},
    "claims": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "x"}, {"name": "q"}],
               "extendedResourceClaimStatus": {"resourceClaimName": "y", "requestMappings": []}},
    "unknown-containers": {"containerStatuses": [_container("z", RUNNING), _container("c", {**RUNNING, **ENDED})],
                           "ephemeralContainerStatuses": [_container("e", ENDED)]},
}  # fmt: skip


def pod_statuses() -> Iterator[Case]:
    """What a kubelet may say after what it has said, for each restart policy: fields of it, or all of it."""
    path = f"{CORE}/pods"
    for policy in ("Always", "OnFailure", "Never"):
        spec = {
            "restartPolicy": policy,
            "containers": [{"name": name, "image": "i"} for name in "cd"],
            "initContainers": [{"name": "i", "image": "i"}, {"name": "s", "image": "i", "restartPolicy": "Always"}],
        }
        states = POD_STATUSES if policy == "Always" else ABOUT_ENDS
        for before in states:
            steps = [
                Step("POST", path, {"metadata": {"name": "p"}, "spec": spec}),
                Step("PATCH", f"{path}/p/status", {"status": POD_STATUSES[before]}, MERGE),
            ]
            for after in states:
                steps.append(Step("PATCH", f"{path}/p/status?dryRun=All", {"status": POD_STATUSES[after]}, MERGE))
                metadata = {"name": "p", "resourceVersion": "{rv}", "ownerReferences": [], "labels": {"a": "b"}}
                whole = {"metadata": metadata, "status": POD_STATUSES[after]}
                if policy == "Always":
                    steps.append(Step("PUT", f"{path}/p/status?dryRun=All", whole))
            yield Case(tuple(steps), name=f"pod status {policy} {before}")


ABOUT_ENDS = ("nothing", "running", "waiting", "ended", "failed", "preparing", "prepared")

JOB_STATUSES: Mapping[str, Object] = {
    "nothing": {},
    "active": {"startTime": TIME, "active": 2, "ready": 1, "terminating": 0},
    "uncounted": {"startTime": TIME, "active": 1, "uncountedTerminatedPods": {"succeeded": ["a", "b"], "failed": ["c"]}},
    "uncounted-twice": {"startTime": TIME, "uncountedTerminatedPods": {"succeeded": ["a", "a", ""], "failed": ["a"]}},
    "counted": {"startTime": TIME, "succeeded": 2, "failed": 1, "uncountedTerminatedPods": {}},
    "indexes": {"startTime": TIME, "succeeded": 2, "completedIndexes": "0,1", "failedIndexes": "2"},
    "bad-indexes": {"startTime": TIME, "completedIndexes": "1-x", "failedIndexes": "7,3"},
    "same-indexes": {"startTime": TIME, "succeeded": 2, "completedIndexes": "0,1", "failedIndexes": "1"},
    "failing": {"startTime": TIME, "conditions": [_condition("FailureTarget")]},
    "succeeding": {"startTime": TIME, "conditions": [_condition("SuccessCriteriaMet")]},
    "both-targets": {"startTime": TIME, "conditions": [_condition("SuccessCriteriaMet"), _condition("FailureTarget")]},
    "complete": {"startTime": TIME, "completionTime": LATER, "succeeded": 3,
                 "conditions": [_condition("SuccessCriteriaMet"), _condition("Complete")]},
    "complete-at-once": {"startTime": TIME, "completionTime": LATER, "conditions": [_condition("Complete")]},
    "complete-before-it-began": {"startTime": LATER, "completionTime": TIME,
                                 "conditions": [_condition("SuccessCriteriaMet"), _condition("Complete")]},
    "complete-and-active": {"startTime": TIME, "completionTime": LATER, "active": 1,
                            "conditions": [_condition("SuccessCriteriaMet"), _condition("Complete")]},
    "failed": {"startTime": TIME, "failed": 7, "conditions": [_condition("FailureTarget"), _condition("Failed")]},
    "failed-with-an-end": {"startTime": TIME, "completionTime": LATER, "conditions": [_condition("FailureTarget"), _condition("Failed")]},
    "both": {"startTime": TIME, "conditions": [_condition("Complete"), _condition("Failed")]},
    "suspended": {"conditions": [_condition("Suspended")]},
    "too-ready": {"startTime": TIME, "active": 1, "ready": 2, "terminating": -1, "succeeded": -1, "failed": -1},
    "other-start": {"startTime": LATER, "active": 1},
}  # fmt: skip
JOB_SPECS: Mapping[str, Object] = {
    "": {},
    " indexed": {"completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 1},
    " suspended": {"suspend": True},
}


def job_statuses() -> Iterator[Case]:
    """What the job controller may say after what it has said, of jobs of three kinds."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    for which, more in JOB_SPECS.items():
        for before in JOB_STATUSES:
            steps = [
                Step("POST", JOBS, {"metadata": {"name": "j"}, "spec": {"template": pod, **more}}),
                Step("PATCH", f"{JOBS}/j/status", {"status": JOB_STATUSES[before]}, MERGE),
            ]
            steps += [
                Step(
                    "PATCH",
                    f"{JOBS}/j/status?dryRun=All",
                    {"status": {"conditions": None, **JOB_STATUSES[after]}},
                    MERGE,
                )
                for after in JOB_STATUSES
            ]
            yield Case(tuple(steps), name=f"job status{which} {before}")


def cases() -> Iterator[Case]:
    """All of them."""
    yield from services()
    yield from pod_statuses()
    yield from job_statuses()
