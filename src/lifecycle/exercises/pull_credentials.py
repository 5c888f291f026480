"""Which of the passwords that are here fit an image, and in which order?"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.images.credentials import Keyring

CONTRACT = """\
credentials(entries, image) -> the entries that fit, in the order in which they are
tried.

entries: as they stand in a docker config: the name of a registry, perhaps with a
         scheme, a port, a path; "/v1/" and "/v2/" at the front of a path are only the
         version of the registry's API.
image:   without tag and digest.

An entry fits if the port is the same, the host's name has as many parts, each of which
fits ("*" stands for any text inside one part), and the entry's path begins the image's.
The entries are tried in the order of the alphabet, backwards, so that the longer of two
comes first; what counts is the text without scheme and version.
An image belongs to Docker's hub if it has one part only, if its first part has neither
a dot nor a colon, or if it names docker.io or index.docker.io. If nothing else fits it,
the entry for index.docker.io does."""

STARTER = '''\
def credentials(entries, image):
    """The entries that fit an image, the one to be tried first in front."""
    return [entry for entry in sorted(entries) if image.startswith(entry)]
'''

ENTRIES = (
    "registry.example",
    "https://registry.example",
    "registry.example/team",
    "https://registry.example/v2/team",
    "registry.example/team/app",
    "registry.example:5000",
    "registry.example:5000/team/",
    "*.example",
    "*.example/team",
    "eu-*.registry.example",
    "*.registry.example",
    "*.*.example",
    "https://index.docker.io/v1/",
    "docker.io",
    "*.docker.io",
    "localhost:5000",
    "http://10.0.0.7:5000/v1/",
)
IMAGES = (
    "nginx",
    "library/nginx",
    "docker.io/library/nginx",
    "index.docker.io/library/nginx",
    "registry.example/nginx",
    "registry.example/team/app",
    "registry.example/team2/app",
    "registry.example:5000/team/app",
    "eu-1.registry.example/team/app",
    "eu.registry.example/app",
    "a.eu.registry.example/app",
    "other.example/team/app",
    "localhost:5000/app",
    "10.0.0.7:5000/app",
)
SEEDS = 6


def cases() -> Iterator[Case]:
    """Each image with each entry alone, with all of them, and with some."""
    for image in IMAGES:
        for entry in ENTRIES:
            yield _case("one entry", f"{entry} for {image}", [entry], image)
        yield _case("all of them", image, list(ENTRIES[::2]), image)
        for seed in range(SEEDS):
            dice = Random(f"{image} {seed}")
            entries = dice.sample(_apart(dice), 6)
            yield _case("some of them", f"{image}, {seed}", entries, image)


def _apart(dice: Random) -> list[str]:
    """Entries of which no two are the same but for their spelling."""
    mixed = dice.sample(ENTRIES, len(ENTRIES))
    return list({_plain(entry): entry for entry in mixed}.values())


def _plain(entry: str) -> str:
    plain = entry.split("://")[-1].replace("/v1/", "/").replace("/v2/", "/")
    return plain.rstrip("/")


def _case(group: str, label: str, entries: list[str], image: str) -> Case:
    return Case(
        group,
        label.replace("/", "∕"),
        credentials(entries, image),
        lambda attempt: attempt(entries, image),
        [entries, image],
    )


def credentials(entries: list[str], image: str) -> list[str]:
    """The book's own keyring; users are called as their entries."""
    keyring = Keyring()
    keyring.add({entry: AuthConfig(username=entry) for entry in entries})
    return [tracked.auth.username for tracked in keyring.lookup(image)]


def ours() -> Attempt:
    """The book's."""
    return credentials


EXERCISE = Exercise(
    "pull-credentials",
    "Passwords for an image",
    CONTRACT,
    STARTER,
    "the book's own keyring",
    cases,
    ours,
    ("image-pull-secrets", "keyring"),
)
