"""What might go wrong in the scheduler and with its decision."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from tests.claims.broken.breakage import Breakage, Wrapped, constant, nothing

CHECKS = "agreements.claim_checks"


def _announces_itself(run: Any) -> Any:
    async def later(self: Any) -> None:
        note = {"metadata": {"name": f"scheduler-{id(self)}"}}
        with suppress(StatusError):
            await self._client.create(resource("configmaps"), note, "kube-system")
        with suppress(StatusError):
            await self._client.request("GET", "/apis/metrics.k8s.io/v1beta1/nodes")
        await run(self)

    return later


BREAKAGES = (
    Breakage(
        "every node looks as good",
        "scheduler.framework.plugins.node_resources_fit.STRATEGIES",
        {"LeastAllocated": constant(0)},
        ("scheduler-favours-least-requested-nodes",),
    ),
    Breakage(
        "everything fits everywhere",
        "scheduler.framework.plugins.node_resources_fit.insufficient_resources",
        constant([]),
        (
            "scheduler-resource-requests-are-checked",
            "scheduler-capacity-is-total-minus-requests",
            "scheduler-counts-running-containers-only",
        ),
    ),
    Breakage(
        "the worst node is chosen",
        "scheduler.schedule_pod.best_total",
        min,
        ("scheduler-highest-rank-wins", "scheduler-favours-least-requested-nodes"),
    ),
    Breakage(
        "all nodes are looked at, however many",
        "scheduler.schedule_pod.num_feasible_nodes_to_find",
        lambda total, *_: total,
        ("scheduler-filters-run-on-all-schedulable-nodes",),
    ),
    Breakage(
        "no pod is mine",
        "scheduler.scheduler.Scheduler._responsible_for_pod",
        constant(False),
        (
            "scheduler-runs-in-control-plane-as-controller",
            "scheduler-custom-scheduler-as-deployment",
            "scheduler-scheduler-name-hands-over",
        ),
    ),
    Breakage(
        "pods with a node are queued",
        "scheduler.event_handlers.EventHandlers._assigned",
        constant(False),
        ("scheduler-picks-pods-without-node-name",),
    ),
    Breakage(
        "the model tolerates every taint",
        "historical.scheduler.predicates.PREDICATES.PodToleratesNodeTaints",
        constant([]),
        ("scheduler-default-predicates-filter-nodes",),
    ),
    Breakage(
        "the model's priorities are all the same",
        f"{CHECKS}.scheduler.DEFAULT_PRIORITIES",
        {},
        ("scheduler-scores-after-filtering",),
    ),
    Breakage(
        "the policy file is not read",
        f"{CHECKS}.custom_schedulers.parse_policy",
        Wrapped(lambda parse: lambda document: parse({"kind": "Policy", "apiVersion": "v1"})),
        ("scheduler-policy-config-file-flag",),
    ),
    Breakage(
        "scores are given before anybody is filtered",
        "scheduler.schedule_pod.Algorithm._prioritize_nodes",
        Wrapped(
            lambda score: (
                lambda self, state, info, nodes: (
                    tuple(score(self, state, info, self.snapshot.node_info_list)),
                    score(self, state, info, nodes),
                )[1]
            )
        ),
        ("scheduler-scores-before-checking-fit",),
    ),
    Breakage(
        "bindings are not sent",
        "scheduler.framework.plugins.default_binder.DefaultBinder.bind",
        nothing,
        (
            "scheduler-runs-in-control-plane-as-controller",
            "scheduler-custom-scheduler-as-deployment",
            "wrap-up-each-pod-assigned-to-suitable-node",
            "wrap-up-objects-in-store",
            "wrap-up-only-in-etcd-until-kubelet-acts",
        ),
    ),
    Breakage(
        "tainted nodes are as good as others",
        "scheduler.framework.plugins.taint_toleration.TaintToleration.filter",
        constant(None),
        ("wrap-up-each-pod-assigned-to-suitable-node",),
    ),
    Breakage(
        "a binding names nobody",
        "scheduler.framework.plugins.default_binder.DefaultBinder.bind",
        Wrapped(
            lambda bind: (
                lambda self, state, pod, node: bind(
                    self, state, {**pod, "metadata": {**pod["metadata"], "uid": "?"}}, ""
                )
            )
        ),
        ("binding-carries-pod-name-and-uid", "binding-target-names-the-node"),
    ),
    Breakage(
        "a binding is put",
        "client.rest.Client.create",
        lambda self, resource, obj, namespace="", **_: self._object(
            "PUT", resource.path(namespace, obj["metadata"]["name"]), {}, obj
        ),
        ("binding-posted-to-api-server",),
    ),
    Breakage(
        "a scheduler announces itself",
        "scheduler.scheduler.Scheduler.run",
        Wrapped(_announces_itself),
        ("scheduler-schedulers-register-their-name", "scheduler-scores-use-usage-metrics"),
    ),
)
