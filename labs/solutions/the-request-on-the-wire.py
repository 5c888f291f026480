"""Answers to labs/the-request-on-the-wire.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_requests = {
    "create deployment nginx --image=nginx": ["POST"],
    "run nginx --image=nginx": ["POST"],
    "run nginx --image=nginx --port=80 --expose": ["POST", "POST"],
    "scale deployment nginx --replicas=3": ["GET", "PATCH"],
    "set image deployment/nginx nginx=nginx:2": ["GET", "PATCH"],
    "label deployment nginx a=b": ["GET", "PATCH"],
    "run nginx --image=nginx --dry-run=client": [],
    "run nginx --image=nginx --dry-run=server": ["POST"],
}
your_types = {
    "scale deployment nginx --replicas=3": "application/merge-patch+json",
    "set image deployment/nginx nginx=nginx:2": (
        "application/strategic-merge-patch+json"
    ),
    "label deployment nginx a=b": "application/merge-patch+json",
}
your_seconds = {"at once": 4, "after a minute": 4}
your_trace = {
    ("Authorization", "Bearer eyJhbGciOi"): "Bearer <masked>",
    ("Authorization", "Basic YWxpY2U6c2VjcmV0"): "Basic <masked>",
    ("Authorization", "MyOwnScheme secret"): "<masked>",
    ("User-Agent", "kubectl/v1.36.2"): "kubectl/v1.36.2",
}
your_pair = {0, 1}


def your_wait(status, headers):
    after = headers.get("retry-after", "")
    asked = status == 429 or status >= 500
    return int(after) if asked and after.isdecimal() else None


def whatever_the_status(status, headers):
    after = headers.get("retry-after", "")
    return int(after) if after.isdecimal() else None


def nothing_means_a_second(status, headers):
    if status != 429 and status < 500:
        return None
    after = headers.get("retry-after", "1")
    return int(after) if after.isdecimal() else 1


MISTAKES = [
    Mistake(
        "requests",
        {"scale deployment nginx --replicas=3": ["PATCH"]},
        "It reads the Deployment first, to find out what kind of thing is there.",
    ),
    Mistake(
        "requests",
        {"set image deployment/nginx nginx=nginx:2": ["GET", "PUT"]},
        "Only the difference is sent: nobody else's change should be lost.",
    ),
    Mistake(
        "requests",
        {"run nginx --image=nginx --port=80 --expose": ["POST"]},
        "A Service is an object of its own.",
    ),
    Mistake(
        "requests",
        {"run nginx --image=nginx --dry-run=server": []},
        "The server can only work it out if it is asked.",
    ),
    Mistake(
        "types",
        {"set image deployment/nginx nginx=nginx:2": "application/merge-patch+json"},
        "That would replace the list of containers as a whole.",
    ),
    Mistake(
        "types",
        {"label deployment nginx a=b": "application/strategic-merge-patch+json"},
        "Labels are no list: the plain one is enough, and every kind understands it.",
    ),
    Mistake(
        "seconds",
        {"at once": 6},
        "Ten of the thirty need not wait: they leave at once.",
    ),
    Mistake(
        "seconds",
        {"after a minute": 0},
        "In a minute 300 would have been earned, but a bucket of ten holds ten.",
    ),
    Mistake(
        "trace",
        {("Authorization", "MyOwnScheme secret"): "MyOwnScheme <masked>"},
        "In an unknown scheme nobody knows which word is the secret.",
    ),
    Mistake(
        "trace",
        {("Authorization", "Bearer eyJhbGciOi"): "<masked>"},
        "That it is a bearer token is no secret.",
    ),
    Mistake(
        "pair",
        {2, 3},
        "Compare the whole path: one of these asks for the ReplicaSets.",
    ),
    Mistake(
        "wait",
        whatever_the_status,
        "A 404 stays a 404, whatever its headers say.",
        seen=lambda waits: waits["404 7"] is not None,
    ),
    Mistake(
        "wait",
        nothing_means_a_second,
        "A server that does not say when is not asked again.",
        seen=lambda waits: waits["503 nothing"] is not None,
    ),
]
