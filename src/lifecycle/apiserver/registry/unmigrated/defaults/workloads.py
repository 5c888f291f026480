"""Defaults of the workloads: replicas, strategies, history, deadlines.

Upstream: `pkg/apis/{apps,batch,autoscaling}/v1/defaults.go`,
`pkg/apis/autoscaling/v2/defaults.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.defaults import set_default


def set_job_defaults(job: Object) -> None:
    """One completion by one pod, six retries; labels from the template."""
    spec = job.setdefault("spec", {})
    set_job_spec_defaults(spec)
    labels = (spec["template"].get("metadata") or {}).get("labels")
    if labels and not (job.get("metadata") or {}).get("labels"):
        job.setdefault("metadata", {})["labels"] = (
            labels  # the very same map, as in Go: what the template gets, the job gets
        )
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    set_default(spec, "parallelism", 1)
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = (
            6 if spec.get("backoffLimitPerIndex") is None else 2147483647
        )
    set_default(spec, "completionMode", "NonIndexed")
    set_default(spec, "suspend", False)
    set_default(spec, "manualSelector", False)
    set_default(
        spec,
        "podReplacementPolicy",
        "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
    )


def set_job_spec_defaults(spec: Object) -> None:
    """What a Job's spec gets even inside a CronJob's template: the pod template's
    defaults, conditions of failure rules.
    """
    set_pod_template_defaults(spec.setdefault("template", {}))
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def set_cron_job_defaults(cron_job: Object) -> None:
    """Concurrent runs allowed, three successes and one failure remembered."""
    spec = cron_job.setdefault("spec", {})
    set_job_spec_defaults(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    set_default(spec, "suspend", False)
    set_default(spec, "successfulJobsHistoryLimit", 3)
    set_default(spec, "failedJobsHistoryLimit", 1)


def set_horizontal_pod_autoscaler_v1_defaults(autoscaler: Object) -> None:
    """At least one replica."""
    set_default(autoscaler.setdefault("spec", {}), "minReplicas", 1)


def set_horizontal_pod_autoscaler_defaults(autoscaler: Object) -> None:
    """At least one replica, 80 % CPU; a behaviour given in part is completed."""
    spec = autoscaler.setdefault("spec", {})
    set_default(spec, "minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [
            {"type": "Resource", "resource": {"name": "cpu", "target": target}}
        ]
    behavior = spec.get("behavior")
    if behavior is not None:
        up = {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        }
        down = {
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        }
        for key, rules in (("scaleUp", up), ("scaleDown", down)):
            given = behavior.get(key) or {}
            behavior[key] = {
                **rules,
                **{name: value for name, value in given.items() if value is not None},
            }
