"""The images that real nodes of this machine can pull: made when the cluster starts,
from a static busybox, or given by `lifecycle image load`; nothing is fetched.

`nginx` is a web server that answers with its pod's name, so that one can see who
answered: busybox' httpd behind an entrypoint that looks like nginx's. `busybox` is
itself; both have the tags that a hollow node would find. All other names fail as those
of images that do not exist.

Upstream: Docker's `nginx` and `busybox` images (entrypoint, command, stop signal,
exposed port).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.hollow.image_catalog import pull_error
from lifecycle.cri.hollow.images import KIND_IMAGES
from lifecycle.cri.images.library import ImageLibrary
from lifecycle.cri.images.oci_image import BuiltImage, File, build
from lifecycle.cri.images.reference import normalized_name, split_reference
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
    """All images by normalised name. `busybox`: the program they are made of;
    `library`: what was loaded, which goes first.
    """

    def __init__(self, busybox: Path, library: ImageLibrary | None = None) -> None:
        self._library = library
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
        built = self._find(name)
        if built is not None:
            return name, built
        repository = _repository(name)
        known_repository = any(_repository(each) == repository for each in self._names)
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

    @property
    def _names(self) -> set[str]:
        loaded = self._library.names() if self._library else {}
        return {*self._images, *loaded}

    def _find(self, name: str) -> BuiltImage | None:
        loaded = self._library.names() if self._library else {}
        repository, _, digest = name.partition("@")
        if digest:
            for reference in (*loaded, *self._images):
                if _repository(reference) == repository:
                    built = self._by_tag(reference)
                    if built is not None and built.manifest == digest:
                        return built
            return None
        if (built := self._by_tag(name)) is not None or pull_error(name):
            return built
        return self._images.get(f"{_repository(name)}:latest")

    def _by_tag(self, name: str) -> BuiltImage | None:
        loaded = self._library.get(name) if self._library else None
        return loaded or self._images.get(name)

    def repositories(self) -> Mapping[str, Repository]:
        """The same for a registry: by repository without its host, as a mirror is
        asked. What is loaded later is there as well.
        """
        return _Repositories(self)

    def of_repository(self, repository: str) -> dict[str, BuiltImage]:
        """Images by tag of a repository without its host."""
        tags: dict[str, BuiltImage] = {}
        for name in self._names:
            path, _, tag = name.partition("/")[2].rpartition(":")
            image = self._by_tag(name) if path == repository else None
            if image is not None:
                tags[tag] = image
        return tags


class _Repositories(Mapping[str, Repository]):
    """A registry's view: looked up when it is asked for."""

    def __init__(self, images: LocalImages) -> None:
        self._images = images

    def __getitem__(self, repository: str) -> Repository:
        tags = self._images.of_repository(repository)
        if not tags:
            raise KeyError(repository)
        return Repository(tags)

    def __iter__(self) -> Iterator[str]:
        names = self._images._names
        return iter({name.partition("/")[2].rpartition(":")[0] for name in names})

    def __len__(self) -> int:
        return len(list(iter(self)))


def _repository(name: str) -> str:
    """A normalised name without its tag or digest."""
    return split_reference(name)[0]
