"""Where an autoscaler's numbers come from: three APIs that others serve behind the
aggregator.

`metrics.k8s.io` (a metrics server) knows what pods use, `custom.metrics.k8s.io` what
objects of the cluster say, `external.metrics.k8s.io` what lies outside. None is there
unless somebody installed it. All values are in thousandths.

Upstream: `pkg/controller/podautoscaler/metrics/client.go` (`restMetricsClient`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api import fast_json
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.http.generic_server_response import generic_server_response
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client

DEFAULT_WINDOW = 60.0


class MetricsError(Exception):
    """No numbers to be had."""


@dataclass(slots=True, frozen=True)
class PodMetric:
    """What a pod used on average over the `window` seconds before `timestamp`."""

    value: int
    timestamp: float = 0.0
    window: float = DEFAULT_WINDOW


class MetricsClient:
    """Asks the three."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def resource_metric(
        self, resource: str, namespace: str, selector: str, container: str = ""
    ) -> dict[str, PodMetric]:
        """What the selected pods (or their containers of that name) use of a resource,
        by pod. Raises MetricsError.
        """
        path, what = (
            f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods",
            "pods.metrics.k8s.io",
        )
        items = await self._items(path, what, "resource", {"labelSelector": selector})
        metrics: dict[str, PodMetric] = {}
        for item in items:
            pod = item["metadata"]["name"]
            measured = [
                each
                for each in item.get("containers") or ()
                if container in ("", each["name"])
            ]
            amounts: list[str | None] = [
                (each.get("usage") or {}).get(resource) for each in measured
            ]
            if container and not amounts:
                where = (
                    f"container {container} not present in metrics for pod"
                    f" {namespace}/{pod}"
                )
                raise MetricsError(f"failed to get container metrics: {where}")
            known = [
                parse_quantity(amount).milli()
                for amount in amounts
                if amount is not None
            ]
            if known and len(known) == len(amounts):
                window = parse_duration(item.get("window") or "0")
                metrics[pod] = PodMetric(
                    sum(known), parse_time(item["timestamp"]), window
                )
        return metrics

    async def pods_metric(
        self, metric: str, namespace: str, selector: str, metric_selector: str
    ) -> dict[str, PodMetric]:
        """A metric of each of the selected pods. Raises MetricsError."""
        query = {"labelSelector": selector, "metricLabelSelector": metric_selector}
        path = (
            f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/pods/*/"
            f"{metric}"
        )
        metrics: dict[str, PodMetric] = {}
        for item in await self._items(path, "", "custom", query):
            window = float(item.get("windowSeconds") or DEFAULT_WINDOW)
            value = parse_quantity(item["value"]).milli()
            metrics[item["describedObject"]["name"]] = PodMetric(
                value, parse_time(item["timestamp"]), window
            )
        return metrics

    async def object_metric(
        self,
        metric: str,
        namespace: str,
        row: Resource,
        name: str,
        metric_selector: str,
    ) -> int:
        """A metric of one object; of a namespace only its own. Raises MetricsError."""
        plural = f"{row.plural}.{row.group}" if row.group else row.plural
        place = (
            "metrics"
            if row.kind == "Namespace" and not row.group
            else f"{plural}/{name}"
        )
        path = (
            f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/{place}/"
            f"{metric}"
        )
        items = await self._items(
            path, "", "custom", {"metricLabelSelector": metric_selector}
        )
        return parse_quantity(items[0]["value"]).milli()

    async def external_metric(
        self, metric: str, namespace: str, selector: str
    ) -> list[int]:
        """All values of a metric from outside. Raises MetricsError."""
        path = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{metric}"
        what = f"{metric}.external.metrics.k8s.io"
        items = await self._items(path, what, "external", {"labelSelector": selector})
        return [parse_quantity(item["value"]).milli() for item in items]

    async def _items(
        self, path: str, what: str, api: str, query: dict[str, str]
    ) -> list[Object]:
        where = f"{api} metrics API"
        try:
            response = await self._client.request("GET", path, query=query)
        except StatusError as error:
            raise MetricsError(
                f"unable to fetch metrics from {where}: {_error_message(error, what)}"
            ) from None
        document = (
            response.obj
            if response.obj is not None
            else fast_json.loads(response.body or b"{}")
        )
        items: list[Object] = document.get("items") or []
        if not items:
            raise MetricsError(f"no metrics returned from {where}")
        return items


def _error_message(error: StatusError, what: str) -> str:
    """The server's own words; if it is no API server that answered, what a client makes
    of that.
    """
    if "kind" in error.status:
        return error.message
    if error.code == 404 and not what:  # discovery is asked first, and does not find it
        return "no custom metrics API (custom.metrics.k8s.io) registered"
    words = generic_server_response(error.code, error.message).message
    return f"{words} (get {what})" if what else words
