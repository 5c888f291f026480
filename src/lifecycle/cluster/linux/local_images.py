"""The images that real nodes of this machine can pull: made when the cluster starts,
from a static busybox, and nothing fetched.

`nginx` is a web server that answers with its pod's name, so that one can see who
answered: busybox' httpd behind an entrypoint that looks like nginx's. `busybox` is
itself. All other names fail as those of images that do not exist.

Upstream: Docker's `nginx` and `busybox` images (entrypoint, command, stop signal,
exposed port).
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.hollow.images import KIND_IMAGES
from lifecycle.cri.images.oci_image import BuiltImage, File, build
from lifecycle.cri.images.reference import normalized_name
from lifecycle.cri.images.registry import Repository
from lifecycle.cri.images.small_images import PATH, pause_image, shell_files

PAUSE = "registry.k8s.io/pause:3.10"

ENTRYPOINT = b"""#!/bin/sh
# Real nginx reads its configuration here; this one has only its name to say.
mkdir -p /usr/share/nginx/html
hostname > /usr/share/nginx/html/index.html
exec "$@"
"""
SERVER = b"""#!/bin/sh
# Process 1 of a container hears only the signals that it has a handler for.
trap 'kill $server; exit 0' TERM QUIT INT
httpd -f -vv -p 80 -h /usr/share/nginx/html &
server=$!
wait $server
"""


def nginx_image(files: dict[str, File]) -> BuiltImage:
    """Two layers: busybox, and what makes it a web server."""
    upper = {
        "docker-entrypoint.sh": File(ENTRYPOINT, 0o755),
        "usr/sbin/nginx": File(SERVER, 0o755),
        "usr/share/nginx/html/": File(mode=0o755),
    }
    config = {
        "Entrypoint": ["/docker-entrypoint.sh"],
        "Cmd": ["nginx", "-g", "daemon off;"],
        "Env": [PATH],
        "ExposedPorts": {"80/tcp": {}},
        "StopSignal": "SIGQUIT",
        "WorkingDir": "/",
    }
    return build([files, upper], config)


class LocalImages:
    """All images by normalised name. `busybox`: the program they are made of."""

    def __init__(self, busybox: Path) -> None:
        files = shell_files(busybox)
        nginx = nginx_image(files)
        shell = build([files], {"Cmd": ["sh"], "Env": [PATH], "WorkingDir": "/"})
        self._images: dict[str, BuiltImage] = {}
        for _, names in KIND_IMAGES:
            for name in names:
                repository = name.rpartition(":")[0]
                image = {
                    "docker.io/library/nginx": nginx,
                    "docker.io/library/busybox": shell,
                }.get(repository)
                if image is not None:
                    self._images[name] = self._images[f"{repository}:latest"] = image
        self._images[PAUSE] = pause_image()

    def pull(
        self, image: str, auth: AuthConfig | None = None
    ) -> tuple[str, BuiltImage]:
        """The normalised name and the image. Raises RuntimeServiceError with what
        containerd says of one that does not exist.
        """
        name = normalized_name(image)
        built = self._images.get(name)
        if built is None and "@" in name:
            repository, _, digest = name.partition("@")
            same = (
                i
                for reference, i in self._images.items()
                if reference.startswith(f"{repository.partition(':')[0]}:")
            )
            built = next(
                (candidate for candidate in same if candidate.manifest == digest), None
            )
        if built is not None:
            return name, built
        repository = name.partition("@")[0].rpartition(":")[0] or name
        known_repository = any(
            reference.rpartition(":")[0] == repository for reference in self._images
        )
        prefix = (
            f'failed to pull and unpack image "{name}": failed to resolve reference'
            f' "{name}": '
        )
        if name.startswith("docker.io/") and not known_repository:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = {prefix}pull access denied,"
                " repository does not exist or may require authorization: server"
                " message: insufficient_scope: authorization failed"
            )
        raise RuntimeServiceError(
            f"rpc error: code = NotFound desc = {prefix}{name}: not found"
        )

    def repositories(self) -> dict[str, Repository]:
        """The same for a registry: by repository without its host, as a mirror is
        asked.
        """
        tags: dict[str, dict[str, BuiltImage]] = {}
        for name, image in self._images.items():
            repository, _, tag = name.partition("/")[2].rpartition(":")
            tags.setdefault(repository, {})[tag] = image
        return {repository: Repository(images) for repository, images in tags.items()}
