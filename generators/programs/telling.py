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
from lifecycle.agreements.what_kubectl_tells import (
    Listener,
    arrived,
    kubeconfig,
    lines_of,
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
}
"""What is called: the user of the kubeconfig, and the line."""


def answers(kubectl: Path) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    for name, (user, flags) in CALLS.items():
        with tempfile.TemporaryDirectory() as home, running(Listener()) as service:
            assert isinstance(service, Listener)
            config = Path(home, "config")
            config.write_text(kubeconfig(service, user))
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
                "exit": done.returncode,
                "arrived": requests,
                "out": done.stdout,
                "told": lines_of(done.stderr),
            },
        )
