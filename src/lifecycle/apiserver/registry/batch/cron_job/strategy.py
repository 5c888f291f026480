"""CronJobs: Jobs at certain times.

Upstream: `pkg/apis/batch/v1/defaults.go` (`SetDefaults_CronJob`),
`pkg/registry/batch/cronjob/strategy.go`, `pkg/printers/internalversion/printers.go`
(`printCronJob`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age, since
from lifecycle.api.labels import format_label_selector
from lifecycle.apiserver.registry.batch.cron_job.validation import (
    validate,
    validate_update,
)
from lifecycle.apiserver.registry.batch.job.strategy import set_job_spec_defaults
from lifecycle.apiserver.registry.batch.job.table import SELECTOR
from lifecycle.apiserver.registry.core.pod.template import (
    drop_disabled_template_fields,
    generation_is_unchanged,
    get_warnings_for_pod_template,
    name_warnings,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Column,
    Printer,
    container_cells,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(cron_job: Object) -> None:
    """Concurrent runs allowed, three successes and one failure remembered."""
    spec = cron_job.setdefault("spec", {})
    set_job_spec_defaults(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    set_default(spec, "suspend", False)
    set_default(spec, "successfulJobsHistoryLimit", 3)
    set_default(spec, "failedJobsHistoryLimit", 1)


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(cron_job: Object) -> None:
    """Of the template count only features that are on."""
    drop_disabled_template_fields(_template(cron_job))


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(_template(new), _template(old))


def _template(cron_job: Object) -> Object | None:
    job = (cron_job.get("spec") or {}).get("jobTemplate") or {}
    template: Object | None = (job.get("spec") or {}).get("template")
    return template


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(cron_job: Object) -> list[str]:
    """Of the name, and of the template."""
    return [
        *name_warnings(cron_job, "Pod names and hostnames"),
        *get_warnings_for_pod_template(
            _template(cron_job), "spec.jobTemplate.spec.template"
        ),
    ]


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """Of a template that may be another one."""
    if generation_is_unchanged(new, old):
        return []
    return get_warnings_for_pod_template(
        _template(new), "spec.jobTemplate.spec.template"
    )


# --- table ----------------------------------------------------------------------------


def print_cron_job(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get cronjobs`."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    suspend, last = spec.get("suspend"), status.get("lastScheduleTime")
    return [
        obj["metadata"]["name"],
        spec.get("schedule", ""),
        "<none>" if spec.get("timeZone") is None else spec["timeZone"],
        "<unset>" if suspend is None else str(suspend),
        len(status.get("active") or ()),
        since(last, now) if last else "<none>",
        age(obj, now),
        *container_cells(job.get("template")),
        format_label_selector(job.get("selector")),
    ]


_SPEC, _STATUS = "batch/v1.CronJobSpec", "batch/v1.CronJobStatus"

PRINTER = Printer(
    (
        NAME,
        Column("Schedule", field(_SPEC, "schedule")),
        Column("Timezone", field(_SPEC, "timeZone")),
        Column("Suspend", field(_SPEC, "suspend"), "boolean"),
        Column("Active", field(_STATUS, "active"), "integer"),
        Column("Last Schedule", field(_STATUS, "lastScheduleTime")),
        AGE,
        *CONTAINERS,
        SELECTOR,
    ),
    print_cron_job,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={"status": UpdateStrategy(update.prepare_for_status_update)},
    printer=PRINTER,
)
