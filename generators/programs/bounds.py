"""Fields of objects, and values on both sides of their bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.agreements.apiserver.bounded import SPACE

Object = dict[str, Any]
Values = tuple[Any, ...]
HERE = f"/api/v1/namespaces/{SPACE}"
LABELS = {"app": "web"}


def times(text: str, count: int) -> Object:
    """A long text, as it is recorded."""
    return {"repeat": [text, count]}


def group(path: str, plural: str) -> str:
    """Where objects of a group in the namespace are made."""
    return f"/apis/{path}/namespaces/{SPACE}/{plural}"


def named(kind: str, api: str = "v1", **fields: Any) -> Object:
    """An object that is called `x`."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, **fields}


def container(**fields: Any) -> Object:
    """One."""
    return {"name": "c", "image": "nginx", **fields}


def pod(of: Object | None = None, **spec: Any) -> Object:
    """Of one container. `of`: more of it."""
    return named("Pod", spec={"containers": [container(**(of or {}))], **spec})


def deployment(**spec: Any) -> Object:
    """Of no pods."""
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container()]}}
    selector = {"matchLabels": LABELS}
    base = {"replicas": 0, "selector": selector, "template": template}
    return named("Deployment", "apps/v1", spec={**base, **spec})


def rolling(surge: Any, unavailable: Any) -> Object:
    """A Deployment's bounds."""
    update = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": update}
    return deployment(strategy=strategy)


def service(port: Object, **spec: Any) -> Object:
    """Of one port."""
    return named("Service", spec={"ports": [{"port": 80, **port}], **spec})


def job(**spec: Any) -> Object:
    """Of one container."""
    template = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
    return named("Job", "batch/v1", spec={"template": template, **spec})


def cron_job(name: Any, **spec: Any) -> Object:
    """Of such a job."""
    base = {"schedule": "* * * * *", "jobTemplate": {"spec": job()["spec"]}}
    made = named("CronJob", "batch/v1", spec={**base, **spec})
    return {**made, "metadata": {"name": name}}


def config_map(**fields: Any) -> Object:
    """With such metadata; `data` beside."""
    data = fields.pop("data", {})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", **fields},
        "data": data,
    }


def probe(kind: str, **fields: Any) -> Object:
    """A pod with one."""
    return pod({f"{kind}Probe": {"tcpSocket": {"port": 80}, **fields}})


def asks(request: str | None, limit: str | None, name: str = "cpu") -> Object:
    """A pod that asks for so much."""
    both = {"requests": request, "limits": limit}
    kept = {kind: {name: value} for kind, value in both.items() if value is not None}
    return pod({"resources": kept})


def autoscaler(**spec: Any) -> Object:
    """Of a Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return named(
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        spec={"scaleTargetRef": target, "maxReplicas": 3, **spec},
    )


PODS, MAPS, SERVICES = f"{HERE}/pods", f"{HERE}/configmaps", f"{HERE}/services"
DEPLOYMENTS, JOBS = group("apps/v1", "deployments"), group("batch/v1", "jobs")
CRONS = group("batch/v1", "cronjobs")
BUDGETS = group("policy/v1", "poddisruptionbudgets")
SCALERS = group("autoscaling/v2", "horizontalpodautoscalers")
LEASES = group("coordination.k8s.io/v1", "leases")
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
SMALL = 2**31
NAMES = tuple(times("a", count) for count in (1, 63, 64, 253, 254))
Field = tuple[str, str, Callable[[Any], Object], Values]
FIELDS: tuple[Field, ...] = (
    (
        "a ConfigMap's name",
        MAPS,
        lambda v: config_map(name=v),
        (*NAMES, "A", "a.b", "a_b", "-a", ""),
    ),
    (
        "a beginning of a name",
        MAPS,
        lambda v: config_map(name="", generateName=v),
        (*NAMES, "a-", "-a", ""),
    ),
    (
        "a label's value",
        MAPS,
        lambda v: config_map(labels={"a": v}),
        (*NAMES, "", "A_b.c", "a b", "-a"),
    ),
    (
        "a label's name",
        MAPS,
        lambda v: config_map(labels={v: "a"}),
        ("a", "a/b", "a/b/c", "A/b", "/b", "a/", "a b", ""),
    ),
    (
        "a data key",
        MAPS,
        lambda v: config_map(data={v: "a"}),
        ("a", ".a", "..", "..a", "a/b", "A_b", ""),
    ),
    (
        "annotations in bytes",
        MAPS,
        lambda v: config_map(annotations={"a": v}),
        (times("x", 256 * 1024 - 1), times("x", 256 * 1024)),
    ),
    (
        "data in bytes",
        MAPS,
        lambda v: config_map(data={"a": v}),
        (times("x", 1024 * 1024), times("x", 1024 * 1024 + 1)),
    ),
    (
        "a namespace's name",
        "/api/v1/namespaces",
        lambda v: named("Namespace") | {"metadata": {"name": v}},
        (times("a", 63), times("a", 64), "a.b"),
    ),
    (
        "a Service's name",
        SERVICES,
        lambda v: service({}) | {"metadata": {"name": v}},
        (times("a", 63), times("a", 64), "1a", "a.b"),
    ),
    (
        "a container's name",
        PODS,
        lambda v: pod({"name": v}),
        (times("a", 63), times("a", 64), "A", ""),
    ),
    (
        "containerPort",
        PODS,
        lambda v: pod({"ports": [{"containerPort": v}]}),
        (-1, 0, 1, 65535, 65536),
    ),
    (
        "hostPort",
        PODS,
        lambda v: pod({"ports": [{"containerPort": 80, "hostPort": v}]}),
        (-1, 0, 1, 65535, 65536),
    ),
    (
        "a port's name",
        PODS,
        lambda v: pod({"ports": [{"containerPort": 80, "name": v}]}),
        (times("a", 15), times("a", 16), "1", "a--b", "-a", "A"),
    ),
    (
        "terminationGracePeriodSeconds",
        PODS,
        lambda v: pod(terminationGracePeriodSeconds=v),
        (-2, -1, 0, 1),
    ),
    (
        "activeDeadlineSeconds",
        PODS,
        lambda v: pod(activeDeadlineSeconds=v),
        (-1, 0, 1, SMALL - 1, SMALL),
    ),
    (
        "restartPolicy",
        PODS,
        lambda v: pod(restartPolicy=v),
        ("Always", "OnFailure", "Never", "Sometimes", ""),
    ),
    (
        "imagePullPolicy",
        PODS,
        lambda v: pod({"imagePullPolicy": v}),
        ("Always", "IfNotPresent", "Never", "Later", ""),
    ),
    (
        "dnsPolicy",
        PODS,
        lambda v: pod(dnsPolicy=v),
        ("ClusterFirst", "Default", "None", "Mine"),
    ),
    ("image", PODS, lambda v: pod({"image": v}), ("a", "", " a", "a ", "a:b:c")),
    (
        "an environment variable's name",
        PODS,
        lambda v: pod({"env": [{"name": v, "value": "1"}]}),
        ("a", "A.b-c", "1", "a=b", "", "a b"),
    ),
    (
        "timeoutSeconds of a probe",
        PODS,
        lambda v: probe("readiness", timeoutSeconds=v),
        (-1, 0, 1),
    ),
    (
        "periodSeconds of a probe",
        PODS,
        lambda v: probe("readiness", periodSeconds=v),
        (-1, 0, 1),
    ),
    (
        "initialDelaySeconds of a probe",
        PODS,
        lambda v: probe("liveness", initialDelaySeconds=v),
        (-1, 0, 1),
    ),
    (
        "failureThreshold of a probe",
        PODS,
        lambda v: probe("liveness", failureThreshold=v),
        (-1, 0, 1),
    ),
    (
        "successThreshold of a readiness probe",
        PODS,
        lambda v: probe("readiness", successThreshold=v),
        (-1, 0, 1, 2),
    ),
    (
        "successThreshold of a liveness probe",
        PODS,
        lambda v: probe("liveness", successThreshold=v),
        (0, 1, 2),
    ),
    (
        "successThreshold of a startup probe",
        PODS,
        lambda v: probe("startup", successThreshold=v),
        (0, 1, 2),
    ),
    (
        "CPU asked for",
        PODS,
        lambda v: asks(v, None),
        ("0", "1m", "0.0001", "-1m", "1e3", "x", "1Mi"),
    ),
    (
        "memory asked for",
        PODS,
        lambda v: asks(v, None, "memory"),
        ("0", "1", "1m", "-1", "1Mi", "1 Mi"),
    ),
    (
        "CPU asked for, of one at most",
        PODS,
        lambda v: asks(v, "1"),
        ("999m", "1", "1000m", "1001m"),
    ),
    (
        "a device asked for, of one at most",
        PODS,
        lambda v: asks(v, "1", "example.com/gpu"),
        ("0", "1", "2", "500m"),
    ),
    (
        "maxSkew",
        PODS,
        lambda v: pod(
            topologySpreadConstraints=[
                {
                    "maxSkew": v,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                }
            ]
        ),
        (-1, 0, 1),
    ),
    (
        "tolerationSeconds",
        PODS,
        lambda v: pod(
            tolerations=[
                {"key": "a", "operator": "Exists", "effect": v, "tolerationSeconds": 1}
            ]
        ),
        ("NoExecute", "NoSchedule", "PreferNoSchedule", ""),
    ),
    (
        "weight of a preference",
        PODS,
        lambda v: pod(
            affinity={
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": v,
                            "preference": {
                                "matchExpressions": [{"key": "a", "operator": "Exists"}]
                            },
                        }
                    ]
                }
            }
        ),
        (-1, 0, 1, 100, 101),
    ),
    (
        "runAsUser",
        PODS,
        lambda v: pod(securityContext={"runAsUser": v}),
        (-1, 0, SMALL - 1, SMALL),
    ),
    (
        "replicas",
        DEPLOYMENTS,
        lambda v: deployment(replicas=v),
        (-1, 0, 1, SMALL - 1, SMALL),
    ),
    (
        "minReadySeconds",
        DEPLOYMENTS,
        lambda v: deployment(minReadySeconds=v),
        (-1, 0, 599, 600),
    ),
    (
        "progressDeadlineSeconds",
        DEPLOYMENTS,
        lambda v: deployment(minReadySeconds=5, progressDeadlineSeconds=v),
        (-1, 0, 5, 6),
    ),
    (
        "revisionHistoryLimit",
        DEPLOYMENTS,
        lambda v: deployment(revisionHistoryLimit=v),
        (-1, 0, 1),
    ),
    (
        "maxSurge, where none may be missing",
        DEPLOYMENTS,
        lambda v: rolling(v, 0),
        (-1, 0, 1, "0%", "1%", "101%", "-1%", "1"),
    ),
    (
        "maxUnavailable, without a surge",
        DEPLOYMENTS,
        lambda v: rolling(0, v),
        (-1, 0, 1, "0%", "100%", "101%", "1"),
    ),
    (
        "a Service's port",
        SERVICES,
        lambda v: service({"port": v}),
        (-1, 0, 1, 65535, 65536),
    ),
    (
        "targetPort",
        SERVICES,
        lambda v: service({"targetPort": v}),
        (0, 1, 65535, 65536, "http", times("a", 16), "1"),
    ),
    (
        "nodePort",
        SERVICES,
        lambda v: service({"nodePort": v}, type="NodePort"),
        (29999, 30000, 32767, 32768),
    ),
    (
        "nodePort of a ClusterIP",
        SERVICES,
        lambda v: service({"nodePort": v}),
        (0, 30000),
    ),
    (
        "timeoutSeconds of an affinity",
        SERVICES,
        lambda v: service(
            {},
            sessionAffinity="ClientIP",
            sessionAffinityConfig={"clientIP": {"timeoutSeconds": v}},
        ),
        (-1, 0, 1, 86400, 86401),
    ),
    (
        "externalName",
        SERVICES,
        lambda v: named("Service", spec={"type": "ExternalName", "externalName": v}),
        ("a.example", "a.example.", "A.example", "", "127.0.0.1"),
    ),
    ("parallelism", JOBS, lambda v: job(parallelism=v), (-1, 0, 1)),
    ("completions", JOBS, lambda v: job(completions=v), (-1, 0, 1)),
    ("backoffLimit", JOBS, lambda v: job(backoffLimit=v), (-1, 0, 1)),
    (
        "ttlSecondsAfterFinished",
        JOBS,
        lambda v: job(ttlSecondsAfterFinished=v),
        (-1, 0, 1),
    ),
    (
        "activeDeadlineSeconds of a Job",
        JOBS,
        lambda v: job(activeDeadlineSeconds=v),
        (-1, 0, 1),
    ),
    ("a CronJob's name", CRONS, cron_job, (times("a", 52), times("a", 53))),
    (
        "schedule",
        CRONS,
        lambda v: cron_job("x", schedule=v),
        (
            "* * * * *",
            "60 * * * *",
            "59 23 31 12 6",
            "0 0 0 1 1",
            "@daily",
            "@never",
            "",
        ),
    ),
    (
        "startingDeadlineSeconds",
        CRONS,
        lambda v: cron_job("x", startingDeadlineSeconds=v),
        (-1, 0, 1),
    ),
    (
        "minAvailable",
        BUDGETS,
        lambda v: named(
            "PodDisruptionBudget",
            "policy/v1",
            spec={"minAvailable": v, "selector": {"matchLabels": LABELS}},
        ),
        (-1, 0, 1, "0%", "100%", "101%", "1"),
    ),
    ("minReplicas", SCALERS, lambda v: autoscaler(minReplicas=v), (-1, 0, 1, 3, 4)),
    ("maxReplicas", SCALERS, lambda v: autoscaler(maxReplicas=v), (-1, 0, 1)),
    (
        "leaseDurationSeconds",
        LEASES,
        lambda v: named(
            "Lease", "coordination.k8s.io/v1", spec={"leaseDurationSeconds": v}
        ),
        (-1, 0, 1),
    ),
    (
        "value of a priority class",
        CLASSES,
        lambda v: named("PriorityClass", "scheduling.k8s.io/v1", value=v),
        (-SMALL, -SMALL - 1, 1_000_000_000, 1_000_000_001),
    ),
)
"""What it is called, where it is made, an object with a value, and values."""
