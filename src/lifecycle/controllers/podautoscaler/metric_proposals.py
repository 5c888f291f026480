"""One metric of an autoscaler: measured, turned into a number of replicas, and told as
a status.

Upstream: `pkg/controller/podautoscaler/horizontal.go` (`computeReplicasForMetric`,
`computeStatusFor…Metric`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from lifecycle.api.go.format import go_label_selector
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.resources import Resource
from lifecycle.controllers.podautoscaler.metrics_client import (
    MetricsClient,
    MetricsError,
)
from lifecycle.controllers.podautoscaler.replica_calculator import (
    Proposal,
    ReplicaCalculator,
)

T = TypeVar("T")


class NoKindMatchError(Exception):
    """Nothing of that kind is served."""

    def __init__(self, kind: str, group: str) -> None:
        super().__init__(f'no matches for kind "{kind}" in group "{group}"')


class MetricProposal(NamedTuple):
    """So many replicas, for which metric, and what stands in
    `status.currentMetrics`.
    """

    replicas: int
    name: str
    status: Object


class MetricFailure(Exception):
    """A metric that says nothing. `reason` and `detail` are for event and condition;
    the error itself says a little more.
    """

    def __init__(self, reason: str, detail: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.detail = reason, detail


class ScaleTarget(NamedTuple):
    """What is scaled: where, which pods, and how many there are (wanted in
    `calculator`, counted in `replicas`).
    """

    namespace: str
    selector: str
    replicas: int
    calculator: ReplicaCalculator


class MetricProposals:
    """Asks the metrics APIs. `mapping` finds the resource of an apiVersion and kind, or
    raises NoKindMatchError.
    """

    def __init__(
        self, client: MetricsClient, mapping: Callable[[str, str], Resource]
    ) -> None:
        self._client, self._mapping = client, mapping

    async def propose(self, spec: Object, target: ScaleTarget) -> MetricProposal:
        """For one entry of `spec.metrics`. Raises MetricFailure."""
        kind = spec["type"]
        source = spec[kind[0].lower() + kind[1:]]
        if kind == "Resource":
            return await self._resource(source, target, "", "resource", source["name"])
        if kind == "ContainerResource":
            container = source["container"]
            return await self._resource(
                source, target, container, "containerResource", container
            )
        if kind == "Pods":
            return await self._pods(source, target)
        if kind == "Object":
            return await self._object(source, target)
        return await self._external(source, target)

    async def _resource(
        self,
        source: Object,
        target: ScaleTarget,
        container: str,
        field: str,
        subject: str,
    ) -> MetricProposal:
        name, metric_target = source["name"], source["target"]
        kind = field[0].upper() + field[1:]
        plain = metric_target.get("averageValue") is not None
        try:
            request = self._client.resource_metric(
                name, target.namespace, target.selector, container
            )
            metrics = await _with_context(
                f"unable to get metrics for resource {name}", request
            )
            if plain:
                proposal = target.calculator.plain_replicas(
                    metrics, _milli(metric_target["averageValue"]), name
                )
            else:
                proposal = target.calculator.resource_replicas(
                    metrics, metric_target["averageUtilization"], name, container
                )
        except MetricsError as error:
            detail = (
                f"failed to get {name} {'usage' if plain else 'utilization'}: {error}"
            )
            word = "container" if container else "resource"
            message = f"failed to get {subject} {word} metric value: {detail}"
            raise MetricFailure(f"FailedGet{kind}Metric", detail, message) from None
        current: Object = {"averageValue": _quantity(proposal.usage)}
        metric_name = f"{name} resource"
        if not plain:
            current["averageUtilization"] = proposal.utilization
            word = "container resource" if container else "resource"
            metric_name = f"{name} {word} utilization (percentage of request)"
        status: Object = {"name": name, "current": current}
        if container:
            status["container"] = container
        return MetricProposal(
            proposal.replicas, metric_name, {"type": kind, field: status}
        )

    async def _pods(self, source: Object, target: ScaleTarget) -> MetricProposal:
        metric = source["metric"]
        name, target_usage = metric["name"], _milli(source["target"]["averageValue"])
        try:
            request = self._client.pods_metric(
                name, target.namespace, target.selector, _metric_selector(metric)
            )
            metrics = await _with_context(f"unable to get metric {name}", request)
            proposal = target.calculator.plain_replicas(metrics, target_usage)
        except MetricsError as error:
            message = f"failed to get pods metric value: {error}"
            raise MetricFailure("FailedGetPodsMetric", str(error), message) from None
        status = {
            "metric": metric,
            "current": {"averageValue": _quantity(proposal.usage)},
        }
        return MetricProposal(
            proposal.replicas, f"pods metric {name}", {"type": "Pods", "pods": status}
        )

    async def _object(self, source: Object, target: ScaleTarget) -> MetricProposal:
        metric, described, metric_target = (
            source["metric"],
            source["describedObject"],
            source["target"],
        )
        name, kind = metric["name"], described["kind"]
        average = metric_target["type"] == "AverageValue"
        try:
            # upstream's words, in upstream's odd order
            what = (
                f"unable to get metric {name}: {kind} on {target.namespace}"
                f" {described['name']}/"
            )
            try:
                row = self._mapping(described.get("apiVersion", ""), kind)
                request = self._client.object_metric(
                    name,
                    target.namespace,
                    row,
                    described["name"],
                    _metric_selector(metric),
                )
                usage = await request
            except (MetricsError, NoKindMatchError) as error:
                raise MetricsError(f"{what}{error}") from None
            proposal = self._of_one_value(usage, metric_target, target)
        except MetricsError as error:
            more = f"failed to get {name} object metric: " if average else ""
            message = f"failed to get object metric value: {more}{error}"
            raise MetricFailure("FailedGetObjectMetric", str(error), message) from None
        field = "averageValue" if average else "value"
        status: Object = {
            "metric": metric,
            "current": {field: _quantity(proposal.usage)},
            "describedObject": described,
        }
        if average:
            status["describedObject"] = {
                "kind": "",
                "name": "",
            }  # as upstream leaves it
        metric_name = _external_name(metric) if average else f"{kind} metric {name}"
        return MetricProposal(
            proposal.replicas, metric_name, {"type": "Object", "object": status}
        )

    async def _external(self, source: Object, target: ScaleTarget) -> MetricProposal:
        metric, metric_target = source["metric"], source["target"]
        name = metric["name"]
        average = metric_target.get("averageValue") is not None
        try:
            what = (
                "unable to get external metric"
                f" {target.namespace}/{name}/"
                f"{go_label_selector(metric.get('selector'))}"
            )
            usage = sum(
                await _with_context(
                    what,
                    self._client.external_metric(
                        name, target.namespace, _metric_selector(metric)
                    ),
                )
            )
            proposal = self._of_one_value(usage, metric_target, target)
        except MetricsError as error:
            more = (
                f"failed to get {name} external metric"
                if average
                else f"failed to get external metric {name}"
            )
            message = f"failed to get {name} external metric value: {more}: {error}"
            raise MetricFailure(
                "FailedGetExternalMetric", str(error), message
            ) from None
        current = {"averageValue" if average else "value": _quantity(proposal.usage)}
        status = {"metric": metric, "current": current}
        return MetricProposal(
            proposal.replicas,
            _external_name(metric),
            {"type": "External", "external": status},
        )

    @staticmethod
    def _of_one_value(
        usage: int, metric_target: Object, target: ScaleTarget
    ) -> Proposal:
        if metric_target.get("averageValue") is not None:
            return target.calculator.per_pod_replicas(
                usage, _milli(metric_target["averageValue"]), target.replicas
            )
        return target.calculator.value_replicas(usage, _milli(metric_target["value"]))


async def _with_context(what: str, request: Awaitable[T]) -> T:
    """The answer; a failure says what it was about."""
    try:
        return await request
    except MetricsError as error:
        raise MetricsError(f"{what}: {error}") from None


def _milli(text: str) -> int:
    return parse_quantity(text).milli()


def _quantity(milli: int) -> str:
    return str(Quantity(milli, -3))


def _metric_selector(metric: Object) -> str:
    """The metric's selector as a query wants it; without one it selects nothing, which
    is everything to these APIs.
    """
    return (
        str(selector_from_label_selector(metric["selector"]))
        if metric.get("selector")
        else ""
    )


def _external_name(metric: Object) -> str:
    return (
        f"external metric {metric['name']}({go_label_selector(metric.get('selector'))})"
    )
