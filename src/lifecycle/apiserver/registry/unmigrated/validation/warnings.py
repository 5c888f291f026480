"""Warnings: what the server accepts but advises against (`Warning: 299` headers).

Upstream: each strategy's `WarningsOnCreate`, `pkg/api/service/warnings.go`,
`pkg/api/persistentvolume*/util.go`; deprecated versions:
`zz_generated.prerelease-lifecycle.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.template import (
    name_warnings,
    template_warnings,
)
from lifecycle.apiserver.registry.core.pod.warnings import (
    pod_warnings,
)


def _pod(pod: Object) -> list[str]:
    return name_warnings(pod, "the Pod's hostname") + pod_warnings(pod)


def _template(path: str, *, named: bool = False) -> Callable[[Object], list[str]]:
    keys = path.split(".")

    def rule(obj: Object) -> list[str]:
        template = obj
        for key in keys:
            template = template.get(key) or {}
        warnings = name_warnings(obj, "Pod names and hostnames") if named else []
        return warnings + template_warnings(template, path)

    return rule


def _stateful_set(stateful_set: Object) -> list[str]:
    warnings = _template("spec.template")(stateful_set)
    if ((stateful_set.get("spec") or {}).get("revisionHistoryLimit") or 0) < 0:
        why = (
            "a negative value retains all historical revisions; a value >= 0 is"
            " recommended"
        )
        warnings.append(f"spec.revisionHistoryLimit: {why}")
    return warnings


RULES: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "Pod"): _pod,
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template", named=True),
    ("apps/v1", "ReplicaSet"): _template("spec.template", named=True),
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "Job"): _template("spec.template", named=True),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template", named=True),
}

COUNTED: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template"),
    ("apps/v1", "ReplicaSet"): _template("spec.template"),
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "Job"): _template("spec.template"),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template"),
}
"""Their templates are looked at again only if the generation says that something
changed.
"""

UPDATE_RULES = COUNTED | {}
