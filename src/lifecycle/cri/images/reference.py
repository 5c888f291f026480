"""Names of images: what a pod says, and what that is in full.

Upstream: `distribution/reference` (`ParseDockerRef`), which containerd uses.
"""

from __future__ import annotations


def split_reference(name: str) -> tuple[str, str, str]:
    """Repository, tag and digest; what is not there is empty."""
    rest, _, digest = name.partition("@")
    head, slash, last = rest.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{head}{slash}{last}", tag, digest


def normalized_name(image: str) -> str:
    """The full name of an image: with registry, and with tag or digest. Of both, only
    the digest counts.
    """
    repository, tag, digest = split_reference(image)
    first, slash, rest = repository.partition("/")
    if not slash:
        repository = f"docker.io/library/{repository}"
    elif "." not in first and ":" not in first and first != "localhost":
        repository = f"docker.io/{repository}"
    elif first == "docker.io" and "/" not in rest:
        repository = f"docker.io/library/{rest}"
    return f"{repository}@{digest}" if digest else f"{repository}:{tag or 'latest'}"
