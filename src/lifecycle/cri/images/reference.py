"""Names of images: what a pod says, and what that is in full.

Upstream: `distribution/reference` (`ParseDockerRef`), which containerd uses.
"""

from __future__ import annotations


def normalized_name(image: str) -> str:
    """The full name of an image: with registry, and with tag or digest."""
    name, at, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    elif first == "docker.io" and "/" not in rest:
        name = f"docker.io/library/{rest}"
    if at:
        return f"{name}@{digest}"
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"
