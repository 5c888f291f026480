"""What might go wrong in the controllers of Deployments and ReplicaSets."""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.controllers.chosen import chosen_agreement
from lifecycle.agreements.controllers.decisions import scaling_agreement
from lifecycle.agreements.controllers.deployments import QUESTIONS, deployment_agreement
from lifecycle.agreements.controllers.replica_sets import VICTIMS, replica_set_agreement
from lifecycle.agreements.controllers.rolled import rolled_agreement
from lifecycle.api.http.wire import Object
from tests.agreements.sabotages.judged import Answers, Judged, Sabotage, called, opened
from tests.claims.broken.breakage import Wrapped, afterwards, beforehand, constant


def as_if_all_were_there(real: Any) -> Any:
    def reconcile(control: Any, everything: Any, old: Any, new_rs: Object, d: Object) -> Any:
        said = {**new_rs["status"], "availableReplicas": new_rs["spec"]["replicas"]}
        return real(control, everything, old, {**new_rs, "status": said}, d)

    return reconcile


JUDGED = (
    Judged(
        "chosen_agreement",
        chosen_agreement,
        sabotages=(
            Sabotage(
                "costs are not looked at",
                "controllers.replicaset.victim_ranking._deletion_cost",
                constant(0),
                (r"^chosen \| (a low cost.*|a cost of nothing|five of nine)$",),
                because="in each of these somebody says what losing it costs",
            ),
            Sabotage(
                "relatives are not looked at",
                "agreements.controllers.chosen.get_pods_to_delete",
                beforehand(lambda pods, related, diff, now: (pods, pods, diff, now)),
                (r"^chosen \| beside relatives$",),
            ),
            Sabotage(
                "whoever is ready is available",
                "controllers.replicaset.status.is_pod_available",
                constant(True),
                (r"^left \| (one ready since lately is left)$",),
            ),
            Sabotage(
                "restarts are not counted",
                "controllers.replicaset.victim_ranking._restarts",
                constant((0, 0)),
                (r"^chosen \| (restarted|a restarted sidecar|two on a node|a label less|one that is over)$",),
                because="in each of these somebody else goes whose containers were restarted less often",
            ),
        ),
        answers=(
            Answers(
                "whom it chooses",
                "^chosen ",
                called("agreements.controllers.chosen.our_choice", lambda names, *_: [*names, "spoilt"]),
            ),
            Answers(
                "what is said of who is left",
                "^left ",
                called("agreements.controllers.chosen.our_status", lambda status, *_: {**status, "spoilt": 1}),
            ),
        ),
    ),
    Judged(
        "rolled_agreement",
        rolled_agreement,
        sabotages=(
            Sabotage(
                "one revision more is kept",
                "controllers.deployment.deployment_control.by_revision",
                afterwards(lambda alive, *_: alive[1:]),
                ("(one|none) is kept$",),
                because="in both there are old ReplicaSets to be removed",
            ),
            Sabotage(
                "what the new one lacks is not held against the budget",
                "controllers.deployment.rolling.reconcile_old_replica_sets",
                Wrapped(as_if_all_were_there),
                (
                    r"\| (the new ones are not ready|too slow|a failure( of each)?|an old failure|a quarter|a quarter of three)$",
                    r"\| another template$",
                    r"\| (back again|larger, half way|no deadline|nobody is ready|not ready, old and new|two of one template)$",
                    r"\| (slow, and not too slow|somebody's reasons|two old ones|two old ones, one not ready|twelve seconds)$",
                    r"\| (all as before|it (had been|was)|less of|long ago|more (available|new|old|ready)|fewer|some time|too late)",
                ),
                because="in each of these the new one has fewer available than it wants",
            ),
            Sabotage(
                "deadlines are never over",
                "controllers.deployment.progress.deployment_timed_out",
                constant(False),
                (r"\| (too slow|some time ago|some time ago, and in the future|too late already|twelve seconds)$",),
                because="each of these has made no progress for longer than it may",
            ),
            Sabotage(
                "failures are nobody else's business",
                "controllers.deployment.progress.replica_failures",
                constant([]),
                ("failure( of each)?$",),
                because="whether the new ReplicaSet or an old one fails",
            ),
            Sabotage(
                "why something was done is forgotten",
                "controllers.deployment.revisions._copy_deployment_annotations",
                constant(False),
                ("somebody's reasons$",),
            ),
        ),
        answers=(
            Answers(
                "what is there afterwards",
                "",
                called("agreements.controllers.rolled.after", lambda after, *_: {**after, "sets": {}}),
            ),
        ),
    ),
    Judged(
        "scaling_agreement",
        scaling_agreement,
        answers=(
            Answers(
                "sizes, Deployment by Deployment",
                "",
                called(
                    "controllers.deployment.sync.proportional_sizes",
                    lambda sizes, *_: [(rs, size + 1) for rs, size in sizes],
                ),
            ),
        ),
    ),
    Judged(
        "deployment_agreement",
        lambda: deployment_agreement(opened()),
        sabotages=(
            Sabotage(
                "another hash",
                "agreements.controllers.deployments.compute_hash",
                afterwards(lambda text, *_: text[::-1]),
                ("pod-template-hash",),
            ),
            Sabotage(
                "a new ReplicaSet waits before it is ready",
                "controllers.deployment.sync.new_replica_set",
                afterwards(lambda rs, *_: {**rs, "spec": {**rs["spec"], "minReadySeconds": 7}}),
                (QUESTIONS["create replicasets"],),
            ),
            Sabotage(
                "no surge",
                "controllers.deployment.deployment_util.max_surge",
                constant(0),
                tuple(QUESTIONS.values()),
                because="without a surge the roll-out goes other ways from its first step on",
            ),
            Sabotage(
                "nobody is ready",
                "controllers.deployment.progress.calculate_status",
                afterwards(lambda status, *_: {**status, "readyReplicas": 0}),
                (QUESTIONS["update deployments/status"],),
            ),
            Sabotage(
                "an event is told twice",
                "agreements.controllers.deployments._told",
                afterwards(lambda events, *_: events * 2),
                ("each event it wrote or raised",),
            ),
            Sabotage(
                "scaling is told as a warning",
                "agreements.controllers.deployments._told",
                afterwards(lambda events, *_: [{**event, "type": "Warning"} for event in events]),
                ("each event it wrote or raised",),
            ),
            Sabotage(
                "undo goes to the current revision",
                "agreements.controllers.deployments.revision_to_restore",
                beforehand(lambda d, by_number, number: (d, by_number, max(by_number))),
                ("rollout undo",),
            ),
        ),
    ),
    Judged(
        "replica_set_agreement",
        lambda: replica_set_agreement(opened()),
        sabotages=(
            Sabotage(
                "owners do not block",
                "agreements.controllers.replica_sets.new_controller_ref",
                afterwards(lambda reference, *_: {**reference, "blockOwnerDeletion": False}),
                ("owner reference",),
            ),
            Sabotage(
                "pods without labels",
                "agreements.controllers.replica_sets.pod_from_template",
                afterwards(lambda pod, *_: {**pod, "metadata": {**pod["metadata"], "labels": {}}}),
                ("each new pod",),
            ),
            Sabotage(
                "no slow start",
                "agreements.controllers.replica_sets.slow_start_batch",
                beforehand(lambda count, initial, create: (count, max(count, 1), create)),
                ("sizes of the batches",),
            ),
            Sabotage(
                "nobody is ready",
                "agreements.controllers.replica_sets.calculate_status",
                afterwards(lambda status, *_: {**status, "readyReplicas": 0}),
                ("each status it wrote",),
            ),
            Sabotage(
                "the others go",
                "agreements.controllers.replica_sets.get_pods_to_delete",
                afterwards(
                    lambda chosen, pods, *_: [pod for pod in pods if pod not in chosen][: len(chosen)] or chosen
                ),
                (VICTIMS,),
            ),
            Sabotage(
                "events are told of the pod",
                "agreements.controllers.told_events.object_reference",
                afterwards(lambda reference, *_: {**reference, "kind": "Pod"}),
                ("each event it wrote",),
            ),
            Sabotage(
                "each event is told twice",
                "agreements.controllers.replica_sets._told",
                afterwards(lambda events, *_: events * 2),
                ("each event it wrote",),
            ),
            Sabotage(
                "the eleventh of a kind is combined, not the tenth",
                "client.event_correlator.AGGREGATE_MAX_EVENTS",
                11,
                ("each event it wrote",),
            ),
            Sabotage(
                "dependents are orphaned",
                "controllers.garbagecollector.garbage_collector.GarbageCollector._delete",
                beforehand(lambda collector, identity, latest, policy: (collector, identity, latest, "Orphan")),
                ("requests of the garbage collector",),
            ),
        ),
    ),
)
