"""Answers to labs/kube-proxy.ipynb, and words for common mistakes. Look here last."""

from base64 import b32encode
from hashlib import sha256

from lifecycle.exercises.lab import Mistake

your_order = [
    "PREROUTING",
    "KUBE-SERVICES",
    "KUBE-SVC",
    "KUBE-SEP",
    "FORWARD",
    "POSTROUTING",
]
your_ends = {
    "a pod → empty": "REJECT",
    "a pod → web, port 81": "nowhere",
    "a stranger → node port 30080": "pod",
    "a stranger → node port 30081 (no pods)": "REJECT",
    "a stranger → port 22 of the node": "node",
    "a stranger → 192.0.2.77 (an external IP)": "pod",
}
your_masqueraded = {
    "a pod elsewhere": False,
    "a stranger, through node port 30080": True,
    "a stranger, through node port 30082 (Local)": False,
    "a program on the node itself": True,
    "a pod that reaches itself": True,
}
your_shares = {"first": 33.3, "second": 22.2, "third": 14.8, "left over": 29.6}


def your_probabilities(n):
    return [1 / (n - i) for i in range(n - 1)] + [None]


def the_same_for_all(n):
    return [1 / n] * n


def your_chain(service_port, protocol):
    digest = sha256((service_port + protocol.lower()).encode()).digest()
    return "KUBE-SVC-" + b32encode(digest).decode()[:16]


def in_capitals(service_port, protocol):
    digest = sha256((service_port + protocol).encode()).digest()
    return "KUBE-SVC-" + b32encode(digest).decode()[:16]


def in_hexadecimal(service_port, protocol):
    digest = sha256((service_port + protocol.lower()).encode())
    return "KUBE-SVC-" + digest.hexdigest().upper()[:16]


MISTAKES = [
    Mistake(
        "order",
        [
            "PREROUTING",
            "KUBE-SERVICES",
            "KUBE-SEP",
            "KUBE-SVC",
            "FORWARD",
            "POSTROUTING",
        ],
        "First the Service draws a lot (`SVC`), then a pod is chosen (`SEP`).",
    ),
    Mistake(
        "ends",
        {"a pod → web, port 81": "REJECT"},
        "It takes a rule to refuse, and none knows this port.",
    ),
    Mistake(
        "ends",
        {"a pod → empty": "nowhere"},
        "A Service without pods has a rule of its own: whoever calls is told.",
    ),
    Mistake(
        "masqueraded",
        {"a pod that reaches itself": False},
        "Otherwise it would get an answer from itself that it never asked for.",
    ),
    Mistake(
        "masqueraded",
        {"a stranger, through node port 30082 (Local)": True},
        "With `Local` the pod is on this node, and the answer comes back here anyway.",
    ),
    Mistake(
        "masqueraded",
        {"a pod elsewhere": True},
        "Between pods nobody hides: that is the network model.",
    ),
    Mistake(
        "shares",
        {"second": 33.3, "third": 33.3, "left over": 0},
        "The second rule only sees what the first has let through.",
    ),
    Mistake(
        "probabilities",
        the_same_for_all,
        "One `n`-th of what is left is less and less.",
        seen=lambda fair: not fair["1 pods"] or not fair["2 pods"],
    ),
    Mistake(
        "chain",
        in_hexadecimal,
        "Base 32 has other letters than hexadecimal.",
        seen=lambda names: all(
            set(n[9:]) <= set("0123456789ABCDEF") for n in names.values()
        ),
    ),
    Mistake(
        "chain",
        in_capitals,
        "The protocol goes into the hash in small letters.",
        seen=lambda names: len(names) > 0,
    ),
]
