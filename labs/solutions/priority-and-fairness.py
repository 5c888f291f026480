"""Answers to labs/priority-and-fairness.ipynb, and words for common mistakes."""

from lifecycle.exercises.lab import Mistake

your_rooms = {
    ("you", "POST", "/apis/apps/v1/namespaces/shop/deployments"): "global-default",
    ("the master", "POST", "/apis/apps/v1/namespaces/shop/deployments"): "exempt",
    ("a kubelet", "PATCH", "/api/v1/nodes/one/status"): "node-high",
    ("a kubelet", "GET", "/api/v1/namespaces/shop/secrets/db"): "system",
    (
        "the scheduler",
        "POST",
        "/api/v1/namespaces/shop/pods/web/binding",
    ): "workload-high",
    ("a controller", "POST", "/api/v1/namespaces/shop/pods"): "workload-high",
    ("a loop", "GET", "/api/v1/pods"): "workload-low",
    ("you", "GET", "/livez"): "exempt",
}
your_flows = {
    "two kubelets": False,
    "two controllers, one namespace": True,
    "one controller, two namespaces": False,
    "a loop, two namespaces": True,
    "you and your script, with your kubeconfig": True,
}


def your_deal(value, deck, hand):
    rest, cards = list(range(deck)), []
    for _ in range(min(hand, deck)):
        value, card = divmod(value, len(rest))
        cards.append(rest.pop(card))
    return tuple(cards)


def the_card_stays(value, deck, hand):
    cards = []
    for _ in range(hand):
        value, card = divmod(value, deck)
        cards.append(card)
    return tuple(cards)


your_seconds = {"one queue": 51, "fair queues": 2, "the same name": 51}


def schema(rank, verbs, **more):
    subject = {
        "kind": "ServiceAccount",
        "serviceAccount": {"namespace": "scripts", "name": "loop"},
    }
    rule = {
        "verbs": verbs,
        "apiGroups": ["*"],
        "resources": ["*"],
        "namespaces": ["*"],
        **more,
    }
    return {
        "matchingPrecedence": rank,
        "priorityLevelConfiguration": {"name": "catch-all"},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [{"subjects": [subject], "resourceRules": [rule]}],
    }


your_schema = {
    "matchingPrecedence": 8000,
    "priorityLevelConfiguration": {"name": "catch-all"},
    "distinguisherMethod": {"type": "ByUser"},
    "rules": [
        {
            "subjects": [
                {
                    "kind": "ServiceAccount",
                    "serviceAccount": {"namespace": "scripts", "name": "loop"},
                }
            ],
            "resourceRules": [
                {
                    "verbs": ["get", "list", "watch"],
                    "apiGroups": ["*"],
                    "resources": ["*"],
                    "namespaces": ["*"],
                    "clusterScope": True,
                }
            ],
        }
    ],
}

MISTAKES = [
    Mistake(
        "rooms",
        {("you", "POST", "/apis/apps/v1/namespaces/shop/deployments"): "exempt"},
        "Only members of `system:masters` never wait, and you are not one.",
    ),
    Mistake(
        "rooms",
        {("a kubelet", "GET", "/api/v1/namespaces/shop/secrets/db"): "node-high"},
        "That room is for requests that say that the node is alive.",
    ),
    Mistake(
        "rooms",
        {("you", "GET", "/livez"): "global-default"},
        "Health checks never wait, whoever asks.",
    ),
    Mistake(
        "flows",
        {"two controllers, one namespace": False},
        "For controllers it is the namespace of the request that counts.",
    ),
    Mistake(
        "flows",
        {"a loop, two namespaces": False},
        "An ordinary account is told apart by its name.",
    ),
    Mistake(
        "flows",
        {"you and your script, with your kubeconfig": False},
        "The server sees a name, and not a program.",
    ),
    Mistake(
        "deal",
        the_card_stays,
        "Some hands have a queue twice: a drawn card has left the deck.",
        seen=lambda hands: any(len(set(hand)) < len(hand) for hand in hands.values()),
    ),
    Mistake(
        "seconds",
        {"fair queues": 51},
        "The elephant's requests lie in its own queues.",
    ),
    Mistake(
        "seconds",
        {"the same name": 2},
        "Whose name is it that the queues are dealt by?",
    ),
    Mistake(
        "seconds",
        {"one queue": 101},
        "There are two seats.",
    ),
    Mistake(
        "schema",
        schema(9500, ["get", "list", "watch"], clusterScope=True),
        "Another schema fits the loop, and is asked before this one.",
        seen=lambda rooms: "catch-all" not in rooms.values(),
    ),
    Mistake(
        "schema",
        schema(8000, ["get", "list", "watch"]),
        "A list of all pods is about no namespace.",
        seen=lambda rooms: (
            rooms["the loop lists all pods"] != "catch-all"
            and rooms["the loop reads a pod"] == "catch-all"
        ),
    ),
    Mistake(
        "schema",
        schema(8000, ["list"], clusterScope=True),
        "Three verbs read.",
        seen=lambda rooms: rooms["the loop reads a pod"] == "workload-low",
    ),
    Mistake(
        "schema",
        schema(8000, ["*"], clusterScope=True),
        "Its writes stay where they were.",
        seen=lambda rooms: rooms["the loop writes"] == "catch-all",
    ),
]
