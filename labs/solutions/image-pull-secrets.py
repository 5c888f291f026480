"""Answers to labs/image-pull-secrets.ipynb, and words for common mistakes. Look here
last.
"""

from fnmatch import fnmatchcase

from lifecycle.exercises.lab import Mistake

your_states = {
    "first": "Running",
    "stranger": "ErrImagePull",
    "colleague": "Running",
    "guesser": "ErrImagePull",
    "messy": "Running",
    "frugal": "ErrImageNeverPull",
}
your_places = {
    "the pod's spec": False,
    "the container's config": False,
    "the Secret": True,
    "what the kubelet keeps about pulls": False,
}


def your_match(entry, image):
    host, slash, path = entry.partition("/")
    registry, rest, mine = image.partition("/")
    (name, _, port), (other, _, my_port) = host.partition(":"), registry.partition(":")
    parts, mine_parts = name.split("."), other.split(".")
    if port != my_port or len(parts) != len(mine_parts):
        return False
    same = all(map(fnmatchcase, mine_parts, parts))
    return same and (rest + mine).startswith(slash + path)


def any_port(entry, image):
    host, slash, path = entry.partition("/")
    registry, rest, mine = image.partition("/")
    parts = host.partition(":")[0].split(".")
    others = registry.partition(":")[0].split(".")
    same = len(parts) == len(others) and all(map(fnmatchcase, others, parts))
    return same and (rest + mine).startswith(slash + path)


def only_the_host(entry, image):
    parts = entry.partition("/")[0].split(".")
    others = image.partition("/")[0].split(".")
    return len(parts) == len(others) and all(map(fnmatchcase, others, parts))


def whole_paths(entry, image):
    host, _, path = entry.partition("/")
    registry, _, mine = image.partition("/")
    (name, _, port), (other, _, my_port) = host.partition(":"), registry.partition(":")
    parts, others = name.split("."), other.split(".")
    same = len(parts) == len(others) and all(map(fnmatchcase, others, parts))
    return same and port == my_port and (not path or mine.startswith(path + "/"))


def a_star_for_anything(entry, image):
    return fnmatchcase(image.partition("/")[0], entry.partition("/")[0]) and (
        image.partition("/")[2].startswith(entry.partition("/")[2])
    )


MISTAKES = [
    Mistake(
        "states",
        {"stranger": "Running"},
        "Present is not permitted: it has to show what the first one had to show.",
    ),
    Mistake(
        "states",
        {"colleague": "ErrImagePull"},
        "The same password counts, under whatever name.",
    ),
    Mistake(
        "states",
        {"messy": "ErrImagePull"},
        "A Secret that is missing is a warning and nothing more.",
    ),
    Mistake(
        "states",
        {"frugal": "Running"},
        "It may not use what is here without asking, and it may not ask.",
    ),
    Mistake(
        "places",
        {"the container's config": True},
        "It goes to the runtime with the pull, and from there to the registry.",
    ),
    Mistake(
        "places",
        {"what the kubelet keeps about pulls": True},
        "It keeps a hash. To compare, that is enough.",
    ),
    Mistake(
        "places",
        {"the Secret": False},
        "base64 hides nothing: whoever may read the Secret may read the password.",
    ),
    Mistake(
        "match",
        a_star_for_anything,
        "A star may not cross a dot: compare the parts, and their number.",
        seen=lambda said: said["*.example", "eu.registry.example/team/nginx"],
    ),
    Mistake(
        "match",
        only_the_host,
        "The path counts as well.",
        seen=lambda said: said["registry.example/team", "registry.example/other/nginx"],
    ),
    Mistake(
        "match",
        any_port,
        "Another port may be somebody else's: it has to be the same.",
        seen=lambda said: said["registry.example", "registry.example:5000/nginx"],
    ),
    Mistake(
        "match",
        whole_paths,
        "The path is compared as text, and `team` begins `team2`.",
        seen=lambda said: (
            not said["registry.example/team", "registry.example/team2/nginx"]
        ),
    ),
]
