"""Who goes first, and how many may go at once: PriorityClasses and
PodDisruptionBudgets.

Upstream: `kubectl/pkg/describe/describe.go` (`describePriorityClass`,
`describePodDisruptionBudgetV1`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.labels import format_label_selector
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.multiline import format_labels
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_priority_class(client: Clientset, namespace: str, name: str) -> str:
    """Describe a PriorityClass. Raises StatusError."""
    priority = await client.get("priorityclasses.scheduling.k8s.io", "", name)
    events = await events_of(client, priority)
    w = PrefixWriter()
    w.field(0, "Name", priority["metadata"]["name"])
    w.field(0, "Value", priority.get("value", 0))
    w.field(0, "GlobalDefault", bool(priority.get("globalDefault")))
    w.field(0, "PreemptionPolicy", priority["preemptionPolicy"])
    w.field(0, "Description", priority.get("description", ""))
    w.field(0, "Annotations", format_labels(priority["metadata"].get("annotations")))
    describe_events(events, w)
    return w.tabbed


async def describe_pod_disruption_budget(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a PodDisruptionBudget. Raises StatusError."""
    budget = await client.get("poddisruptionbudgets.policy", namespace, name)
    events = await events_of(client, budget)
    w = PrefixWriter()
    spec, status = budget.get("spec") or {}, budget.get("status") or {}
    w.field(0, "Name", budget["metadata"]["name"])
    w.field(0, "Namespace", budget["metadata"].get("namespace", ""))
    if spec.get("minAvailable") is not None:
        w.field(0, "Min available", spec["minAvailable"])
    elif spec.get("maxUnavailable") is not None:
        w.field(0, "Max unavailable", spec["maxUnavailable"])
    selector = spec.get("selector")
    words = "<unset>" if selector is None else format_label_selector(selector)
    w.field(0, "Selector", words)
    w.write(0, "Status:\n")
    for title, field in (
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ):
        w.field(2, title, status.get(field, 0))
    describe_events(events, w)
    return w.tabbed
