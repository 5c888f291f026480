"""Answers to labs/binding.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake


async def your_scheduler(client):
    waiting = [
        pod
        for pod in (await client.list(PODS, "default"))["items"]
        if not pod["spec"].get("nodeName")
    ]
    for number, pod in enumerate(waiting):
        await bind(client, pod, NODES[number % len(NODES)])


async def all_on_one_node(client):
    for pod in (await client.list(PODS, "default"))["items"]:
        await bind(client, pod, NODES[0])


async def only_the_first_pod(client):
    pod = (await client.list(PODS, "default"))["items"][0]
    await bind(client, pod, NODES[0])


your_kind = "Status"
your_codes = {"with the uid": 409, "without it": 201}
your_fate = None
your_gate = {"reason": "SchedulingGated", "placed": True}

MISTAKES = [
    Mistake(
        "scheduler",
        all_on_one_node,
        "They all run, but one node has more than its share: take turns.",
        seen=lambda came: came["running"] == 6 and came["on the fuller node"] > 3,
    ),
    Mistake(
        "scheduler",
        only_the_first_pod,
        "Some pods are still waiting: nobody but you binds them, so go through all.",
        seen=lambda came: came["running"] < 6,
    ),
    Mistake(
        "kind",
        "Binding",
        "That is what you send. Nothing of that kind is stored, so nothing of it can"
        " come back.",
    ),
    Mistake(
        "kind",
        "Pod",
        "The pod is what changes, but a subresource need not answer with it.",
    ),
    Mistake(
        "codes",
        {"with the uid": 201},
        "The uid that you send is the old pod's: the new one has another.",
    ),
    Mistake(
        "codes",
        {"with the uid": 404},
        "There is a pod of that name. It is another one, which is a conflict.",
    ),
    Mistake(
        "codes",
        {"without it": 409},
        "Without a uid nothing tells the two pods apart: the name fits.",
    ),
    Mistake(
        "fate",
        "Pending",
        "That is true after ten seconds. Who looks after pods whose node is missing?",
    ),
    Mistake(
        "fate",
        "Failed",
        "For a moment, perhaps. Whoever gives up such a pod removes it as well.",
    ),
    Mistake(
        "gate",
        {"reason": "Unschedulable"},
        "That is said of a pod for which nodes were tried. This one was not even looked"
        " at.",
    ),
    Mistake(
        "gate",
        {"placed": False},
        "Lifting the gate is a change of the pod, and the scheduler watches pods.",
    ),
]
