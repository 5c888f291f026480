"""Scenes for controllers: what an administrator does, and what has come of it when all is done.

Each is played in a namespace of its own, so all run at once. A scene ends when a watch has shown that its last effect is there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from lifecycle.api.http.wire import Object
from tests.live.stage import Objects, Stage

SCENES: dict[str, Callable[[Stage], Awaitable[None]]] = {}
SMALL = {"requests": {"cpu": "1m"}}


def scene(play: Callable[[Stage], Awaitable[None]]) -> Callable[[Stage], Awaitable[None]]:
    """A scene goes by its function's name."""
    SCENES[play.__name__.replace("_", "-")] = play
    return play


def manifest(api_version: str, kind: str, name: str, /, **fields: Any) -> Object:
    """An object; `labels`, `annotations`, `owners` and `finalizers` go into its metadata."""
    meta: Object = {"name": name}
    for key, into in (("labels", "labels"), ("annotations", "annotations"), ("finalizers", "finalizers")):
        if key in fields:
            meta[into] = fields.pop(key)
    if "owners" in fields:
        meta["ownerReferences"] = fields.pop("owners")
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **fields}


def pod_spec(*command: str, image: str = "nginx:1.27", **fields: Any) -> Object:
    """One small container; with a command, busybox."""
    container: Object = {"name": "c", "image": "busybox:1.36" if command else image, "resources": SMALL}
    if command:
        container["command"] = list(command)
    return {"containers": [container], "terminationGracePeriodSeconds": 0, **fields}


def workload(kind: str, name: str, *, image: str = "nginx:1.27", **spec: Any) -> Object:
    """A kind of apps/v1 whose pods are labelled `app: name`."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(image=image)}
    return manifest("apps/v1", kind, name, spec={"selector": {"matchLabels": labels}, "template": template, **spec})


def job(name: str, *command: str, **spec: Any) -> Object:
    """A Job whose pods never restart."""
    template = {"spec": pod_spec(*command, restartPolicy="Never")}
    return manifest("batch/v1", "Job", name, spec={"template": template, **spec})


def owner(obj: Object, **fields: Any) -> list[Object]:
    """Owner references to one object."""
    reference = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": obj["metadata"]["name"]}
    return [{**reference, "uid": obj["metadata"]["uid"], **fields}]


def image(name: str) -> Object:
    """A patch of a workload's template."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name, "resources": SMALL}]}}}}


def finished(items: Objects, *, failed: bool = False) -> bool:
    """All jobs are over."""
    over = "Failed" if failed else "Complete"
    return bool(items) and all(
        any(c["type"] == over and c["status"] == "True" for c in o.get("status", {}).get("conditions", ()))
        for o in items.values()
    )


def gone(which: str) -> Callable[[Objects], bool]:
    """An object is no longer there."""
    return lambda items: which not in items


@scene
async def deployment_rolled_out_and_back(stage: Stage) -> None:
    name = "web"
    counts = {"replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 3}
    await stage.create(workload("Deployment", name, replicas=3))
    await stage.status("deployments.apps", name, **counts)
    await stage.patch("deployments.apps", name, image("nginx:1.26"))
    await stage.status("deployments.apps", name, **counts)
    await stage.patch("deployments.apps", name, image("nginx:1.27"))
    await stage.status("deployments.apps", name, **counts)
    await stage.patch("deployments.apps", name, {"spec": {"replicas": 1}})
    await stage.status("deployments.apps", name, replicas=1, readyReplicas=1, updatedReplicas=1)
    await stage.until("pods", lambda items: len(items) == 1)


@scene
async def deployment_recreated_and_history_kept_short(stage: Stage) -> None:
    name = "web"
    strategy = {"type": "Recreate"}
    await stage.create(workload("Deployment", name, replicas=2, strategy=strategy, revisionHistoryLimit=1))
    for tag in ("1.26", "1.25", "1.24"):
        await stage.status("deployments.apps", name, replicas=2, readyReplicas=2, updatedReplicas=2)
        await stage.patch("deployments.apps", name, image(f"nginx:{tag}"))
    await stage.status("deployments.apps", name, replicas=2, readyReplicas=2, updatedReplicas=2)
    await stage.until("replicasets.apps", lambda items: len(items) == 2)


@scene
async def deployment_paused_and_stuck(stage: Stage) -> None:
    await stage.create(workload("Deployment", "paused", replicas=1, paused=True))
    await stage.status("deployments.apps", "paused", unavailableReplicas=None)
    template = {"metadata": {"labels": {"app": "stuck"}}, "spec": pod_spec(nodeSelector={"no": "such"})}
    stuck = workload("Deployment", "stuck", replicas=1, progressDeadlineSeconds=2)
    stuck["spec"]["template"] = template
    await stage.create(stuck)

    def given_up(items: Objects) -> bool:
        conditions = items["stuck"].get("status", {}).get("conditions", ())
        return any(c.get("reason") == "ProgressDeadlineExceeded" for c in conditions)

    await stage.until("deployments.apps", given_up)


@scene
async def replica_set_adopts_and_releases(stage: Stage) -> None:
    # A controller that has not heard of the orphan makes a pod too many. All of them look into one cache of pods, so what counts
    # healthy pods tells when it is there.
    watched = {"minAvailable": 1, "selector": {"matchLabels": {"watched": "yes"}}}
    await stage.create(manifest("policy/v1", "PodDisruptionBudget", "watched", spec=watched))
    await stage.status("poddisruptionbudgets.policy", "watched", observedGeneration=1)
    orphan = manifest("v1", "Pod", "orphan", labels={"app": "set", "watched": "yes"}, spec=pod_spec())
    await stage.create(orphan)
    await stage.status("pods", "orphan", phase="Running")
    await stage.status("poddisruptionbudgets.policy", "watched", currentHealthy=1)
    await stage.create(workload("ReplicaSet", "set", replicas=2))
    await stage.status("replicasets.apps", "set", replicas=2, readyReplicas=2)
    await stage.patch("pods", "orphan", {"metadata": {"labels": {"app": "other"}}})
    await stage.until("pods", lambda items: len(items) == 3 and not items["orphan"]["metadata"].get("ownerReferences"))
    await stage.status("replicasets.apps", "set", replicas=2, readyReplicas=2)


@scene
async def replication_controller_scaled(stage: Stage) -> None:
    template = {"metadata": {"labels": {"app": "old"}}, "spec": pod_spec()}
    spec = {"replicas": 2, "selector": {"app": "old"}, "template": template}
    await stage.create(manifest("v1", "ReplicationController", "old", spec=spec))
    await stage.status("replicationcontrollers", "old", replicas=2, readyReplicas=2)
    await stage.patch("replicationcontrollers", "old", {"spec": {"replicas": 1}})
    await stage.status("replicationcontrollers", "old", replicas=1, readyReplicas=1)
    await stage.until("pods", lambda items: len(items) == 1)


@scene
async def stateful_set_rolled_and_scaled(stage: Stage) -> None:
    ports = [{"port": 80}]
    await stage.create(
        manifest("v1", "Service", "db", spec={"clusterIP": "None", "selector": {"app": "db"}, "ports": ports})
    )
    await stage.create(workload("StatefulSet", "db", replicas=3, serviceName="db"))
    await stage.status("statefulsets.apps", "db", readyReplicas=3, currentReplicas=3)
    await stage.patch("statefulsets.apps", "db", image("nginx:1.26"))
    await stage.status("statefulsets.apps", "db", readyReplicas=3, updatedReplicas=3, currentReplicas=3)
    await stage.patch("statefulsets.apps", "db", {"spec": {"replicas": 1}})
    await stage.status("statefulsets.apps", "db", replicas=1, readyReplicas=1)
    await stage.until("pods", lambda items: set(items) == {"db-0"})


@scene
async def stateful_set_with_claims(stage: Stage) -> None:
    claims = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}, "storageClassName": ""}
    templates = [{"metadata": {"name": "data"}, "spec": claims}]
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    await stage.create(
        workload(
            "StatefulSet",
            "db",
            replicas=2,
            serviceName="db",
            podManagementPolicy="Parallel",
            volumeClaimTemplates=templates,
            persistentVolumeClaimRetentionPolicy=policy,
        )
    )
    await stage.status("statefulsets.apps", "db", replicas=2)
    await stage.until("persistentvolumeclaims", lambda items: len(items) == 2)
    await stage.patch("statefulsets.apps", "db", {"spec": {"replicas": 1}})
    await stage.until("persistentvolumeclaims", lambda items: set(items) == {"data-db-0"})
    await stage.status("statefulsets.apps", "db", replicas=1)


@scene
async def daemon_set_rolled_out(stage: Stage) -> None:
    await stage.create(workload("DaemonSet", "agent"))
    await stage.status("daemonsets.apps", "agent", numberReady=1, updatedNumberScheduled=1)
    await stage.patch("daemonsets.apps", "agent", image("nginx:1.26"))
    await stage.status("daemonsets.apps", "agent", numberReady=1, updatedNumberScheduled=1, numberAvailable=1)
    await stage.until("pods", lambda items: len(items) == 1)


@scene
async def job_completed(stage: Stage) -> None:
    await stage.create(job("work", "true", completions=3, parallelism=2))
    await stage.create(job("indexed", "true", completions=2, parallelism=2, completionMode="Indexed"))
    await stage.until("jobs.batch", lambda items: len(items) == 2 and finished(items))


@scene
async def job_failed(stage: Stage) -> None:
    await stage.create(job("fails", "false", backoffLimit=0))
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]
    await stage.create(job("ruled", "sh", "-c", "exit 3", podFailurePolicy={"rules": rules}))
    await stage.create(job("late", "sleep", "600", activeDeadlineSeconds=4))
    await stage.until("jobs.batch", lambda items: len(items) == 3 and finished(items, failed=True))


@scene
async def job_suspended_and_cleaned_up(stage: Stage) -> None:
    await stage.create(job("resumed", "true", suspend=True))
    await stage.until("jobs.batch", lambda items: bool(items["resumed"].get("status", {}).get("conditions")))
    await stage.patch("jobs.batch", "resumed", {"spec": {"suspend": False}})
    await stage.create(job("short", "true", ttlSecondsAfterFinished=0))
    await stage.until("jobs.batch", lambda items: set(items) == {"resumed"} and finished(items))


@scene
async def cron_job_once(stage: Stage) -> None:
    template = {"spec": job("x", "true")["spec"]}
    spec = {"schedule": "@hourly", "suspend": True, "jobTemplate": template}
    await stage.create(manifest("batch/v1", "CronJob", "tick", spec=spec))
    last = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:00:00Z")
    await stage.patch("cronjobs.batch", "tick", {"status": {"lastScheduleTime": last}}, "status")
    await stage.patch("cronjobs.batch", "tick", {"spec": {"suspend": False}})
    await stage.until("jobs.batch", finished)
    await stage.until("cronjobs.batch", lambda items: bool(items["tick"].get("status", {}).get("lastSuccessfulTime")))


@scene
async def autoscaler_without_metrics(stage: Stage) -> None:
    await stage.create(workload("Deployment", "web", replicas=1))
    await stage.status("deployments.apps", "web", readyReplicas=1)
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4, "metrics": [metric]}
    await stage.create(manifest("autoscaling/v2", "HorizontalPodAutoscaler", "web", spec=spec))
    lost = {**spec, "scaleTargetRef": {**target, "name": "nobody"}}
    await stage.create(manifest("autoscaling/v2", "HorizontalPodAutoscaler", "lost", spec=lost))
    await stage.status("deployments.apps", "web", readyReplicas=2)
    await stage.until(
        "horizontalpodautoscalers.autoscaling",
        lambda items: (
            len(items["web"].get("status", {}).get("conditions", ())) > 1
            and items["lost"].get("status", {}).get("conditions")
        ),
    )


@scene
async def service_with_endpoints(stage: Stage) -> None:
    ports = [{"name": "http", "port": 80, "targetPort": "web"}, {"name": "dns", "port": 53, "protocol": "UDP"}]
    await stage.create(manifest("v1", "Service", "web", spec={"selector": {"app": "web"}, "ports": ports}))
    # The trigger time is told in whole seconds, and an update without a later one takes it away: no two pods become ready at once.
    late = {"readinessProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 3}}
    deployment = workload("Deployment", "web", replicas=1)
    deployment["spec"]["template"]["spec"]["containers"][0] |= {
        "ports": [{"name": "web", "containerPort": 8080}],
        **late,
    }
    await stage.create(deployment)
    for replicas in (1, 2):
        await stage.patch("deployments.apps", "web", {"spec": {"replicas": replicas}})
        await stage.status("deployments.apps", "web", readyReplicas=replicas)
    unready = pod_spec(readinessGates=[{"conditionType": "example.com/never"}])
    await stage.create(manifest("v1", "Pod", "unready", labels={"app": "web"}, spec=unready))
    await stage.status("pods", "unready", phase="Running")
    await stage.until(
        "endpointslices.discovery.k8s.io",
        lambda items: sum(len(s.get("endpoints") or ()) for s in items.values()) == 3,
    )
    await stage.until(
        "endpoints", lambda items: any(s.get("notReadyAddresses") for s in items["web"].get("subsets", ()))
    )
    spec = pod_spec()
    spec["containers"][0] |= late
    await stage.create(manifest("v1", "Pod", "late", labels={"app": "web"}, spec=spec))
    await stage.until(
        "endpointslices.discovery.k8s.io",
        lambda items: sum(e["conditions"]["ready"] for s in items.values() for e in s.get("endpoints") or ()) == 3,
    )
    await stage.until(
        "endpoints", lambda items: sum(len(s.get("addresses", ())) for s in items["web"].get("subsets", ())) == 3 + 2
    )


@scene
async def endpoints_mirrored(stage: Stage) -> None:
    await stage.create(manifest("v1", "Service", "by-hand", spec={"ports": [{"port": 80}]}))
    subsets = [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 8080}]}]
    await stage.create(manifest("v1", "Endpoints", "by-hand", subsets=subsets))
    await stage.until("endpointslices.discovery.k8s.io", lambda items: len(items) == 1)


@scene
async def namespace_deleted(stage: Stage) -> None:
    doomed = Stage(stage.client, f"{stage.namespace}-doomed")
    await doomed.open()
    await doomed.create(workload("Deployment", "web", replicas=1))
    await doomed.create(manifest("v1", "ConfigMap", "held", finalizers=["example.com/held"]))
    await doomed.status("deployments.apps", "web", readyReplicas=1)
    await doomed.delete("namespaces", doomed.namespace, namespace="")
    await doomed.until(
        "namespaces",
        lambda items: any(
            c["type"] == "NamespaceFinalizersRemaining" and c["status"] == "True"
            for c in items[doomed.namespace].get("status", {}).get("conditions", ())
        ),
        "",
    )
    await doomed.patch("configmaps", "held", {"metadata": {"finalizers": None}})
    await doomed.until("namespaces", gone(doomed.namespace), "")


@scene
async def collected_in_the_background(stage: Stage) -> None:
    boss = await stage.create(manifest("v1", "ConfigMap", "owner"))
    await stage.create(manifest("v1", "ConfigMap", "owned", owners=owner(boss)))
    other = await stage.create(manifest("v1", "ConfigMap", "second-owner"))
    await stage.create(manifest("v1", "ConfigMap", "shared", owners=owner(boss) + owner(other)))
    lost = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "nobody", "uid": "00000000-0000-4000-8000-000000000000"},
    }
    await stage.create(manifest("v1", "ConfigMap", "lost", owners=owner(lost)))
    await stage.until("configmaps", gone("lost"))
    await stage.delete("configmaps", "owner", propagation="Background")
    await stage.until("configmaps", gone("owned"))
    await stage.until("configmaps", lambda items: len(items["shared"]["metadata"]["ownerReferences"]) == 1)


@scene
async def collected_in_the_foreground(stage: Stage) -> None:
    await stage.create(workload("Deployment", "web", replicas=2))
    await stage.status("deployments.apps", "web", readyReplicas=2)
    await stage.delete("deployments.apps", "web", propagation="Foreground")
    await stage.until("deployments.apps", gone("web"))
    boss = await stage.create(manifest("v1", "ConfigMap", "owner"))
    owners = owner(boss, blockOwnerDeletion=True)
    await stage.create(manifest("v1", "ConfigMap", "held", owners=owners, finalizers=["example.com/held"]))
    await stage.delete("configmaps", "owner", propagation="Foreground")
    await stage.until("configmaps", lambda items: "deletionTimestamp" in items["held"]["metadata"])


@scene
async def orphaned(stage: Stage) -> None:
    await stage.create(workload("ReplicaSet", "set", replicas=2))
    await stage.status("replicasets.apps", "set", readyReplicas=2)
    await stage.delete("replicasets.apps", "set", propagation="Orphan")
    await stage.until("replicasets.apps", gone("set"))
    await stage.until("pods", lambda items: not any(p["metadata"].get("ownerReferences") for p in items.values()))


@scene
async def disruption_budgets_counted(stage: Stage) -> None:
    await stage.create(workload("Deployment", "web", replicas=3))
    await stage.status("deployments.apps", "web", readyReplicas=3)
    labels = {"matchLabels": {"app": "web"}}
    await stage.create(
        manifest("policy/v1", "PodDisruptionBudget", "half", spec={"selector": labels, "minAvailable": "50%"})
    )
    await stage.create(
        manifest("policy/v1", "PodDisruptionBudget", "all", spec={"selector": labels, "maxUnavailable": 0})
    )
    await stage.status("poddisruptionbudgets.policy", "half", disruptionsAllowed=1, currentHealthy=3)
    await stage.status("poddisruptionbudgets.policy", "all", disruptionsAllowed=0, currentHealthy=3)


@scene
async def quota_counted(stage: Stage) -> None:
    hard = {"pods": "3", "configmaps": "5", "requests.cpu": "10m", "count/deployments.apps": "1"}
    await stage.create(manifest("v1", "ResourceQuota", "most", spec={"hard": hard}))
    await stage.until("resourcequotas", lambda items: bool(items["most"].get("status", {}).get("used")))
    await stage.create(workload("Deployment", "web", replicas=4))
    await stage.status("deployments.apps", "web", readyReplicas=3)
    await stage.until("resourcequotas", lambda items: items["most"]["status"]["used"].get("pods") == "3")
    await stage.patch("deployments.apps", "web", {"spec": {"replicas": 1}})
    await stage.until("resourcequotas", lambda items: items["most"]["status"]["used"].get("pods") == "1")
    await stage.status("deployments.apps", "web", replicas=1, readyReplicas=1)


@scene
async def claims_bound(stage: Stage) -> None:
    volume = stage.namespace
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp/x"}}
    spec |= {"storageClassName": volume, "persistentVolumeReclaimPolicy": "Retain"}
    await stage.create(manifest("v1", "PersistentVolume", volume, spec=spec))
    await stage.status("persistentvolumes", volume, namespace="", phase="Available")
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    for name, storage_class in (("bound", volume), ("waiting", "no-such-class")):
        claim = manifest("v1", "PersistentVolumeClaim", name, spec={**wanted, "storageClassName": storage_class})
        await stage.create(claim)
    await stage.status("persistentvolumeclaims", "bound", phase="Bound")
    await stage.status("persistentvolumes", volume, namespace="", phase="Bound")
    mount = [{"name": "data", "persistentVolumeClaim": {"claimName": "bound"}}]
    await stage.create(manifest("v1", "Pod", "user", spec=pod_spec(volumes=mount)))
    await stage.status("pods", "user", phase="Running")
    await stage.delete("persistentvolumeclaims", "bound")
    await stage.until("persistentvolumeclaims", lambda items: "deletionTimestamp" in items["bound"]["metadata"])
    await stage.delete("pods", "user")
    await stage.until("persistentvolumeclaims", gone("bound"))
    await stage.status("persistentvolumes", volume, namespace="", phase="Released")


@scene
async def ephemeral_volume_claimed(stage: Stage) -> None:
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}},
        "storageClassName": "none",
    }
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    await stage.create(manifest("v1", "Pod", "user", spec=pod_spec(volumes=[volume])))
    await stage.until("persistentvolumeclaims", lambda items: "user-scratch" in items)


@scene
async def account_made_again_and_token_filled(stage: Stage) -> None:
    await stage.delete("serviceaccounts", "default")
    await stage.until("serviceaccounts", lambda items: "default" in items)
    await stage.delete("configmaps", "kube-root-ca.crt")
    await stage.until("configmaps", lambda items: "kube-root-ca.crt" in items)
    await stage.create(manifest("v1", "ServiceAccount", "robot"))
    annotations = {"kubernetes.io/service-account.name": "robot"}
    secret = manifest("v1", "Secret", "token", annotations=annotations, type="kubernetes.io/service-account-token")
    await stage.create(secret)
    await stage.until("secrets", lambda items: "token" in (items["token"].get("data") or {}))


@scene
async def cluster_role_aggregated(stage: Stage) -> None:
    label = {"example.com/into": stage.namespace}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    role = "rbac.authorization.k8s.io/v1"
    await stage.create(manifest(role, "ClusterRole", f"{stage.namespace}-part", labels=label, rules=rules))
    name = f"{stage.namespace}-whole"
    selectors = {"clusterRoleSelectors": [{"matchLabels": label}]}
    await stage.create(manifest(role, "ClusterRole", name, aggregationRule=selectors))
    await stage.until("clusterroles.rbac.authorization.k8s.io", lambda items: bool(items[name].get("rules")), "")


@scene
async def admission_policy_checked(stage: Stage) -> None:
    api, name = "admissionregistration.k8s.io/v1", stage.namespace
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.spec.replicas > 'x'"}],
    }
    await stage.create(manifest(api, "ValidatingAdmissionPolicy", name, spec=spec))
    await stage.until(
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        lambda items: "typeChecking" in items[name].get("status", {}),
        "",
    )
