"""States in which a controller may find a cluster, each in a namespace of its own: objects with their status, nobody at work.

`record_situations.py` asks the real kube-controller-manager what it writes there first, `test_first_writes.py` ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.http.wire import Object

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


def ended(
    name: str,
    phase: str,
    *,
    index: int | None = None,
    code: int = 0,
    counted: int | None = None,
    of: str = "Job/web",
    **fields: Any,
) -> Object:
    """A pod of the Job `web` that has ended (or not). `counted`: how often its index had failed before."""
    state: Object = {"terminated": {"exitCode": code, "finishedAt": LONG_AGO, "startedAt": LONG_AGO}}
    image = {"image": "one", "imageID": "", "name": "c", "ready": False, "restartCount": 0}
    status = {"containerStatuses": [{**image, "state": state}]} if phase in ("Succeeded", "Failed") else {}
    notes = {} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)}
    more = {} if counted is None else {"batch.kubernetes.io/job-index-failure-count": str(counted)}
    return pod(
        name, phase=phase, owner=of, finalizers=list(TRACKED), status=status, annotations=notes | more,
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


def volume(
    name: str, *, storage_class: str = "none", size: str = "1Gi", source: Object | None = None, **fields: Any
) -> Object:
    body = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    where = source or {"hostPath": {"path": "/tmp/x"}}
    return thing("PersistentVolume", name, spec={**body, **where, **fields.pop("spec", {})}, **fields)


def stateful(number: int, revision: str = "", **fields: Any) -> Object:
    """A pod of the StatefulSet `web`, with its claim if it has one (`volumes`)."""
    name = f"web-{number}"
    labels = {"app": "web", "statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(number)}
    if revision:
        labels["controller-revision-hash"] = revision
    return pod(
        name, owner="StatefulSet/web", hostname=name, subdomain="db", labels=labels, **{"node": "plain", **fields}
    )


def with_claims(replicas: int = 1, *, labels: Object | None = None, **fields: Any) -> Object:
    """A StatefulSet whose pods have a claim each, `data-web-N`."""
    claims = [{"metadata": {"name": "data", "labels": labels or {}}, "spec": claim("x")["spec"]}]
    body: Object = {"volumeClaimTemplates": claims, "updateStrategy": {"type": "OnDelete"}, **fields}
    return workload("StatefulSet", serviceName="db", replicas=replicas, **body)


def data(number: int) -> list[Object]:
    """The volumes of such a pod."""
    return [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-web-{number}"}}]


def revision(name: str, number: int, image: str, of: str) -> Object:
    """What the controller of `of` remembers of a template."""
    pods = {**template(image), "$patch": "replace"}
    given = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    pods["spec"]["containers"][0] |= given | {"imagePullPolicy": "Always"}
    pods["spec"] |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"}
    pods["spec"] |= {"terminationGracePeriodSeconds": 30}
    labels = {"app": "web", "controller-revision-hash": name}
    return thing(
        "apps/v1/ControllerRevision", name, labels=labels, owner=of, revision=number, data={"spec": {"template": pods}}
    )


def bound(name: str, to: str, **fields: Any) -> Object:
    """A claim that was bound to a volume."""
    notes = {"pv.kubernetes.io/bind-completed": "yes", **fields.pop("annotations", {})}
    return claim(name, spec={"volumeName": to}, annotations=notes, **fields)


def claimed(name: str, by: str, namespace: str, uid: str = "", **fields: Any) -> Object:
    """A volume that a claim has, or is to have."""
    reference = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": by, "uid": uid}
    more = {"persistentVolumeReclaimPolicy": "Retain", **fields.pop("spec", {})}
    return volume(name, spec={"claimRef": reference, **more}, **fields)


def scheduled_job(name: str, *, kind: str = "", of: str = "CronJob/tick", **status: Any) -> Object:
    """A Job of the CronJob `tick`, which is over if a condition (`kind`) is given."""
    stamps = {"lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}
    if kind:
        before = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
        status["conditions"] = [{"type": each, "status": "True", **stamps} for each in (before, kind)]
    found = job(status=status or None)
    found["metadata"] = {**found["metadata"], "name": name}
    if of:
        above, who = of.split("/")
        found["metadata"]["ownerReferences"] = [
            {"kind": above, "name": who, "controller": True, "blockOwnerDeletion": True}
        ]
    return found


def cron_job(*, status: Object | None = None, **fields: Any) -> Object:
    """Due on the 29th of February only."""
    body = {
        "schedule": "0 0 29 2 *",
        "jobTemplate": {"metadata": {"labels": {"l": "m"}}, "spec": {"template": template(restartPolicy="Never")}},
        **fields,
    }
    return thing("batch/v1/CronJob", "tick", spec=body, status=status)


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

BINDER, EXPANDER = "persistentvolume-binder", "persistentvolume-expander"
"""How the namespaces of their situations begin."""

SITUATIONS: Situations = {
    "deployment-controller": {
        "spread-over-three": [
            workload("Deployment", replicas=7, image="three", strategy=ROLLING),
            replica_set("a", "one", 2, 1),
            replica_set("b", "two", 1, 2),
            replica_set("c", "three", 1, 3),
        ],
        "grown-and-nothing-is-ready": [
            workload("Deployment", replicas=9, image="two", strategy=ROLLING),
            replica_set("a", "one", 3, 1, available=0),
            replica_set("b", "two", 2, 2, available=0),
        ],
        "by-percent": [
            workload("Deployment", replicas=4, image="two", strategy={
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "30%", "maxUnavailable": "30%"}}),
            replica_set("a", "one", 4, 1),
        ],
        "recreated-while-pods-end": [
            workload("Deployment", replicas=2, image="two", strategy={"type": "Recreate"}),
            replica_set("a", "one", 0, 1),
            pod("a-1", owner="ReplicaSet/web-a", labels={"app": "web", "pod-template-hash": "a"}, finalizers=["example.com/held"],
                going=True),
        ],
        "recreated-when-pods-have-failed": [
            workload("Deployment", replicas=2, image="two", strategy={"type": "Recreate"}),
            replica_set("a", "one", 0, 1),
            pod("a-1", phase="Failed", owner="ReplicaSet/web-a", labels={"app": "web", "pod-template-hash": "a"}),
        ],
        "stuck": [
            workload("Deployment", replicas=4, image="two", strategy=ROLLING, progressDeadlineSeconds=60, status={
                "observedGeneration": 1, "replicas": 5, "updatedReplicas": 2, "readyReplicas": 3, "availableReplicas": 3,
                "unavailableReplicas": 2, "conditions": [
                    {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "m",
                     "lastUpdateTime": LONG_AGO, "lastTransitionTime": LONG_AGO}]}),
            replica_set("a", "one", 3, 1),
            replica_set("b", "two", 2, 2, available=0),
        ],
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
        "rolled-back-with-notes": [
            workload("Deployment", replicas=4, image="two", annotations={"deprecated.deployment.rollback.to": "1", "later": "yes",
                     "kubectl.kubernetes.io/last-applied-configuration": "{}"}),
            replica_set("a", "one", 0, 1, annotations={"then": "yes"}),
            replica_set("b", "two", 4, 2),
        ],
        "longer-ready": [workload("Deployment", replicas=4, minReadySeconds=60), replica_set("a", "one", 4, 1)],
        "late-and-paused": [
            workload("Deployment", replicas=4, paused=True, status={"observedGeneration": 1, "conditions": [
                {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late",
                 "lastUpdateTime": LONG_AGO, "lastTransitionTime": LONG_AGO}]}),
            replica_set("a", "one", 4, 1),
        ],
        "resumed": [
            workload("Deployment", replicas=4, status={"observedGeneration": 1, "conditions": [
                {"type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused", "message": "Deployment is paused",
                 "lastUpdateTime": LONG_AGO, "lastTransitionTime": LONG_AGO}]}),
            replica_set("a", "one", 4, 1),
        ],
        "recreated-and-not-yet-gone": [
            workload("Deployment", replicas=4, image="two", strategy={"type": "Recreate"}),
            {**replica_set("a", "one", 0, 1), "status": {"replicas": 2, "observedGeneration": 1}},
        ],
    },
    "replicaset-controller": {
        "too-many-of-all-kinds": [
            workload("ReplicaSet", replicas=1),
            pod("ready-on-plain", owner="ReplicaSet/web", node="plain"),
            pod("ready-on-plain-too", owner="ReplicaSet/web", node="plain"),
            pod("ready-elsewhere", owner="ReplicaSet/web", node="pressed"),
            pod("nowhere", owner="ReplicaSet/web", phase="Pending", conditions=()),
            pod("cheap", owner="ReplicaSet/web", node="cordoned",
                annotations={"controller.kubernetes.io/pod-deletion-cost": "-1"}),
        ],
        "on-its-way": [
            workload("ReplicaSet", replicas=2), pod("going", owner="ReplicaSet/web", finalizers=["example.com/held"], going=True),
        ],
        "of-another-that-has-the-label": [
            workload("ReplicaSet", replicas=1),
            workload("ReplicaSet", "other", replicas=0),
            pod("theirs", owner="ReplicaSet/other"),
        ],
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
        "one-has-failed-and-one-is-nobody-s": [
            thing("ReplicationController", "web", spec={"replicas": 3, "selector": {"app": "web"}, "template": template()}),
            pod("p", owner="ReplicationController/web", phase="Failed"),
            pod("q"),
        ],
        "new": [thing("ReplicationController", "web", spec={"replicas": 1, "template": template()})],
        "none-wanted": [
            thing("ReplicationController", "web", spec={"replicas": 0, "template": template()}),
            pod("p", owner="ReplicationController/web"),
        ],
    },
    "daemonset-controller": {
        "new-ones-beside-old-ones": [
            workload("DaemonSet", image="two", updateStrategy={
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 5, "maxUnavailable": 0}},
                pods={"tolerations": [{"operator": "Exists"}]}),
            revision("old", 1, "one", "DaemonSet/web"),
            *(pod(f"on-{node}", owner="DaemonSet/web", node=node, labels={"app": "web", "controller-revision-hash": "old"},
                  conditions=UNREADY if node == "pressed" else READY)
              for node in ("plain", "cordoned", "tainted", "pressed", "evicting")),
        ],
        "in-place-of-those-that-end": [
            workload("DaemonSet", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                     pods={"nodeSelector": {"kubernetes.io/os": "linux"}, "tolerations": [{"operator": "Exists"}]}),
            pod("going", owner="DaemonSet/web", node="pressed", finalizers=["example.com/held"], going=True),
        ],
        "unhealthy-old-ones-first": [
            workload("DaemonSet", image="two", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
                     pods={"tolerations": [{"operator": "Exists"}]}),
            revision("old", 1, "one", "DaemonSet/web"),
            *(pod(f"on-{node}", owner="DaemonSet/web", node=node, labels={"app": "web", "controller-revision-hash": "old"},
                  conditions=UNREADY if node in ("plain", "pressed") else READY)
              for node in ("plain", "tainted", "cordoned", "pressed", "evicting")),
        ],
        "it-is-evicted": [
            workload("DaemonSet", updateStrategy={"type": "OnDelete"}), pod("on-evicting", owner="DaemonSet/web", node="evicting"),
            pod("on-tainted", owner="DaemonSet/web", node="tainted"), pod("nobody-s", node="plain"),
        ],
        "new": [workload("DaemonSet")],
        "tolerant": [workload("DaemonSet", pods={"tolerations": [{"key": "k", "operator": "Exists"}], "hostNetwork": True})],
        "one-place": [workload("DaemonSet", pods={"nodeSelector": {"kubernetes.io/os": "linux"}})],
        "not-there-any-more": [
            workload("DaemonSet", pods={"nodeSelector": {"no": "such"}}),
            pod("p", owner="DaemonSet/web", node="plain"),
        ],
        "several-and-failed": [
            workload("DaemonSet", updateStrategy={"type": "OnDelete"}, pods={"nodeSelector": {"kubernetes.io/os": "linux"}}),
            pod("b", owner="DaemonSet/web", node="pressed"),
            pod("a", owner="DaemonSet/web", node="pressed"),
            pod("c", owner="DaemonSet/web", node="pressed", phase="Failed"),
            pod("d", owner="DaemonSet/web", node="pressed", phase="Succeeded"),
            pod("lost", owner="DaemonSet/web", node="gone"),
        ],
        "old-ones-where-no-node-is": [
            workload("DaemonSet", pods={"nodeSelector": {"no": "such"}}), pod("lost", owner="DaemonSet/web", node="gone"),
        ],
        "old-ones-too-many": [
            workload("DaemonSet", revisionHistoryLimit=1, pods={"nodeSelector": {"no": "such"}}),
            *(revision(name, number, name, "DaemonSet/web") for number, name in enumerate("abc", 1)),
        ],
    },
    "statefulset-controller": {
        "up-to-a-partition": [
            workload("StatefulSet", serviceName="db", replicas=4, image="two", status={
                "replicas": 4, "readyReplicas": 4, "currentReplicas": 4, "currentRevision": "old", "updateRevision": "old",
                "observedGeneration": 1, "collisionCount": 0},
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}),
            revision("old", 1, "one", "StatefulSet/web"),
            *(stateful(n, "old") for n in range(4)),
        ],
        "ready-for-a-while": [
            workload("StatefulSet", serviceName="db", replicas=3, minReadySeconds=600_000_000), stateful(0), stateful(1),
        ],
        "all-go-at-once": [
            workload("StatefulSet", serviceName="db", replicas=1, podManagementPolicy="Parallel", updateStrategy={"type": "OnDelete"}),
            *(stateful(n, conditions=UNREADY if n == 1 else READY) for n in range(4)),
        ],
        "numbers-begin-later": [
            workload("StatefulSet", serviceName="db", replicas=2, ordinals={"start": 2}), *(stateful(n) for n in range(3)),
        ],
        "one-is-pending": [
            workload("StatefulSet", serviceName="db", replicas=3), stateful(0, phase="Pending", conditions=()),
        ],
        "one-is-going": [
            workload("StatefulSet", serviceName="db", replicas=3), stateful(0), stateful(1, finalizers=["example.com/held"], going=True),
        ],
        "it-has-succeeded": [workload("StatefulSet", serviceName="db", replicas=2), stateful(0, phase="Succeeded"), stateful(1)],
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
        "claims-go-with-whom-they-serve": [
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"}),
            *(claim(f"data-web-{n}") for n in range(2)),
            *(stateful(n, volumes=data(n)) for n in range(2)),
        ],
        "claims-go-with-the-set": [
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
            *(claim(f"data-web-{n}") for n in range(2)),
            *(stateful(n, volumes=data(n)) for n in range(2)),
        ],
        "claims-stay-again": [
            with_claims(), claim("data-web-0", owner="StatefulSet/web"), stateful(0, volumes=data(0)),
        ],
        "claims-of-somebody-else": [
            thing("ConfigMap", "boss"),
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
            claim("data-web-0", owner="ConfigMap/boss"),
            stateful(0, volumes=data(0)),
        ],
        "claims-of-somebody-else-and-mine": [
            thing("ConfigMap", "boss"),
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
            {**claim("data-web-0"), "metadata": {"name": "data-web-0", "ownerReferences": [
                {"kind": "ConfigMap", "name": "boss", "controller": True}, {"kind": "StatefulSet", "name": "web"}]}},
            stateful(0, volumes=data(0)),
        ],
        "claims-of-somebody-else-that-stay": [
            thing("ConfigMap", "boss"), with_claims(), claim("data-web-0", owner="ConfigMap/boss"), stateful(0, volumes=data(0)),
        ],
        "claims-somebody-else-has-an-eye-on": [
            thing("ConfigMap", "boss"),
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
            claim("data-web-0", owners=["ConfigMap/boss"]),
            stateful(0, volumes=data(0)),
        ],
        "claims-of-a-set-before": [
            with_claims(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
            {**claim("data-web-0"), "metadata": {"name": "data-web-0", "ownerReferences": [
                {"kind": "StatefulSet", "name": "web", "uid": "00000000-0000-4000-8000-000000000001"}]}},
            stateful(0, volumes=data(0)),
        ],
        "claim-on-its-way": [with_claims(), claim("data-web-0", finalizers=["example.com/held"], going=True)],
        "claim-is-missing": [with_claims(), stateful(0, volumes=data(0), phase="Pending", conditions=())],
        "labels-of-a-claim": [with_claims(labels={"app": "other", "mine": "yes"})],
        "unhealthy-one-goes-first": [
            workload("StatefulSet", serviceName="db", replicas=1),
            *(stateful(n, conditions=UNREADY if n == 2 else READY) for n in range(3)),
        ],
        "an-unhealthy-one-holds-it-up": [
            workload("StatefulSet", serviceName="db", replicas=1),
            *(stateful(n, conditions=UNREADY if n == 1 else READY) for n in range(3)),
        ],
        "all-are-gone-in-an-update": [
            workload("StatefulSet", serviceName="db", replicas=3, image="two", ordinals={"start": 4}, status={
                "replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "currentRevision": "old", "updateRevision": "old",
                "observedGeneration": 1, "collisionCount": 0},
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}),
            revision("old", 1, "one", "StatefulSet/web"),
        ],
        "one-is-gone-in-an-update": [
            workload("StatefulSet", serviceName="db", replicas=2, image="two", status={
                "replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "currentRevision": "old", "updateRevision": "old",
                "observedGeneration": 1, "collisionCount": 0}),
            revision("old", 1, "one", "StatefulSet/web"),
            stateful(1, "old"),
        ],
        "the-highest-is-updated-first": [
            workload("StatefulSet", serviceName="db", replicas=3, image="two", status={
                "replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "currentRevision": "old", "updateRevision": "old",
                "observedGeneration": 1, "collisionCount": 0}),
            revision("old", 1, "one", "StatefulSet/web"),
            *(stateful(n, "old") for n in range(3)),
        ],
        "old-ones-too-many": [
            workload("StatefulSet", serviceName="db", replicas=1, revisionHistoryLimit=1, updateStrategy={"type": "OnDelete"}),
            *(revision(name, number, name, "StatefulSet/web") for number, name in enumerate("abcd", 1)),
            stateful(0, "b"),
        ],
    },
    "job-controller": {
        "as-many-as-may-fail": [
            job(completions=5, parallelism=3, backoffLimit=2),
            *(ended(name, "Failed", code=1) for name in "abc"),
            ended("d", "Running"),
            ended("e", "Succeeded"),
        ],
        "too-many-indexes-fail": [
            job(completions=4, parallelism=4, completionMode="Indexed", backoffLimitPerIndex=0, maxFailedIndexes=1),
            *(ended(name, "Failed", code=1, index=number, counted=0) for number, name in enumerate("abc")),
            ended("d", "Running", index=3, counted=0),
        ],
        "some-indexes-have-failed-and-the-rest-is-done": [
            job(completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=0),
            ended("a", "Failed", code=1, index=0, counted=0),
            ended("b", "Succeeded", index=1, counted=0),
            ended("c", "Succeeded", index=2, counted=0),
        ],
        "these-indexes-are-enough": [
            job(completions=5, parallelism=5, completionMode="Indexed", successPolicy={"rules": [
                {"succeededIndexes": "0,2-3", "succeededCount": 2}, {"succeededIndexes": "4"}]}),
            ended("a", "Succeeded", index=0),
            ended("b", "Succeeded", index=1),
            ended("c", "Succeeded", index=3),
            ended("d", "Running", index=4),
        ],
        "somebody-else-s": [job(managedBy="example.com/boss")],
        "one-index-twice": [
            job(completions=2, parallelism=2, completionMode="Indexed"),
            ended("a", "Running", index=0),
            ended("b", "Running", index=0, conditions=UNREADY),
            ended("c", "Running", index=7),
        ],
        "of-nobody": [
            job(completions=1),
            pod("p", finalizers=list(TRACKED), restartPolicy="Never"),
            ended("gone", "Succeeded", of="Job/gone"),
        ],
        "more-than-needed-have-succeeded": [
            job(completions=2, parallelism=2), *(ended(name, "Succeeded") for name in "abc"), ended("d", "Running"),
        ],
        "no-number-of-completions": [
            job(parallelism=3), ended("a", "Succeeded"), ended("b", "Running"), ended("c", "Running"),
        ],
        "counted-and-not-yet-let-go": [
            job(completions=3, parallelism=1, status={"startTime": LONG_AGO, "succeeded": 1, "ready": 0, "terminating": 0,
                "uncountedTerminatedPods": {"succeeded": ["00000000-0000-4000-8000-000000000001"], "failed": [
                    "00000000-0000-4000-8000-000000000002"]}}),
            ended("a", "Running"),
        ],
        "failed-and-waited-for": [
            job(backoffLimit=0, podReplacementPolicy="Failed", status={"startTime": LONG_AGO, "failed": 1, "conditions": [
                {"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "message": "m",
                 "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}]}),
            ended("a", "Running", going=True),
        ],
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
        "suspended-at-work": [
            job(parallelism=2, completions=3, suspend=True, status={"startTime": LONG_AGO, "active": 2}),
            ended("a", "Running"),
            ended("b", "Running"),
        ],
        "suspended-and-late": [job(suspend=True, activeDeadlineSeconds=60, status={"startTime": LONG_AGO})],
        "resumed": [
            job(activeDeadlineSeconds=60, status={"conditions": [
                {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended",
                 "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}]}),
        ],
        "replaced-when-failed": [
            job(parallelism=2, completions=3, podReplacementPolicy="Failed"),
            ended("a", "Running", going=True),
        ],
        "replaced-at-once": [
            job(parallelism=2, completions=3, podReplacementPolicy="TerminatingOrFailed"),
            ended("a", "Running", going=True),
        ],
        "an-index-is-given-up": [
            job(completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1, podFailurePolicy={"rules": [
                {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [3]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}),
            ended("a", "Failed", code=3, index=0),
            ended("b", "Failed", code=4, index=1, counted=1),
            ended("c", "Failed", code=4, index=2, counted=0, conditions=(
                {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": LONG_AGO},)),
        ],
        "an-index-failed-twice": [
            job(completions=1, parallelism=1, completionMode="Indexed", backoffLimitPerIndex=5),
            ended("a", "Failed", code=4, index=0, counted=2),
            ended("b", "Failed", code=4, index=0, counted=1),
        ],
        "its-beginning-failed": [
            job(podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]}),
            pod("a", phase="Failed", owner="Job/web", finalizers=list(TRACKED), restartPolicy="Never", status={
                "initContainerStatuses": [{"image": "one", "imageID": "", "name": "i", "ready": False, "restartCount": 0, "state": {
                    "terminated": {"exitCode": 3, "finishedAt": LONG_AGO, "startedAt": LONG_AGO}}}]}),
        ],
    },
    "cronjob-controller": {
        "too-late": [
            cron_job(startingDeadlineSeconds=60, status={"lastScheduleTime": "2023-01-01T00:00:00Z"}),
        ],
        "in-another-time-zone": [
            cron_job(timeZone="Asia/Tokyo", schedule="0 3 29 2 *", status={"lastScheduleTime": "2023-01-01T00:00:00Z"}),
        ],
        "never-due": [cron_job(schedule="0 0 30 2 *")],
        "one-of-its-own-is-over": [
            cron_job(suspend=True, status={"active": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "namespace": "any", "uid": "x"}]}),
            scheduled_job("a", kind="Complete", startTime=LONG_AGO, completionTime=LONG_AGO),
        ],
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
        "somebody-has-the-name": [
            cron_job(status={"lastScheduleTime": "2023-01-01T00:00:00Z"}),
            scheduled_job("tick-28486080", of=""),
        ],
        "somebody-is-at-work": [
            scheduled_job("before", of=""),
            cron_job(concurrencyPolicy="Forbid", status={
                "lastScheduleTime": "2023-01-01T00:00:00Z",
                "active": [{"apiVersion": "batch/v1", "kind": "Job", "name": "before", "namespace": "any", "uid": "its"}]}),
        ],
        "in-place-of-somebody": [
            scheduled_job("before", of=""),
            cron_job(concurrencyPolicy="Replace", status={
                "lastScheduleTime": "2023-01-01T00:00:00Z",
                "active": [{"apiVersion": "batch/v1", "kind": "Job", "name": "before", "namespace": "any", "uid": "its"}]}),
        ],
        "too-many-are-over": [
            cron_job(suspend=True, successfulJobsHistoryLimit=1, failedJobsHistoryLimit=2,
                     status={"lastSuccessfulTime": "2026-01-01T00:00:09Z"}),
            scheduled_job("a", kind="Complete", startTime="2026-01-01T00:00:01Z", completionTime="2026-01-01T00:00:07Z"),
            scheduled_job("b", kind="Complete", startTime="2026-01-01T00:00:02Z", completionTime="2026-01-01T00:00:05Z"),
            scheduled_job("c", kind="Failed", startTime="2026-01-01T00:00:03Z"),
            scheduled_job("d", kind="Failed", startTime="2026-01-01T00:00:01Z"),
        ],
        "one-more-than-known": [cron_job(suspend=True), scheduled_job("a", startTime=LONG_AGO, active=1)],
    },
    "endpointslice-controller": {
        "of-two-families": [
            service("web", ipFamilyPolicy="PreferDualStack"),
            pod("a", ip=1, node="plain"),
            pod("b", ip=2, node="tainted", finalizers=["example.com/held"], going=True),
            pod("c", ip=3, node="plain", finalizers=["example.com/held"], going=True, conditions=UNREADY),
        ],
        "prefers-close": [service("web", trafficDistribution="PreferClose"), pod("a", ip=1, node="plain")],
        "external": [thing("Service", "web", spec={"type": "ExternalName", "externalName": "example.com"})],
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
        "of-a-stateful-set": [
            workload("StatefulSet", serviceName="db", replicas=5), *(stateful(n) for n in range(3)),
            budget(maxUnavailable="40%", unhealthyPodEvictionPolicy="AlwaysAllow"),
        ],
        "of-two-sets": [
            workload("ReplicaSet", replicas=3), workload("ReplicaSet", "other", replicas=5),
            pod("a", owner="ReplicaSet/web"), pod("b", owner="ReplicaSet/other"), budget(maxUnavailable="50%"),
        ],
        "of-a-daemon-set": [workload("DaemonSet"), pod("a", owner="DaemonSet/web", node="plain"), budget(maxUnavailable=1)],
        "all-of-them": [
            pod("a"), pod("b", labels={"x": "y"}), pod("c", phase="Succeeded"),
            thing("policy/v1/PodDisruptionBudget", "all", spec={"selector": {}, "minAvailable": 1}),
            thing("policy/v1/PodDisruptionBudget", "none", spec={"minAvailable": 1}),
        ],
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
        "promised-and-still-there": [
            *(pod(f"p{n}") for n in range(3)),
            {**budget(minAvailable=1), "status": {"disruptedPods": {"p0": LONG_AGO, "gone": LONG_AGO}, "disruptionsAllowed": 1,
             "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 3, "observedGeneration": 1}},
        ],
        "of-somebody-who-is-gone": [
            pod("p", owner="ReplicaSet/gone"),
            {**budget(maxUnavailable=1), "status": {"disruptionsAllowed": 1,
             "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 3, "observedGeneration": 1}},
        ],
        "of-another-of-that-name": [
            workload("ReplicaSet", replicas=2),
            {**pod("p"), "metadata": {"name": "p", "labels": {"app": "web"}, "ownerReferences": [
                {"kind": "ReplicaSet", "name": "web", "controller": True, "uid": "00000000-0000-4000-8000-000000000001"}]}},
            budget(maxUnavailable=1),
        ],
        "some-of-nobody": [
            workload("ReplicaSet", replicas=4),
            pod("a"),
            *(pod(f"p{n}", owner="ReplicaSet/web") for n in range(3)),
            budget(maxUnavailable=1),
        ],
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
        "what-nobody-here-counts": [
            thing("ResourceQuota", "q", spec={"hard": {"count/widgets.example.com": "3", "pods": "1"}},
                  status={"hard": {"pods": "1"}, "used": {"count/widgets.example.com": "2", "pods": "1", "secrets": "1"}}),
        ],
        "in-a-scope": [
            pod("a"),
            {**pod("b"), "spec": {**spec(), "activeDeadlineSeconds": 600}},
            service("lb", type="LoadBalancer", allocateLoadBalancerNodePorts=False),
            claim("c", size="1500m", status={"allocatedResources": {"storage": "3Gi"}}),
            thing("ResourceQuota", "q", spec={"scopes": ["Terminating"], "hard": {"pods": "1", "requests.cpu": "1"}}),
            thing("ResourceQuota", "r", spec={"scopes": ["NotTerminating", "NotBestEffort"], "hard": {"pods": "1", "limits.cpu": "1"}}),
            thing("ResourceQuota", "s", spec={"hard": {
                "services.loadbalancers": "1", "services.nodeports": "1", "requests.storage": "1Ti",
                "none.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
                "other.storageclass.storage.k8s.io/requests.storage": "1"}}),
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
        "of-who-goes": [
            pod("p", finalizers=["example.com/held"], going=True,
                volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}]),
            pod("q", phase="Succeeded", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}]),
        ],
    },
    "persistentvolumeclaim-protection-controller": {
        "new": [claim("c")],
        "used": [claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True),
                 pod("p", node="plain", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])],
        "unused": [claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True)],
        "waited-for": [claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True),
                       pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])],
        "by-chance-of-that-name": [
            claim("p-v", finalizers=["kubernetes.io/pvc-protection", "example.com/held"], going=True),
            pod("p", node="plain", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}]),
        ],
        "of-one-that-is-going": [
            pod("p", node="plain", finalizers=["example.com/held"], going=True,
                volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}]),
            claim("p-v", finalizers=["kubernetes.io/pvc-protection"], owner="Pod/p", going=True),
        ],
        "of-one-that-has-ended": [
            claim("c", finalizers=["kubernetes.io/pvc-protection"], going=True),
            pod("p", node="plain", phase="Succeeded", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
        ],
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
        "lost": [
            bound("c", "lost-volume", status={"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}),
        ],
        "never-had-one": [bound("c", "", status={"phase": "Bound", "capacity": {"storage": "1Gi"}})],
        "found-again": [
            bound("c", "found", storage_class="b", status={"phase": "Lost"}),
            volume("found", storage_class="b", size="3Gi", status={"phase": "Available"}),
        ],
        "grown": [
            bound("c", "grown", storage_class="c",
                  status={"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}),
            claimed("grown", "c", f"{BINDER}-grown", "its", storage_class="c", size="3Gi", status={"phase": "Available"}),
        ],
        "somebody-else-s": [
            bound("c", "else-s", storage_class="d", status={"phase": "Bound"}),
            claimed("else-s", "x", "any", "other", storage_class="d"),
        ],
        "kept-for-me": [
            claim("c", storage_class="e"),
            volume("small-one", storage_class="e", status={"phase": "Available"}),
            claimed("kept", "c", f"{BINDER}-kept-for-me", storage_class="e", size="9Gi", status={"phase": "Available"}),
        ],
        "went-elsewhere": [
            bound("c", "else", storage_class="f", status={"phase": "Bound"}),
            claimed("left", "c", f"{BINDER}-went-elsewhere", "its", storage_class="f", status={"phase": "Bound"},
                    annotations={"pv.kubernetes.io/bound-by-controller": "yes", "mine": "yes"}),
            claimed("meant", "c", f"{BINDER}-went-elsewhere", "its", storage_class="f", status={"phase": "Bound"}),
            claimed("made", "c", f"{BINDER}-went-elsewhere", "its", storage_class="f", status={"phase": "Bound"},
                    source={"csi": {"driver": "example.com", "volumeHandle": "h"}}, spec={"persistentVolumeReclaimPolicy": "Delete"},
                    annotations={"pv.kubernetes.io/provisioned-by": "example.com/p", "pv.kubernetes.io/bound-by-controller": "yes"}),
        ],
        "nobody-deletes-it": [
            claimed("nfs", "x", "any", "gone", source={"nfs": {"server": "s", "path": "/p"}}, status={"phase": "Bound"},
                    spec={"persistentVolumeReclaimPolicy": "Delete"}),
        ],
        "nobody-could-delete-it": [
            claimed("nfs-2", "x", "any", "gone", source={"nfs": {"server": "s", "path": "/p"}},
                    status={"phase": "Failed", "message": "no"}),
        ],
        "waits-for-pods": [
            thing("storage.k8s.io/v1/StorageClass", "patient", provisioner="example.com/p", volumeBindingMode="WaitForFirstConsumer"),
            claim("c", storage_class="patient"),
            pod("here", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
            pod("placed", node="plain", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
        ],
        "waits-for-nobody-yet": [
            thing("storage.k8s.io/v1/StorageClass", "calm", provisioner="example.com/p", volumeBindingMode="WaitForFirstConsumer"),
            claim("c", storage_class="calm"),
        ],
        "made-elsewhere": [
            thing("storage.k8s.io/v1/StorageClass", "outside", provisioner="example.com/p"), claim("c", storage_class="outside"),
        ],
        "made-by-hand": [
            thing("storage.k8s.io/v1/StorageClass", "hand", provisioner="kubernetes.io/no-provisioner"),
            claim("c", storage_class="hand"),
        ],
        "of-a-class-of-its-own": [
            thing("storage.k8s.io/v1/VolumeAttributesClass", "fast", driverName="example.com", parameters={"p": "q"}),
            claim("c", storage_class="g", spec={"volumeAttributesClassName": "fast"}),
            volume("with-class", storage_class="g", source={"csi": {"driver": "example.com", "volumeHandle": "h"}},
                   spec={"volumeAttributesClassName": "fast"}, status={"phase": "Available"}),
        ],
        "does-not-fit-what-it-names": [
            volume("tiny", storage_class="i", status={"phase": "Available"}),
            claim("c", storage_class="i", size="9Gi", spec={"volumeName": "tiny"}),
        ],
        "is-of-another-class": [
            volume("other-class", storage_class="k", status={"phase": "Available"}),
            claim("c", storage_class="l", spec={"volumeName": "other-class"}),
        ],
        "is-of-another-mode": [
            volume("other-mode", storage_class="m", spec={"volumeMode": "Block"}, status={"phase": "Available"}),
            claim("c", storage_class="m", spec={"volumeName": "other-mode"}),
        ],
        "wants-another-access": [
            volume("other-access", storage_class="n", status={"phase": "Available"}),
            claim("c", storage_class="n", spec={"volumeName": "other-access", "accessModes": ["ReadWriteMany"]}),
        ],
        "wants-another-attributes-class": [
            volume("other-attributes", storage_class="o", status={"phase": "Available"}),
            claim("c", storage_class="o", spec={"volumeName": "other-attributes", "volumeAttributesClassName": "fast"}),
        ],
        "names-what-it-would-not-select": [
            volume("not-selected", storage_class="p", status={"phase": "Pending"}),
            claim("c", storage_class="p", spec={"volumeName": "not-selected", "selector": {"matchLabels": {"no": "such"}}}),
        ],
        "names-what-goes": [
            volume("goes", storage_class="q", finalizers=["example.com/held"], going=True, status={"phase": "Available"}),
            claim("c", storage_class="q", spec={"volumeName": "goes"}),
        ],
        "names-somebody-else-s": [
            claimed("taken", "x", "any", "other", storage_class="j", status={"phase": "Bound"}),
            claim("c", storage_class="j", spec={"volumeName": "taken"}),
        ],
    },
    "volumeattributesclass-protection-controller": {
        "named": [
            thing("storage.k8s.io/v1/VolumeAttributesClass", "wanted", driverName="example.com", parameters={"p": "q"},
                  finalizers=["kubernetes.io/vac-protection"], going=True),
            thing("storage.k8s.io/v1/VolumeAttributesClass", "in-force", driverName="example.com", parameters={"p": "q"},
                  finalizers=["kubernetes.io/vac-protection"], going=True),
            thing("storage.k8s.io/v1/VolumeAttributesClass", "to-come", driverName="example.com", parameters={"p": "q"},
                  finalizers=["kubernetes.io/vac-protection"], going=True),
            thing("storage.k8s.io/v1/VolumeAttributesClass", "unused", driverName="example.com", parameters={"p": "q"},
                  finalizers=["kubernetes.io/vac-protection"], going=True),
            thing("storage.k8s.io/v1/VolumeAttributesClass", "fresh", driverName="example.com", parameters={"p": "q"}),
            claim("c", spec={"volumeAttributesClassName": "wanted"}, status={
                "currentVolumeAttributesClassName": "in-force",
                "modifyVolumeStatus": {"targetVolumeAttributesClassName": "to-come", "status": "Pending"}}),
        ],
    },
    "persistentvolume-expander-controller": {
        "wants-more": [
            thing("storage.k8s.io/v1/StorageClass", "growing", provisioner="example.com/p", allowVolumeExpansion=True),
            *(
                each
                for number, (name, size, kind, uid) in enumerate((
                    ("bound", "3Gi", "growing", "its"), ("has-it", "1Gi", "growing", "its"), ("other-s", "3Gi", "growing", "other"),
                    ("no-class", "3Gi", "", "its"), ("no-such-class", "3Gi", "none", "its")))
                for each in (
                    claim(name, size=size, storage_class=kind, spec={"volumeName": f"e-{number}"},
                          status={"phase": "Bound", "capacity": {"storage": "1Gi"}}),
                    claimed(f"e-{number}", name, f"{EXPANDER}-wants-more", uid, storage_class=kind),
                )
            ),
            claim("lost", size="3Gi", storage_class="growing", spec={"volumeName": "none"},
                  status={"phase": "Bound", "capacity": {"storage": "1Gi"}}),
            claim("pending", size="3Gi", storage_class="growing", spec={"volumeName": "e-0"}, status={"phase": "Pending"}),
        ],
    },
    "ttl-after-finished-controller": {
        "failed": [
            job(ttlSecondsAfterFinished=5, status={
                "startTime": LONG_AGO, "failed": 1, "conditions": [
                    {"type": "FailureTarget", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO},
                    {"type": "Failed", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}]}),
        ],
        "over": [
            job(ttlSecondsAfterFinished=0, status={
                "startTime": LONG_AGO, "completionTime": LONG_AGO, "succeeded": 1, "conditions": [
                    {"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO},
                    {"type": "Complete", "status": "True", "lastTransitionTime": LONG_AGO, "lastProbeTime": LONG_AGO}]}),
        ],
        "running": [job(ttlSecondsAfterFinished=0)],
    },
    "taint-eviction-controller": {
        "who-tolerates-for-no-time": [
            *(pod(name, node="evicting", tolerations=[
                {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}])
              for name, seconds in (("at-once", 0), ("less-than-that", -5), ("for-long", 100_000))),
            pod("other-effect", node="evicting", tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]),
            pod("other-value", node="evicting", tolerations=[{"key": "k", "operator": "Equal", "value": "x"}]),
            pod("done", node="evicting", phase="Succeeded"),
        ],
        "who-does-not-tolerate": [
            pod("goes", node="evicting"),
            pod("stays", node="evicting", tolerations=[{"key": "k", "operator": "Exists"}]),
            pod("elsewhere", node="plain"),
        ],
        "who-goes-already": [pod("going", node="evicting", finalizers=["example.com/held"], going=True)],
    },
    "garbage-collector-controller": {
        "waits-for-who-blocks": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "blocks", owners=["ConfigMap/boss!"], finalizers=["example.com/held"]),
            thing("ConfigMap", "second", owners=["ConfigMap/boss!", "ConfigMap/gone"]),
        ],
        "two-going-bosses": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "other", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "child", owners=["ConfigMap/boss!", "ConfigMap/other!"]),
        ],
        "of-another-kind": [
            thing("Secret", "boss"),
            thing("ConfigMap", "child", owners=["Secret/boss"]),
            thing("ConfigMap", "lost", owners=["Secret/gone"]),
        ],
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
        "orphans-of-who-goes": [
            thing("ConfigMap", "lost", owners=["ConfigMap/gone"], finalizers=["orphan", "example.com/held"]),
            thing("ConfigMap", "below", owners=["ConfigMap/lost"]),
        ],
        "in-a-circle": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "middle", owners=["ConfigMap/boss!"]),
            thing("ConfigMap", "below", owners=["ConfigMap/middle!"]),
        ],
        "does-not-block": [
            thing("ConfigMap", "boss", finalizers=["foregroundDeletion"], going=True),
            thing("ConfigMap", "free", owners=["ConfigMap/boss"], finalizers=["example.com/held"]),
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
        "out-of-service": [
            thing("Node", "broken", spec={"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoSchedule"}]},
                  status={"conditions": list(UNREADY)}),
            thing("Node", "mended", spec={"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoSchedule"}]},
                  status={"conditions": list(READY)}),
            pod("there", node="broken", finalizers=["example.com/held"], going=True),
            pod("done", node="broken", finalizers=["example.com/held"], phase="Succeeded", going=True),
            pod("stays", node="broken"),
            pod("waits", node="mended", finalizers=["example.com/held"], going=True),
        ],
    },
    "ttl-controller": {"few-nodes": []},
    "horizontal-pod-autoscaler-controller": {
        "of-a-stateful-set": [
            workload("StatefulSet", serviceName="db", replicas=5, status={"replicas": 5}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}, "minReplicas": 2, "maxReplicas": 3,
                "behavior": {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}}),
        ],
        "never-down": [
            workload("Deployment", replicas=9, status={"replicas": 9}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4,
                "behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}),
        ],
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
        "too-few": [
            workload("Deployment", replicas=1, status={"replicas": 1}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4, "minReplicas": 3}),
        ],
        "none": [
            workload("Deployment", replicas=0, status={"replicas": 0}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4}),
        ],
        "not-there": [
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4}),
        ],
        "of-no-kind": [
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "example.com/v1", "kind": "Widget", "name": "web"}, "maxReplicas": 4}),
        ],
        "no-metrics-but-a-wish": [
            workload("Deployment", replicas=2, status={"replicas": 2}),
            thing("autoscaling/v2/HorizontalPodAutoscaler", "web", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 4,
                "metrics": [{"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]},
                status={"currentReplicas": 3, "desiredReplicas": 3}),
        ],
    },
}  # fmt: skip
