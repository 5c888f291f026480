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


def _template(path: str, *, named: bool = False) -> Callable[[Object], list[str]]:
    keys = path.split(".")

    def rule(obj: Object) -> list[str]:
        template = obj
        for key in keys:
            template = template.get(key) or {}
        warnings = name_warnings(obj, "Pod names and hostnames") if named else []
        return warnings + template_warnings(template, path)

    return rule


RULES: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("batch/v1", "Job"): _template("spec.template", named=True),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template", named=True),
}

COUNTED: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("batch/v1", "Job"): _template("spec.template"),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template"),
}
"""Their templates are looked at again only if the generation says that something
changed.
"""

UPDATE_RULES = COUNTED | {}
