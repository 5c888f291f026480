"""Scenarios that a page offers: each shows one thing, and says what to look for."""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.playground.scenario import Scenario, Step

CREATE = Step(0, "kubectl create deployment nginx --image=nginx --replicas=3")


@dataclass(slots=True, frozen=True)
class Lesson:
    """`look`: what there is to see. `chapter`: where it is told."""

    name: str
    title: str
    look: str
    chapter: str
    scenario: Scenario


LESSONS = (
    Lesson(
        "journey",
        "The journey",
        "One command becomes a Deployment, a ReplicaSet and three pods on two nodes;"
        " the third node belongs to the control plane, and takes none of them.",
        "wrap-up/the-whole-journey",
        Scenario(steps=(CREATE,)),
    ),
    Lesson(
        "hanging-rollout",
        "The roll-out that hangs",
        "The new image does not exist. One new pod waits for it for ever, and the"
        " Deployment takes away no more old ones than it may.",
        "control-loops/deployments",
        Scenario(
            steps=(
                CREATE,
                Step(10, "kubectl set image deployment/nginx nginx=nginx:no-such"),
                Step(12, "kubectl get pods -w"),
            )
        ),
    ),
    Lesson(
        "failing-probe",
        "A probe that fails",
        "The new pod runs and is never ready: its readiness probe knocks at the wrong"
        " port. No Service would send it anything.",
        "kubelet/probes",
        Scenario(
            steps=(
                CREATE,
                Step(5, "kubectl expose deployment nginx --port=80"),
                Step(10, "kubectl apply --server-side -f failing-probe.yaml"),
            )
        ),
    ),
    Lesson(
        "node-lost",
        "A node dies",
        "For most of a minute nobody knows. Then the node is NotReady; five minutes"
        " later its pods are given up, and others take their place.",
        "kubelet/status",
        Scenario(speed=30, steps=(CREATE, Step(10, "break node lifecycle-worker"))),
    ),
    Lesson(
        "full-quota",
        "A full quota",
        "Two pods may exist, three are wanted. The ReplicaSet keeps trying, less and"
        " less often, and says so in its events.",
        "apiserver/admission",
        Scenario(
            steps=(
                Step(0, "kubectl create quota full --hard=pods=2"),
                Step(1, CREATE.line),
            )
        ),
    ),
    Lesson(
        "no-scheduler",
        "Nobody schedules",
        "Without a scheduler pods exist and belong nowhere. When it comes back it finds"
        " them waiting.",
        "control-loops/scheduler",
        Scenario(
            steps=(
                Step(0, "break component kube-scheduler"),
                Step(1, CREATE.line),
                Step(20, "mend component kube-scheduler"),
            )
        ),
    ),
    Lesson(
        "lost-watch",
        "Watches that break",
        "The controllers hear nothing while pods are deleted. Their watches come back,"
        " they see what they have missed, and make up for it.",
        "control-loops/informers",
        Scenario(
            steps=(
                CREATE,
                Step(10, "break link kube-controller-manager"),
                Step(11, "kubectl delete pods --all --wait=false"),
                Step(25, "mend link kube-controller-manager"),
            )
        ),
    ),
    Lesson(
        "nowhere-to-go",
        "A pod that fits nowhere",
        "It asks for more than any node has. It stays Pending, and the event says why"
        " for each node.",
        "control-loops/the-scheduling-queue",
        Scenario(steps=(Step(0, "kubectl apply -f too-big.yaml"),)),
    ),
)
