"""What a kubectl sends, and what it tells of it with `-v`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import running
from generators.programs.kubectl import version_of
from lifecycle.agreements.kubectl.what_kubectl_tells import (
    HALF,
    WORLD,
    Listener,
    arrived,
    lines_of,
    same_words,
    write_kubeconfig,
)

TOKEN, PASSWORD = {"token": "secret"}, {"username": "u", "password": "p"}
RAW = ("get", "--raw", "/version")
MAKE = ("create", "deployment", "web", "--image=nginx")
CALLS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "nothing but a request": (TOKEN, RAW),
    "-v=6": (TOKEN, (*RAW, "-v=6")),
    "-v=7": (TOKEN, (*RAW, "-v=7")),
    "a body": (TOKEN, MAKE),
    "a body, -v=7": (TOKEN, (*MAKE, "-v=7")),
    "a body, -v=8": (TOKEN, (*MAKE, "-v=8")),
    "a body, -v=9": (TOKEN, (*MAKE, "-v=9")),
    "a password, -v=8": (PASSWORD, (*MAKE, "-v=8")),
    "a password, -v=9": (PASSWORD, (*MAKE, "-v=9")),
    "a token by flag, -v=7": ({}, (*RAW, "--token=other", "-v=7")),
    "as somebody else, -v=8": (
        TOKEN,
        (*MAKE, "--as=jane", "--as-group=devs", "--as-uid=u-1", "-v=8"),
    ),
    "three seconds, -v=6": (TOKEN, (*RAW, "--request-timeout=3s", "-v=6")),
    "three seconds, -v=9": (TOKEN, (*MAKE, "--request-timeout=3s", "-v=9")),
    "what is not there": (TOKEN, ("get", "--raw", "/nothing")),
    "any certificate": (TOKEN, (*RAW, "--insecure-skip-tls-verify")),
    "an authority that is no file": (TOKEN, (*RAW, "--certificate-authority=/no")),
    "neither authority nor doubt": (
        TOKEN,
        (*RAW, "--insecure-skip-tls-verify", "--certificate-authority=/no"),
    ),
    "a token in a file": ({"tokenFile": "token"}, RAW),
    "a token, and another in a file": ({"tokenFile": "token", **TOKEN}, RAW),
    "a token, and none in a file": ({"tokenFile": "empty", **TOKEN}, RAW),
    "a token, and no file": ({"tokenFile": "none", **TOKEN}, RAW),
    "images with dots and underscores": (
        TOKEN,
        (
            *("create", "deployment", "web", "--dry-run=client", "-o", "json"),
            *("--image=my_app:1", "--image=a.b/our.app@sha256:0", "--image=c_d/e"),
        ),
    ),
}
"""What is called: the user of the kubeconfig, and the line."""
IN_THE_WORLD: dict[str, tuple[str, ...]] = {
    "of two groups": ("get", "widgets", "-o", "name"),
    "by the begin of its group": ("get", "widgets.colors", "-o", "name"),
    "by its group": ("get", "widgets.colors.example.com", "-o", "name"),
    "by version and group": ("get", "widgets.v1.colors.example.com", "-o", "name"),
    "by a short name of many": ("get", "w", "-o", "name"),
    "by a short name and a group": ("get", "w.colors.example.com", "-o", "name"),
    "by its kind": ("get", "Widget", "-o", "name"),
    "of a group that nobody knows": ("get", "widgets.nobody", "-o", "name"),
    "of a group that is late": ("get", "wheels", "-o", "name"),
    "what nobody has": ("get", "windows", "-o", "name"),
    "all that there is": ("api-resources",),
    "all names": ("api-resources", "-o", "name"),
    "all versions": ("api-versions",),
}
"""Lines that are called where there are several groups."""


def answers(kubectl: Path) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    calls = [(name, "", user, flags) for name, (user, flags) in CALLS.items()]
    calls += [(name, WORLD, TOKEN, flags) for name, flags in IN_THE_WORLD.items()]
    names = ("api-resources", "-o", "name")
    calls.append(("all names without a core group", HALF, TOKEN, names))
    for name, where, user, flags in calls:
        with tempfile.TemporaryDirectory() as home, running(Listener()) as service:
            assert isinstance(service, Listener)
            config = write_kubeconfig(service, user, where, home)
            done = subprocess.run(
                [kubectl, f"--kubeconfig={config}", *flags],
                capture_output=True,
                text=True,
                check=False,
                env={"HOME": home},
            )
            requests = arrived(service.requests)
        yield Answer(
            f"told/{name}",
            who,
            "a kubectl called so: what arrives at the server, and what it prints",
            {
                "user": user,
                "flags": flags,
                "where": where,
                "exit": done.returncode,
                "arrived": requests,
                "out": same_words(done.stdout),
                "told": lines_of(done.stderr),
            },
        )
