"""HorizontalPodAutoscalers: as many pods as their metrics ask for.

Every 15 seconds each autoscaler is looked at: what the scale of its target is, what
each of its metrics asks for (the most counts), and what may be done of that. Nothing is
done while a metric fails and the others ask for fewer.

Upstream: `pkg/controller/podautoscaler/horizontal.go`
(`HorizontalController.reconcileAutoscaler`, `computeReplicasForMetrics`), v1.36.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lifecycle.api.conditions import set_status_condition
from lifecycle.api.custom_resources import served_resource
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import NOTHING, Selector, parse_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import Resource, all_resources, resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.podautoscaler.metric_proposals import (
    MetricFailure,
    MetricProposals,
    NoKindMatchError,
    ScaleTarget,
)
from lifecycle.controllers.podautoscaler.metrics_client import MetricsClient
from lifecycle.controllers.podautoscaler.replica_calculator import (
    ReplicaCalculator,
    Tolerances,
)
from lifecycle.controllers.podautoscaler.scaling_rules import (
    Bounds,
    ScaleHistory,
    normalize,
)

WORKERS = 5
SYNC_PERIOD = 15.0
TOLERANCE = 0.1


class CannotScaleError(Exception):
    """No metric says enough to act upon."""


class _Recommendation(NamedTuple):
    """What the metrics ask for together: replicas, and for which of them."""

    replicas: int
    metric: str


class HorizontalController:
    """Looks at every autoscaler again and again; changes of the object itself do not
    hurry it.
    """

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client, self._clock = client, clock
        self._autoscalers = informers.informer(
            resource("horizontalpodautoscalers.autoscaling")
        )
        self._pods = informers.informer(resource("pods"))
        self._definitions = informers.informer(
            resource("customresourcedefinitions.apiextensions.k8s.io")
        )
        self._proposals = MetricProposals(MetricsClient(client), self._mapping)
        self._recorder = EventRecorder(client, "horizontal-pod-autoscaler", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._histories: dict[str, ScaleHistory] = {}
        self._selectors: dict[str, Selector] = {}
        self._autoscalers.add_event_handler(
            add=self._enqueue,
            update=lambda old, new: self._enqueue(new),
            delete=self._deleted,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._autoscalers, self._pods, self._definitions):
                await informer.wait_for_sync()
            name = "horizontal-pod-autoscaler-controller"
            await run_workers(
                self._queue, self._reconcile_key, workers=WORKERS, name=name
            )
        finally:
            await self._recorder.stop()

    def _enqueue(self, autoscaler: Object) -> None:
        key = meta_namespace_key(autoscaler)
        self._selectors.setdefault(key, NOTHING)
        self._queue.add_after(key, SYNC_PERIOD)

    def _deleted(self, autoscaler: Object) -> None:
        self._selectors.pop(meta_namespace_key(autoscaler), None)

    def _mapping(self, api_version: str, kind: str) -> Resource:
        """The resource of a kind, whatever its version. Raises NoKindMatchError."""
        group = api_version.rpartition("/")[0]
        defined = [
            row
            for row in map(served_resource, self._definitions.indexer.list())
            if row is not None
        ]
        for row in (*all_resources(), *defined):
            if (row.group, row.kind) == (group, kind):
                return row
        raise NoKindMatchError(kind, group)

    async def _reconcile_key(self, key: str) -> None:
        autoscaler = self._autoscalers.indexer.get_by_key(key)
        if autoscaler is None:
            self._histories.pop(key, None)
            return
        try:
            await self._reconcile(
                key, mutable_copy(autoscaler), autoscaler.get("status") or {}
            )
        finally:  # well or not: it is looked at again at the same pace
            self._queue.add_after(key, SYNC_PERIOD)

    async def _reconcile(self, key: str, autoscaler: Object, before: Object) -> None:
        spec, status = autoscaler["spec"], autoscaler.setdefault("status", {})
        reference, namespace = (
            spec["scaleTargetRef"],
            autoscaler["metadata"]["namespace"],
        )
        try:
            row = self._mapping(reference.get("apiVersion", ""), reference["kind"])
            scale = await self._client.get(
                row, reference["name"], namespace, subresource="scale"
            )
        except (StatusError, NoKindMatchError) as error:
            words = error.message if isinstance(error, StatusError) else str(error)
            self._event(autoscaler, "Warning", "FailedGetScale", words)
            message = (
                "the HPA controller was unable to get the target's current scale:"
                f" {words}"
            )
            self._condition(status, "AbleToScale", "False", "FailedGetScale", message)
            await self._update_status(autoscaler, before)
            return
        message = "the HPA controller was able to get the target's current scale"
        self._condition(status, "AbleToScale", "True", "SucceededGetScale", message)
        current: int = (scale.get("spec") or {}).get("replicas", 0)
        history = self._histories.setdefault(
            key, ScaleHistory([(current, self._clock.now())])
        )
        bounds = Bounds(current, spec.get("minReplicas", 1), spec["maxReplicas"])
        desired, reason = current, ""
        measured: list[Object] | None = None
        if current == 0 and bounds.minimum != 0:
            message = (
                "scaling is disabled since the replica count of the target is zero"
            )
            self._condition(
                status, "ScalingActive", "False", "ScalingDisabled", message
            )
        elif current > bounds.maximum:
            desired, reason = (
                bounds.maximum,
                "Current number of replicas above Spec.MaxReplicas",
            )
        elif current < bounds.minimum:
            desired, reason = (
                bounds.minimum,
                "Current number of replicas below Spec.MinReplicas",
            )
        else:
            measured = []
            try:
                recommendation = await self._compute_replicas_for_metrics(
                    key, autoscaler, scale, measured
                )
            except CannotScaleError as error:
                self._set_status(
                    status, current, before.get("desiredReplicas", 0), measured or None
                )
                await self._update_status(autoscaler, before)
                self._event(
                    autoscaler, "Warning", "FailedComputeMetricsReplicas", str(error)
                )
                return
            if recommendation.replicas != current:
                reason = (
                    f"{recommendation.metric} above target"
                    if recommendation.replicas > current
                    else "All metrics below target"
                )
            desired = self._normalize(
                history, autoscaler, bounds, recommendation.replicas
            )
        if desired != current:
            scale = {
                **scale,
                "spec": {**(scale.get("spec") or {}), "replicas": desired},
            }
            try:
                await self._client.update(row, scale, subresource="scale")
            except StatusError as error:
                words = f"New size: {desired}; reason: {reason}; error: {error.message}"
                self._event(autoscaler, "Warning", "FailedRescale", words)
                message = (
                    "the HPA controller was unable to update the target scale:"
                    f" {error.message}"
                )
                self._condition(
                    status, "AbleToScale", "False", "FailedUpdateScale", message
                )
                self._set_status(
                    status, current, before.get("desiredReplicas", 0), measured
                )
                await self._update_status(autoscaler, before)
                return
            message = (
                f"the HPA controller was able to update the target scale to {desired}"
            )
            self._condition(status, "AbleToScale", "True", "SucceededRescale", message)
            self._event(
                autoscaler,
                "Normal",
                "SuccessfulRescale",
                f"New size: {desired}; reason: {reason}",
            )
            history.store_scale_event(
                spec.get("behavior"), current, desired, self._clock.now()
            )
            status["lastScaleTime"] = self._clock.timestamp()
        self._set_status(status, current, desired, measured)
        await self._update_status(autoscaler, before)

    # What the metrics say.

    async def _compute_replicas_for_metrics(
        self, key: str, autoscaler: Object, scale: Object, statuses: list[Object]
    ) -> _Recommendation:
        """The most that any metric asks for. `statuses` takes what was measured. Raises
        CannotScaleError.
        """
        selector = self._validate_selector(
            key, autoscaler, (scale.get("status") or {}).get("selector") or ""
        )
        namespace, status = autoscaler["metadata"]["namespace"], autoscaler["status"]
        pods = self._selected_pods(namespace, selector)
        spec_replicas = (scale.get("spec") or {}).get("replicas", 0)
        calculator = ReplicaCalculator(
            pods, spec_replicas, _tolerances(autoscaler["spec"]), self._clock
        )
        status_replicas = (scale.get("status") or {}).get("replicas", 0)
        target = ScaleTarget(namespace, str(selector), status_replicas, calculator)
        best, failures = _Recommendation(0, ""), []
        specs = autoscaler["spec"].get("metrics") or []
        for spec in specs:
            try:
                replicas, name, measured = await self._proposals.propose(spec, target)
            except MetricFailure as failure:
                self._event(autoscaler, "Warning", failure.reason, failure.detail)
                failures.append(failure)
                statuses.append({"type": ""})
                continue
            statuses.append(measured)
            if best.replicas == 0 or replicas > best.replicas:
                best = _Recommendation(replicas, name)
        if failures and (len(failures) >= len(specs) or best.replicas < spec_replicas):
            first = failures[0]
            message = f"the HPA was unable to compute the replica count: {first.detail}"
            self._condition(status, "ScalingActive", "False", first.reason, message)
            count = f"{len(failures)} invalid out of {len(specs)}"
            raise CannotScaleError(
                f"invalid metrics ({count}), first error is: {first}"
            )
        message = (
            "the HPA was able to successfully calculate a replica count from"
            f" {best.metric}"
        )
        self._condition(status, "ScalingActive", "True", "ValidMetricFound", message)
        return best

    def _validate_selector(self, key: str, autoscaler: Object, text: str) -> Selector:
        """The target's selector, if it is one and no other autoscaler rules over the
        same pods. Raises CannotScaleError.
        """
        status = autoscaler["status"]
        if not text:
            self._event(
                autoscaler, "Warning", "SelectorRequired", "selector is required"
            )
            message = "the HPA target's scale is missing a selector"
            self._condition(
                status, "ScalingActive", "False", "InvalidSelector", message
            )
            raise CannotScaleError("selector is required")
        try:
            selector = parse_selector(text)
        except (StatusError, ValueError) as error:
            message = (
                "couldn't convert selector into a corresponding internal selector"
                f" object: {error}"
            )
            raise self._fail(autoscaler, "InvalidSelector", message) from None
        if key in self._selectors:
            self._selectors[key] = selector
        namespace = autoscaler["metadata"]["namespace"]
        pods = self._selected_pods(namespace, selector)
        rivals = sorted(
            other.partition("/")[2]
            for other, theirs in self._selectors.items()
            if other.startswith(f"{namespace}/")
            and any(theirs.matches(pod["metadata"].get("labels")) for pod in pods)
        )
        if len(rivals) > 1:
            names = " ".join(f"{{{name} {namespace}}}" for name in rivals)
            message = (
                f"pods by selector {text} are controlled by multiple HPAs: [{names}]"
            )
            raise self._fail(autoscaler, "AmbiguousSelector", message)
        return selector

    def _fail(self, autoscaler: Object, reason: str, message: str) -> CannotScaleError:
        self._event(autoscaler, "Warning", reason, message)
        self._condition(autoscaler["status"], "ScalingActive", "False", reason, message)
        return CannotScaleError(message)

    def _selected_pods(self, namespace: str, selector: Selector) -> list[Object]:
        pods = self._pods.indexer.list_namespace(namespace)
        return [pod for pod in pods if selector.matches(pod["metadata"].get("labels"))]

    def _normalize(
        self, history: ScaleHistory, autoscaler: Object, bounds: Bounds, desired: int
    ) -> int:
        behavior, status = autoscaler["spec"].get("behavior"), autoscaler["status"]
        normalized = normalize(history, behavior, bounds, desired, self._clock.now())
        self._condition(status, "AbleToScale", "True", *normalized.able)
        self._condition(
            status,
            "ScalingLimited",
            "True" if normalized.limited else "False",
            *normalized.limit,
        )
        return normalized.replicas

    # What is told.

    def _condition(
        self, status: Object, kind: str, value: str, reason: str, message: str
    ) -> None:
        condition = {
            "type": kind,
            "status": value,
            "reason": reason,
            "message": message,
        }
        set_status_condition(
            status.setdefault("conditions", []), condition, self._clock.timestamp()
        )

    @staticmethod
    def _set_status(
        status: Object, current: int, desired: int, measured: list[Object] | None
    ) -> None:
        status["desiredReplicas"], status["currentMetrics"] = desired, measured
        status.pop("currentReplicas", None)
        if current:
            status["currentReplicas"] = current

    async def _update_status(self, autoscaler: Object, before: Object) -> None:
        if _without_empty(autoscaler["status"]) == _without_empty(before):
            return
        try:
            await self._client.update(
                self._autoscalers.resource, autoscaler, subresource="status"
            )
        except StatusError as error:
            self._event(autoscaler, "Warning", "FailedUpdateStatus", error.message)

    def _event(self, autoscaler: Object, kind: str, reason: str, message: str) -> None:
        self._recorder.event(autoscaler, kind, reason, message)


def _without_empty(status: Object) -> dict[str, Any]:
    return {key: value for key, value in status.items() if value}


def _tolerances(spec: Object) -> Tolerances:
    behavior = spec.get("behavior") or {}

    def of(direction: str) -> float:
        tolerance = (behavior.get(direction) or {}).get("tolerance")
        return TOLERANCE if tolerance is None else float(parse_quantity(tolerance))

    return Tolerances(of("scaleDown"), of("scaleUp"))
