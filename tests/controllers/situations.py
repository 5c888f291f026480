"""States in which a controller may find a cluster, each in a namespace of its own: objects with their status, nobody at work.

`record_situations.py` asks the real kube-controller-manager what it writes there first, `test_first_writes.py` ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.wire import Object

LONG_AGO = "2026-01-01T00:00:00Z"
READY = ({"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO},)
UNREADY = ({"type": "Ready", "status": "False", "lastTransitionTime": LONG_AGO},)
TRACKED = ("batch.kubernetes.io/job-tracking",)
Situations = dict[str, dict[str, list[Object]]]
"""Controller (as `--controllers` names it) → situation → objects."""


def thing(kind: str, name: str, *, status: Object | None = None, **fields: Any) -> Object:
    """`kind`: version and kind, or the latter alone. Metadata: `labels`, `annotations`, `finalizers`; `owner` (kind and name of an
    object before this one, its controller) and `owners` (so, and whether it blocks); `going`: it is deleted as soon as it is there."""
    version, _, short = kind.rpartition("/")
    meta: Object = {"name": name}
    meta |= {key: fields.pop(key) for key in ("labels", "annotations", "finalizers", "namespace") if key in fields}
    if "owner" in fields:
        kind_, of = fields.pop("owner").split("/")
        meta["ownerReferences"] = [{"kind": kind_, "name": of, "controller": True, "blockOwnerDeletion": True}]
    if "owners" in fields:
        each = [(text.rstrip("!").split("/"), text.endswith("!")) for text in fields.pop("owners")]
        meta["ownerReferences"] = [{"kind": k, "name": n, "blockOwnerDeletion": blocks} for (k, n), blocks in each]
    found = {"apiVersion": version or "v1", "kind": short, "metadata": meta, **fields}
    return {**found, "status": status} if status is not None else found


def spec(image: str = "one", **fields: Any) -> Object:
    """A pod's, of one container."""
    container: Object = {"name": "c", "image": image, "resources": {"requests": {"cpu": "10m"}}}
    if "ports" in fields:
        container["ports"] = fields.pop("ports")
    return {"containers": [container], "automountServiceAccountToken": False, **fields}


def template(image: str = "one", app: str = "web", **fields: Any) -> Object:
    return {"metadata": {"labels": {"app": app}}, "spec": spec(image, **fields)}


def workload(kind: str, name: str = "web", *, image: str = "one", pods: Object | None = None, **fields: Any) -> Object:
    """Of apps/v1, its pods labelled `app: web`. What is not of an object's metadata goes into `spec`."""
    top = {key: fields.pop(key) for key in ("status", "labels", "annotations", "owner") if key in fields}
    body = {"selector": {"matchLabels": {"app": "web"}}, "template": template(image, **(pods or {})), **fields}
    return thing(f"apps/v1/{kind}", name, spec=body, **top)


def replica_set(
    name: str, image: str, replicas: int, revision: int, available: int | None = None, **more: Any
) -> Object:
    """One of the Deployment `web`, which had so many of them ready."""
    ready = replicas if available is None else available
    hash_ = {"app": "web", "pod-template-hash": name}
    prefix = "deployment.kubernetes.io"
    notes = {f"{prefix}/revision": str(revision), f"{prefix}/desired-replicas": "4", f"{prefix}/max-replicas": "5"}
    pods = template(image)
    pods["metadata"]["labels"] = hash_
    counts = {"replicas": replicas, "readyReplicas": ready, "availableReplicas": ready, "observedGeneration": 1}
    return thing(
        "apps/v1/ReplicaSet", f"web-{name}", labels=hash_, annotations={**notes, **more.pop("annotations", {})},
        owner="Deployment/web", spec={"replicas": replicas, "selector": {"matchLabels": hash_}, "template": pods},
        status={**counts, **more},
    )  # fmt: skip


def pod(
    name: str,
    *,
    phase: str = "Running",
    node: str = "",
    conditions: Sequence[Object] = READY,
    ip: int = 0,
    **fields: Any,
) -> Object:
    """Labelled `app: web`; with an address if `ip` is not 0."""
    said: Object = {"phase": phase, "conditions": list(conditions), **fields.pop("status", {})}
    if ip:
        said |= {
            "podIP": f"10.9.0.{ip}",
            "podIPs": [{"ip": f"10.9.0.{ip}"}, {"ip": f"fd00::{ip}"}],
            "hostIP": "10.0.0.1",
        }
    body = spec(
        **{
            key: fields.pop(key)
            for key in ("ports", "hostname", "subdomain", "volumes", "restartPolicy")
            if key in fields
        }
    )
    body |= {key: fields.pop(key) for key in ("tolerations", "readinessGates") if key in fields}
    if node:
        body["nodeName"] = node
    return thing("Pod", name, labels=fields.pop("labels", {"app": "web"}), spec=body, status=said, **fields)


def ended(name: str, phase: str, *, index: int | None = None, code: int = 0, **fields: Any) -> Object:
    """A pod of the Job `web` that has ended (or not)."""
    state: Object = {"terminated": {"exitCode": code, "finishedAt": LONG_AGO, "startedAt": LONG_AGO}}
    image = {"image": "one", "imageID": "", "name": "c", "ready": False, "restartCount": 0}
    status = {"containerStatuses": [{**image, "state": state}]} if phase in ("Succeeded", "Failed") else {}
    notes = {} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)}
    return pod(
        name, phase=phase, owner="Job/web", finalizers=list(TRACKED), status=status, annotations=notes,
        labels={"app": "web", **notes}, restartPolicy="Never", **fields,
    )  # fmt: skip


def job(*, status: Object | None = None, **fields: Any) -> Object:
    pods = template(restartPolicy="Never")
    body = {"manualSelector": True, "selector": {"matchLabels": {"app": "web"}}, "template": pods, **fields}
    return thing("batch/v1/Job", "web", spec=body, status=status)


def claim(name: str, *, storage_class: str = "none", size: str = "1Gi", **fields: Any) -> Object:
    requests = {"requests": {"storage": size}}
    body = {"accessModes": ["ReadWriteOnce"], "resources": requests, "storageClassName": storage_class}
    return thing("PersistentVolumeClaim", name, spec={**body, **fields.pop("spec", {})}, **fields)


def volume(name: str, *, storage_class: str = "none", size: str = "1Gi", **fields: Any) -> Object:
    body = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    return thing(
        "PersistentVolume", name, spec={**body, "hostPath": {"path": "/tmp/x"}, **fields.pop("spec", {})}, **fields
    )


def service(name: str = "web", *ports: Object, **fields: Any) -> Object:
    top = {key: fields.pop(key) for key in ("labels", "annotations") if key in fields}
    body = {"selector": {"app": "web"}, "ports": list(ports) or [{"port": 80, "targetPort": 8080}], **fields}
    return thing("Service", name, spec=body, **top)


def budget(name: str = "web", **fields: Any) -> Object:
    return thing("policy/v1/PodDisruptionBudget", name, spec={"selector": {"matchLabels": {"app": "web"}}, **fields})


ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}

NODES = [
    thing("Node", "plain", status={"conditions": list(READY)}),
    thing("Node", "cordoned", spec={"unschedulable": True}, status={"conditions": list(READY)}),
    thing("Node", "tainted", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]}, status={"conditions": list(READY)}),
    thing("Node", "evicting", spec={"taints": [{"key": "k", "effect": "NoExecute"}]}, status={"conditions": list(READY)}),
    thing(
        "Node", "pressed", labels={"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "plan9"},
        status={"conditions": [*READY, {"type": "MemoryPressure", "status": "True"}]},
    ),
]  # fmt: skip
"""Everybody's."""

SITUATIONS: Situations = {
    "deployment-controller": {
        "new": [workload("Deployment", replicas=4, annotations={"mine": "yes"})],
        "paused-and-new": [workload("Deployment", replicas=4, paused=True)],
        "other-image": [
            workload("Deployment", replicas=4, image="two", strategy=ROLLING),
            replica_set("a", "one", 4, 1),
        ],
        "half-way": [
            workload("Deployment", replicas=4, image="two", strategy=ROLLING),
            replica_set("a", "one", 3, 1),
            replica_set("b", "two", 2, 2),
        ],
        "unhealthy-ones-first": [
            workload("Deployment", replicas=4, image="three", strategy=ROLLING),
            replica_set("a", "one", 3, 1),
            replica_set("b", "two", 1, 2, available=0),
            replica_set("c", "three", 1, 3, available=0),
        ],
        "grown-half-way": [
            workload("Deployment", replicas=10, image="two", strategy=ROLLING),
            replica_set("a", "one", 3, 1),
            replica_set("b", "two", 2, 2),
        ],
        "shrunk": [workload("Deployment", replicas=1), replica_set("a", "one", 4, 1)],
        "recreated": [
            workload("Deployment", replicas=4, image="two", strategy={"type": "Recreate"}),
            replica_set("a", "one", 4, 1),
        ],
        "back-to-the-first": [
            workload("Deployment", replicas=4, image="one"),
            replica_set("a", "one", 0, 1),
            replica_set("b", "two", 4, 2),
        ],
        "old-ones-too-many": [
            workload("Deployment", replicas=4, image="four", revisionHistoryLimit=1),
            *(replica_set(name, image, 0, number) for number, (name, image) in enumerate(zip("abc", ("one", "two", "three")), 1)),
            replica_set("d", "four", 4, 4, annotations={"deployment.kubernetes.io/max-replicas": "5"}),
        ],
        "nobody-s-and-somebody-else-s": [
            workload("Deployment", replicas=4),
            {**replica_set("a", "one", 4, 1), "metadata": {"name": "web-a", "labels": {"app": "web", "pod-template-hash": "a"}}},
        ],
        "rolled-back": [
            workload("Deployment", replicas=4, image="two", annotations={"deprecated.deployment.rollback.to": "1"}),
            replica_set("a", "one", 0, 1),
            replica_set("b", "two", 4, 2),
        ],
        "rolled-back-to-what-is-not-there": [
            workload("Deployment", replicas=4, annotations={"deprecated.deployment.rollback.to": "7"}),
            replica_set("a", "one", 4, 1),
        ],
    },
    "replicaset-controller": {
        "new": [workload("ReplicaSet", replicas=2)],
        "one-too-few": [
            workload("ReplicaSet", replicas=3),
            pod("ready", owner="ReplicaSet/web"),
            pod("unready", owner="ReplicaSet/web", conditions=UNREADY),
            pod("failed", owner="ReplicaSet/web", phase="Failed"),
        ],
        "too-many": [
            workload("ReplicaSet", replicas=2),
            pod("ready", owner="ReplicaSet/web", node="plain"),
            pod("costly", owner="ReplicaSet/web", node="plain",
                annotations={"controller.kubernetes.io/pod-deletion-cost": "9"}),
            pod("unready", owner="ReplicaSet/web", node="plain", conditions=UNREADY),
            pod("pending", owner="ReplicaSet/web", node="plain", phase="Pending", conditions=()),
        ],
        "adopts-and-lets-go": [
            workload("ReplicaSet", replicas=2),
            pod("nobody-s"),
            pod("not-any-more", owner="ReplicaSet/web", labels={"app": "other"}),
            pod("mine", owner="ReplicaSet/web", conditions=UNREADY),
        ],
        "waits-for-availability": [
            workload("ReplicaSet", replicas=1, minReadySeconds=600_000_000),
            pod("ready", owner="ReplicaSet/web"),
        ],
    },
    "replicationcontroller-controller": {
        "new": [thing("ReplicationController", "web", spec={"replicas": 1, "template": template()})],
        "none-wanted": [
            thing("ReplicationController", "web", spec={"replicas": 0, "template": template()}),
            pod("p", owner="ReplicationController/web"),
        ],
    },
    "daemonset-controller": {
        "new": [workload("DaemonSet")],
        "tolerant": [workload("DaemonSet", pods={"tolerations": [{"key": "k", "operator": "Exists"}], "hostNetwork": True})],
        "one-place": [workload("DaemonSet", pods={"nodeSelector": {"kubernetes.io/os": "linux"}})],
        "not-there-any-more": [
            workload("DaemonSet", pods={"nodeSelector": {"no": "such"}}),
            pod("p", owner="DaemonSet/web", node="plain"),
        ],
    },
    "statefulset-controller": {
        "new": [workload("StatefulSet", serviceName="db", replicas=3)],
        "all-at-once": [workload("StatefulSet", serviceName="db", replicas=2, podManagementPolicy="Parallel", ordinals={"start": 5})],
        "with-claims": [
            workload(
                "StatefulSet", serviceName="db", replicas=1,
                volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": claim("x")["spec"]}],
            )
        ],
        "shrunk": [
            workload("StatefulSet", serviceName="db", replicas=1),
            *(pod(f"web-{n}", owner="StatefulSet/web", node="plain", hostname=f"web-{n}", subdomain="db",
                  labels={"app": "web", "statefulset.kubernetes.io/pod-name": f"web-{n}",
                          "apps.kubernetes.io/pod-index": str(n)}) for n in range(3)),
        ],
        "one-has-failed": [
            workload("StatefulSet", serviceName="db", replicas=1),
            pod("web-0", owner="StatefulSet/web", phase="Failed", hostname="web-0", subdomain="db"),
        ],
    },
    "job-controller": {
        "new": [job(completions=3, parallelism=2)],
        "indexed": [job(completions=3, parallelism=2, completionMode="Indexed", backoffLimitPerIndex=1)],
        "suspended": [job(suspend=True)],
        "some-have-ended": [
            job(completions=3, parallelism=2),
            ended("a", "Succeeded"),
            ended("b", "Failed", code=1),
            ended("c", "Running"),
        ],
        "some-indexes-are-done": [
            job(completions=4, parallelism=2, completionMode="Indexed"),
            ended("a", "Succeeded", index=0),
            ended("b", "Succeeded", index=1),
            ended("c", "Running", index=3),
        ],
        "all-is-done": [job(completions=1), ended("a", "Succeeded")],
        "failed-too-often": [job(backoffLimit=0), ended("a", "Failed", code=1)],
        "a-rule-says-so": [
            job(podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]}),
            ended("a", "Failed", code=3),
        ],
        "it-does-not-count": [
            job(podFailurePolicy={"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}}]}),
            ended("a", "Failed", code=3),
        ],
        "late": [job(activeDeadlineSeconds=60, status={"startTime": LONG_AGO}), ended("a", "Running")],
        "one-is-enough": [
            job(completions=2, parallelism=2, completionMode="Indexed", successPolicy={"rules": [{"succeededCount": 1}]}),
            ended("a", "Succeeded", index=0),
            ended("b", "Running", index=1),
        ],
        "too-many": [job(completions=3, parallelism=1), ended("a", "Running"), ended("b", "Running", conditions=UNREADY)],
    },
    "cronjob-controller": {
        "due-long-ago": [
            thing("batch/v1/CronJob", "tick", spec={"schedule": "0 0 29 2 *", "jobTemplate": {
                "metadata": {"labels": {"l": "m"}, "annotations": {"a": "b"}}, "spec": {"template": template(restartPolicy="Never")}}},
                status={"lastScheduleTime": "2023-01-01T00:00:00Z"}),
        ],
        "what-was-running-is-gone": [
            thing("batch/v1/CronJob", "tick", spec={"schedule": "0 0 29 2 *", "suspend": True, "jobTemplate": {
                "spec": {"template": template(restartPolicy="Never")}}},
                status={"active": [{"kind": "Job", "name": "gone", "namespace": "any", "uid": "gone"}]}),
        ],
    },
    "endpointslice-controller": {
        "ready-and-not": [
            service("web", {"name": "http", "port": 80, "targetPort": "http"}, {"name": "dns", "port": 53, "protocol": "UDP"},
                    labels={"team": "blue"}),
            pod("a", ip=1, node="plain", ports=[{"name": "http", "containerPort": 8080}]),
            pod("b", ip=2, node="plain", conditions=UNREADY, ports=[{"name": "http", "containerPort": 8080}]),
            pod("c", ip=3, phase="Succeeded"),
            pod("d"),
        ],
        "headless": [
            service("web", clusterIP="None", publishNotReadyAddresses=True),
            pod("a", ip=1, node="plain", conditions=UNREADY, hostname="h", subdomain="web"),
        ],
        "nobody": [service("web")],
    },
    "endpoints-controller": {
        "ready-and-not": [
            service("web", {"name": "http", "port": 80, "targetPort": "http"}, {"name": "dns", "port": 53, "protocol": "UDP"},
                    labels={"team": "blue"}),
            pod("a", ip=1, node="plain", ports=[{"name": "http", "containerPort": 8080}]),
            pod("b", ip=2, node="plain", conditions=UNREADY, ports=[{"name": "http", "containerPort": 8080}]),
            pod("c", ip=3, phase="Succeeded"),
        ],
        "headless": [
            service("web", clusterIP="None", publishNotReadyAddresses=True),
            pod("a", ip=1, node="plain", conditions=UNREADY, hostname="h", subdomain="web"),
        ],
        "nobody": [service("web")],
    },
    "endpointslice-mirroring-controller": {
        "by-hand": [
            thing("Service", "web", spec={"ports": [{"port": 80}]}),
            thing("Endpoints", "web", labels={"team": "blue"}, annotations={"mine": "yes"}, subsets=[
                {"addresses": [{"ip": "192.0.2.1", "hostname": "h", "nodeName": "n"}, {"ip": "2001:db8::1"}],
                 "notReadyAddresses": [{"ip": "192.0.2.2", "targetRef": {"kind": "Pod", "name": "p", "namespace": "ns"}}],
                 "ports": [{"name": "sql", "port": 5432, "appProtocol": "pg"}]}]),
        ],
        "of-a-selector": [service("web"), thing("Endpoints", "web", subsets=[])],
    },
    "disruption-controller": {
        "half": [
            workload("ReplicaSet", replicas=4),
            *(pod(f"p{n}", owner="ReplicaSet/web") for n in range(3)),
            pod("q", owner="ReplicaSet/web", conditions=UNREADY),
            budget(minAvailable="50%"),
        ],
        "one-may-go": [
            workload("ReplicaSet", replicas=2),
            *(pod(f"p{n}", owner="ReplicaSet/web") for n in range(2)),
            budget(maxUnavailable=1),
        ],
        "a-number": [*(pod(f"p{n}") for n in range(3)), budget(minAvailable=2)],
        "nobody": [budget(minAvailable=1)],
        "of-nobody": [pod("p"), budget(maxUnavailable="50%")],
    },
    "resourcequota-controller": {
        "counted": [
            pod("a"),
            pod("b", phase="Succeeded"),
            service("web", type="NodePort"),
            claim("c", size="3Gi"),
            thing("ConfigMap", "m"),
            thing("ResourceQuota", "q", spec={"hard": {
                "pods": "5", "requests.cpu": "1", "services": "5", "services.nodeports": "2", "persistentvolumeclaims": "2",
                "requests.storage": "10Gi", "count/configmaps": "9", "count/deployments.apps": "1"}}),
        ],
    },
    "serviceaccount-controller": {"missing": []},
    "ephemeral-volume-controller": {
        "wanted": [
            pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {
                "metadata": {"labels": {"l": "m"}, "annotations": {"a": "b"}}, "spec": claim("x")["spec"]}}}]),
        ],
        "taken": [
            claim("p-v"),
            pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}]),
        ],
    },
    "persistentvolumeclaim-protection-controller": {
        "new": [claim("c")],
        "used": [claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True),
                 pod("p", node="plain", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])],
        "unused": [claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True)],
    },
    "persistentvolume-protection-controller": {
        "new": [volume("protected-new")],
        "unused": [volume("protected-unused", finalizers=["kubernetes.io/pv-protection"], going=True)],
    },
    "persistentvolume-binder-controller": {
        "fits": [volume("fits", storage_class="fits", status={"phase": "Available"}), claim("c", storage_class="fits")],
        "too-small": [volume("small", storage_class="small"), claim("c", storage_class="small", size="9Gi")],
        "no-class": [claim("c", storage_class="nowhere")],
        "asked-for-by-name": [
            volume("named", storage_class="", status={"phase": "Available"}),
            claim("c", storage_class="", spec={"volumeName": "named"}),
        ],
        "no-longer-claimed": [
            volume("lost", spec={"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "any", "name": "x", "uid": "gone"},
                                 "persistentVolumeReclaimPolicy": "Retain"}, status={"phase": "Bound"}),
        ],
    },
    "ttl-after-finished-controller": {
        "over": [
            job(ttlSecondsAfterFinished=0, status={
                "startTime": LONG_AGO, "completionTime": LONG_AGO, "succeeded": 1, "conditions": [
                    {"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO},
                    {"type": "Complete", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}]}),
        ],
        "running": [job(ttlSecondsAfterFinished=0)],
    },
    "taint-eviction-controller": {
        "who-does-not-tolerate": [
            pod("goes", node="evicting"),
            pod("stays", node="evicting", tolerations=[{"key": "k", "operator": "Exists"}]),
            pod("elsewhere", node="plain"),
        ],
    },
    "garbage-collector-controller": {
        "lost-owners": [
            thing("ConfigMap", "boss"),
            thing("ConfigMap", "mine", owners=["ConfigMap/boss"]),
            thing("ConfigMap", "shared", owners=["ConfigMap/boss", "ConfigMap/gone"]),
            thing("ConfigMap", "lost", owners=["ConfigMap/gone"]),
        ],
        "foreground": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "blocks", owners=["ConfigMap/boss!"]),
        ],
        "orphans": [
            thing("ConfigMap", "boss", finalizers=["orphan"], going=True),
            thing("ConfigMap", "child", owners=["ConfigMap/boss!"]),
        ],
        "two-bosses": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "other"),
            thing("ConfigMap", "child", owners=["ConfigMap/boss!", "ConfigMap/other"]),
        ],
    },
    "clusterrole-aggregation-controller": {
        "aggregated": [
            thing("rbac.authorization.k8s.io/v1/ClusterRole", "part-b", labels={"into": "whole"},
                  rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
            thing("rbac.authorization.k8s.io/v1/ClusterRole", "part-a", labels={"into": "whole"},
                  rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
                         {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
            thing("rbac.authorization.k8s.io/v1/ClusterRole", "whole",
                  aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"into": "whole"}}]}),
        ],
    },
    "pod-garbage-collector-controller": {
        "never-came": [pod("p", finalizers=["example.com/held"], phase="Pending", conditions=(), going=True)],
    },
    "ttl-controller": {"few-nodes": []},
    "horizontal-pod-autoscaler-controller": {
        "no-metrics": [
            workload("Deployment", replicas=2, status={"replicas": 2}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4,
                "metrics": [{"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}),
        ],
        "too-many": [
            workload("Deployment", replicas=9, status={"replicas": 9}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4}),
        ],
    },
}  # fmt: skip
