"""A HorizontalPodAutoscaler: what it looks at, how far from the target that is, and how
fast it may go.

Upstream: `kubectl/pkg/describe/describe.go` (`describeHorizontalPodAutoscalerV2`,
`printDirectionBehavior`), v1.36. Left out: `autoscaling/v1`, for servers before 1.23.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import canonical_quantity
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter

UNKNOWN = "<unknown>"


async def describe_horizontal_pod_autoscaler(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a HorizontalPodAutoscaler. Raises StatusError."""
    hpa = await client.get("horizontalpodautoscalers.autoscaling", namespace, name)
    events = await events_of(client, hpa)
    w = PrefixWriter()
    spec, status = hpa["spec"], hpa.get("status") or {}
    print_metadata(w, hpa)
    created = rfc1123z(hpa["metadata"].get("creationTimestamp"))
    w.field(0, "CreationTimestamp", created)
    target = spec["scaleTargetRef"]
    w.field(0, "Reference", f"{target['kind']}/{target['name']}")
    w.field(0, "Metrics", "( current / target )")
    current = status.get("currentMetrics") or ()
    for i, metric in enumerate(spec.get("metrics") or ()):
        w.write(1, _metric(metric, current[i] if i < len(current) else {}) + "\n")
    least = spec.get("minReplicas")
    w.field(0, "Min replicas", "<unset>" if least is None else least)
    w.field(0, "Max replicas", spec["maxReplicas"])
    if (behavior := spec.get("behavior")) is not None:
        w.write(0, "Behavior:\n")
        _behavior("Scale Up", behavior.get("scaleUp"), w)
        _behavior("Scale Down", behavior.get("scaleDown"), w)
    now, wanted = status.get("currentReplicas", 0), status.get("desiredReplicas", 0)
    w.field(0, f"{target['kind']} pods", f"{now} current / {wanted} desired")
    conditions = status.get("conditions") or ()
    if conditions:
        w.write(0, "Conditions:\n")
        w.header(1, "Type", "Status", "Reason", "Message")
    for each in conditions:
        reason, message = each.get("reason", ""), each.get("message", "")
        w.row(1, each["type"], each["status"], reason, message)
    describe_events(events, w)
    return w.tabbed


def _metric(metric: Object, current: Object) -> str:
    """What is looked at, a tab, and the current value and the target."""
    kind = metric["type"]
    field = kind[:1].lower() + kind[1:]
    if field not in ("external", "pods", "object", "resource", "containerResource"):
        return f"<unknown metric type {go_quote(kind)}>"
    source = metric[field]
    now = current.get(field)
    if field == "pods":
        title = f"{go_quote(source['metric']['name'])} on pods"
        return f"{title}:\t{_values(now, source, 'averageValue')}"
    if field in ("resource", "containerResource"):
        return _resource(source, now)
    name = source["metric"]["name"]
    title = go_quote(name)
    if field == "object":
        about = source["describedObject"]
        title = f'"{name}" on {about["kind"]}/{about["name"]}'
    average = (
        source["target"].get("averageValue") is not None
        if field == "external"
        else source["target"]["type"] == "AverageValue"
    )
    if average:
        values = _values(now, source, "averageValue")
        return f"{title} (target average value):\t{values}"
    return f"{title} (target value):\t{_values(now, source, 'value')}"


def _values(now: Object | None, source: Object, field: str) -> str:
    current = (
        UNKNOWN if now is None else _quantity((now.get("current") or {}).get(field))
    )
    return f"{current} / {_quantity(source['target'].get(field))}"


def _quantity(value: Any) -> str:
    return "<nil>" if value is None else canonical_quantity(value)


def _resource(source: Object, now: Object | None) -> str:
    of = f' of container "{source["container"]}"' if "container" in source else ""
    title = f"resource {source['name']}{of} on pods"
    target = source["target"]
    if target.get("averageValue") is not None:
        return f"{title}:\t{_values(now, source, 'averageValue')}"
    percent = target.get("averageUtilization")
    goal = "<auto>" if percent is None else f"{percent}%"
    share = ((now or {}).get("current") or {}).get("averageUtilization")
    current = UNKNOWN
    if now is not None and share is not None:
        current = f"{share}% ({_quantity(now['current'].get('averageValue'))})"
    return f"{title}  (as a percentage of request):\t{current} / {goal}"


def _behavior(direction: str, rules: Object | None, w: PrefixWriter) -> None:
    if rules is None:
        return
    w.write(1, f"{direction}:\n")
    window = rules.get("stabilizationWindowSeconds")
    if window is not None:
        w.write(2, f"Stabilization Window: {window} seconds\n")
    policies = rules.get("policies") or ()
    if policies:
        w.write(2, f"Select Policy: {rules.get('selectPolicy') or 'Max'}\n")
        w.write(2, "Policies:\n")
    for policy in policies:
        w.row(
            3,
            f"- Type: {policy['type']}",
            f"Value: {policy['value']}",
            f"Period: {policy['periodSeconds']} seconds",
        )
