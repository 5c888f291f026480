"""Evicting a pod: a delete that asks the pod's disruption budget first.

A budget's status says how many disruptions are allowed; its controller counts. The
eviction takes one of them and notes the pod in `disruptedPods`, in a write that fails
if anybody took one meanwhile. So two evictions cannot share the last one, even before
the controller has seen the first. A pod that is not ready protects nobody: as long as
enough others are healthy, it may go without asking.

Upstream: `pkg/registry/core/pod/storage/eviction.go` (`EvictionREST.Create`,
`checkAndDecrement`, `canIgnorePDB`, `addConditionAndDeletePod`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api import status
from lifecycle.api.conditions import (
    find_status_condition,
    is_condition_true,
    replace_condition,
    with_condition,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.status import StatusError
from lifecycle.apiserver.managedfields import update_managed_fields
from lifecycle.apiserver.registry.admission import Validate, validate_all
from lifecycle.apiserver.registry.deletion import (
    DeleteOptions,
    check_delete_options,
    check_preconditions,
    delete,
)
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import MAX_CONFLICTS, ResourceStore
from lifecycle.apiserver.storage.cacher.cached_object import Cached

MANAGER = "kube-apiserver"
"""Who writes the budget's status: the server asks itself."""
MAX_DISRUPTED_PODS = 2000
"""So many evictions may wait for the controller to notice them."""

SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource"
    " does not support."
)
VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


async def evict(
    pods: ResourceStore,
    budgets: ResourceStore,
    scope: RequestScope,
    eviction: Object,
    validate: Validate,
) -> Object:
    """Delete a pod as its eviction asks, if its budget lets it go. Admission looks at
    the eviction (`validate`); the delete in it is the server's own.

    The answer is a `Status`. Raises StatusError 400 (another pod's eviction), 404 and
    409 as a delete does, 429 (the budget does not allow it now), 403 (the budget's
    status makes no sense), 500 (there are several budgets).
    """
    if (eviction.get("metadata") or {}).get("name", "") != scope.name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    await validate(eviction, None)
    delete_options = eviction.get("deleteOptions") or {}
    check_delete_options(delete_options)
    preconditions = delete_options.get("preconditions") or {}
    options = DeleteOptions(
        grace=delete_options.get("gracePeriodSeconds"),
        propagation=delete_options.get("propagationPolicy", ""),
        uid=preconditions.get("uid", ""),
        resource_version=preconditions.get("resourceVersion", ""),
    )
    target = RequestScope(
        scope.resource, scope.namespace, scope.name, "", scope.user, scope.manager,
        scope.dry_run or bool(delete_options.get("dryRun"))
    )  # fmt: skip
    for _ in range(MAX_CONFLICTS):
        pod = pods.get(scope.namespace, scope.name).obj
        names = [] if _can_ignore_budgets(pod) else await _budgets_of(budgets, pod)
        if len(names) > 1:
            raise status.failure(500, "", SEVERAL)
        without_asking = _can_ignore_budgets(pod) and not _over(pod)
        if names:
            without_asking = not await _take_from_budget(budgets, target, names[0], pod)
        careful = options
        if (
            without_asking and not options.resource_version
        ):  # it may have become ready since
            careful = replace(
                options, resource_version=pod["metadata"]["resourceVersion"]
            )
        try:
            await _mark_and_delete(pods, target, careful)
        except StatusError as error:
            if error.code != 409 or careful is options:
                raise
            if names:
                raise _too_many_requests(_being_processed(names[0]), 10) from None
            continue
        return status.success(code=201)
    raise status.conflict("pods", scope.name)


def _over(pod: Object) -> bool:
    return (
        pod["status"]["phase"] in ("Succeeded", "Failed")
        or "deletionTimestamp" in pod["metadata"]
    )


def _can_ignore_budgets(pod: Object) -> bool:
    """Over, on its way out, or not yet running: the disruption has happened, or there
    is none.
    """
    return _over(pod) or pod["status"]["phase"] == "Pending"


async def _budgets_of(budgets: ResourceStore, pod: Object) -> list[str]:
    """The names of the pod's budgets. Whoever is the first to ask since they were
    written waits until all their selectors have been read, and lets others go on.
    """
    budgets.cacher.catch_up()
    names: list[str] = []
    pauses = Pauses()
    for cached in budgets.cacher.ordered(pod["metadata"]["namespace"]):
        await pauses.pause()
        if _covers(cached, pod):
            names.append(cached.obj["metadata"]["name"])
    return names


async def _take_from_budget(
    budgets: ResourceStore, scope: RequestScope, name: str, pod: Object
) -> bool:
    """Take one disruption from a budget; False if the pod may go without, for not being
    ready. Raises StatusError 429, 403.
    """
    if not _is_ready(pod):
        budget = budgets.get(scope.namespace, name).obj
        pdb_status = budget.get("status") or {}
        enough = (
            pdb_status.get("currentHealthy", 0)
            >= pdb_status.get("desiredHealthy", 0)
            > 0
        )
        if enough or budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return False
    for _ in range(MAX_CONFLICTS):
        stored = budgets.get(scope.namespace, name)
        decremented = _check_and_decrement(
            stored.obj, pod["metadata"]["name"], budgets.environment.clock.timestamp()
        )
        if (
            scope.dry_run
            or await budgets.write(stored.key, decremented, stored.revision) is not None
        ):
            return True
    raise status.failure(
        504,
        "Timeout",
        f'couldn\'t update PodDisruptionBudget "{name}" due to conflicts',
        {"retryAfterSeconds": 10},
    )


def _covers(budget: Cached, pod: Object) -> bool:
    """Whether the budget, of the same namespace, is the pod's. An empty selector
    selects all pods, none at all none.
    """
    return budget.selector.matches(pod["metadata"].get("labels") or {})


def _is_ready(pod: Object) -> bool:
    return is_condition_true(pod, "Ready")


def _check_and_decrement(budget: Object, pod_name: str, now: str) -> Object:
    """The budget with one disruption less, promised to the pod. Raises StatusError 429
    or 403.
    """
    name, pdb_status = budget["metadata"]["name"], budget.get("status") or {}
    if pdb_status.get("observedGeneration", 0) < budget["metadata"].get(
        "generation", 0
    ):
        raise _too_many_requests(_being_processed(name), 10)
    allowed, disrupted = (
        pdb_status.get("disruptionsAllowed", 0),
        pdb_status.get("disruptedPods") or {},
    )
    if allowed < 0:
        raise status.forbidden(
            "poddisruptionbudget", name, "pdb disruptions allowed is negative", "policy"
        )
    if len(disrupted) > MAX_DISRUPTED_PODS:
        why = (
            "DisruptedPods map too big - too many evictions not confirmed by PDB"
            " controller"
        )
        raise status.forbidden("poddisruptionbudget", name, why, "policy")
    if allowed == 0:
        raise _too_many_requests(_why_not(name, pdb_status))
    changed = {
        **pdb_status,
        "disruptedPods": {**disrupted, pod_name: now},
        "disruptionsAllowed": allowed - 1,
    }
    if allowed == 1:
        changed["conditions"] = _exhausted(budget, now)
    metadata = dict(budget["metadata"])
    decremented = {**budget, "metadata": metadata, "status": changed}
    update_managed_fields(
        budget,
        decremented,
        manager=MANAGER,
        api_version="policy/v1",
        subresource="status",
        now=now,
    )
    return decremented


def _exhausted(budget: Object, now: str) -> list[Object]:
    """The condition that the controller would write next. Upstream:
    `UpdateDisruptionAllowedCondition`.
    """
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": budget["metadata"].get("generation", 0),
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    return replace_condition(budget["status"].get("conditions"), condition)


def _why_not(name: str, pdb_status: Object) -> str:
    condition = (
        find_status_condition(pdb_status.get("conditions"), "DisruptionAllowed") or {}
    )
    why = condition.get("message", "") if condition.get("status") == "False" else ""
    desired, healthy = (
        pdb_status.get("desiredHealthy", 0),
        pdb_status.get("currentHealthy", 0),
    )
    if (
        why and condition.get("reason") == "SyncFailed"
    ):  # then the figures are not to be trusted
        return (
            f"The disruption budget {name} does not allow evicting pods currently"
            f" because it failed sync: {why}"
        )
    if healthy <= desired:
        return (
            f"The disruption budget {name} needs {desired} healthy pods and has"
            f" {healthy} currently"
        )
    reason = f" ({condition['reason']}): {why}" if why else ""
    return (
        f"The disruption budget {name} does not allow evicting pods currently{reason}"
    )


def _being_processed(name: str) -> str:
    return f"The disruption budget {name} is still being processed by the server."


def _too_many_requests(cause: str, seconds: int = 0) -> StatusError:
    details: Object = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    return status.failure(429, "TooManyRequests", VIOLATED, details)


async def _mark_and_delete(
    pods: ResourceStore, scope: RequestScope, options: DeleteOptions
) -> None:
    """Say in the pod's status who is taking it away, then delete it. Raises StatusError
    404, 409.
    """
    if not scope.dry_run:
        written = None
        while written is None:
            stored = pods.get(scope.namespace, scope.name)
            check_preconditions(stored.obj, scope, options)
            now = pods.environment.clock.timestamp()
            written = await pods.write(
                stored.key, _marked(stored.obj, now), stored.revision
            )
        if options.resource_version:
            options = replace(
                options, resource_version=written.obj["metadata"]["resourceVersion"]
            )
    await delete(pods, scope, options, validate_all)


def _marked(pod: Object, now: str) -> Object:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    return with_condition(pod, condition, now)
