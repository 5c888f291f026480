"""Whose password is shown to which registry, and in which order."""

from __future__ import annotations

import pytest

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.kubelet.images.credentials import Keyring

HUB, OWN, PORT, PATH, DEEPER, ANY = (
    "https://index.docker.io/v1/",
    "registry.example",
    "registry.example:5000",
    "registry.example/team",
    "registry.example/team/app",
    "*.example.com",
)


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        # the hub's password is for the hub alone
        ("nginx", [HUB]),
        ("library/nginx", [HUB]),
        ("docker.io/library/nginx", [HUB]),
        ("index.docker.io/library/nginx", [HUB]),
        ("other.example/app", []),
        ("localhost:5000/app", []),
        ("", []),
        # the longest first, and a port is part of the name
        ("registry.example/app", [OWN]),
        ("registry.example/team/web", [PATH, OWN]),
        ("registry.example/team/app", [DEEPER, PATH, OWN]),
        ("registry.example:5000/team/app", [PORT]),
        ("registry.example:6000/team/app", []),
        # a star stands for one part of the host
        ("eu.example.com/app", [ANY]),
        ("a.eu.example.com/app", []),
        ("example.com/app", []),
        # and a host is compared to its end
        ("registry.example.org/app", []),
        ("registry.example.org:5000/app", []),
    ],
)
def test_a_registry_is_shown_what_is_meant_for_it(image: str, shown: list[str]) -> None:
    keyring = Keyring()
    for registry in (HUB, OWN, PORT, PATH, DEEPER, ANY):
        keyring.add({registry: AuthConfig("me", registry)})
    assert [tracked.auth.password for tracked in keyring.lookup(image)] == shown


def test_who_has_nothing_else_to_show_shows_the_hub_nothing_of_others() -> None:
    keyring = Keyring()
    keyring.add({OWN: AuthConfig("me", OWN)})
    assert keyring.lookup("nginx") == []


def test_of_two_passwords_for_one_registry_the_first_is_tried_first() -> None:
    keyring = Keyring()
    for password in ("first", "second"):
        keyring.add({OWN: AuthConfig("me", password)})
    assert [tracked.auth.password for tracked in keyring.lookup("registry.example/app")] == ["first", "second"]


def test_who_has_a_password_for_a_part_of_the_hub_shows_that_one() -> None:
    """Upstream's `Lookup` asks for the default registry's only if nothing else fits."""
    keyring = Keyring()
    for registry in (HUB, "docker.io/library"):
        keyring.add({registry: AuthConfig("me", registry)})
    for image, shown in (("docker.io/library/nginx", "docker.io/library"), ("docker.io/team/app", HUB), ("nginx", HUB)):
        assert [tracked.auth.password for tracked in keyring.lookup(image)] == [shown]


@pytest.mark.parametrize("backwards", [False, True])
def test_of_what_fits_the_last_in_the_alphabet_is_tried_first_and_a_star_is_before_every_letter(
    backwards: bool,
) -> None:
    """Whoever was added first. Upstream: `credentialprovider/keyring.go` (`Add`), which sorts in reverse, so that of two
    paths the longer comes first; and a host that is named comes before one that is meant by a star, however long.
    """
    keyring = Keyring()
    fitting = [
        "gcr.example.com/team/app",
        "gcr.example.com/team",
        "gcr.example.com",
        "*.example.com/team/app",
        "*.example.com",
    ]
    for registry in fitting[::-1] if backwards else fitting:
        keyring.add({registry: AuthConfig("me", registry)})
    keyring.add({"gcr.example.com/other": AuthConfig("me", "other"), "gcr.example.org": AuthConfig("me", "org")})
    assert [tracked.auth.password for tracked in keyring.lookup("gcr.example.com/team/app")] == fitting
