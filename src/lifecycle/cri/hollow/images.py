"""The images of a hollow node: some are there from the start, the others can be
"pulled" at once, if the catalogue has them (`image_catalog.py`).

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`ImageService`); the errors are
containerd's (`internal/cri/server/images/image_pull.go`, v2.x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.hollow.image_catalog import (
    ACCESS_DENIED,
    not_found,
    pull_error,
    repositories,
)
from lifecycle.cri.images.reference import normalized_name, split_reference

DEFAULT_SIZE = 38_641_288


NO_CREDENTIALS = (
    "pull access denied, repository does not exist or may require authorization:"
    " authorization failed: no basic auth credentials"
)


def _named(size: int, repository: str, tags: str) -> tuple[int, tuple[str, ...]]:
    return size, tuple(f"{repository}:{tag}" for tag in tags.split())


KIND_IMAGES: tuple[tuple[int, tuple[str, ...]], ...] = (
    _named(
        65491734, "registry.k8s.io/e2e-test-images/agnhost", "2.40 2.47 2.53 2.63.0"
    ),
    _named(38641288, "docker.io/library/nginx", "1.14.2 1.16.1 1.25 1.26 1.27"),
    _named(33612868, "registry.k8s.io/kube-apiserver", "v1.36.2"),
    _named(29507765, "registry.k8s.io/kube-controller-manager", "v1.36.2"),
    _named(26366780, "registry.k8s.io/kube-proxy", "v1.36.2"),
    _named(21222122, "registry.k8s.io/kube-scheduler", "v1.36.2"),
    _named(19618614, "docker.io/kindest/kindnetd", "v20260820-69b56db7"),
    _named(15923075, "registry.k8s.io/coredns/coredns", "v1.14.2"),
    _named(14750028, "docker.io/kindest/local-path-provisioner", "v20260820-69b56db7"),
    _named(14172432, "docker.io/curlimages/curl", "8.10.1 latest"),
    _named(9328825, "registry.k8s.io/etcd", "3.6.8-0"),
    _named(2255171, "docker.io/library/busybox", "1.28 1.35 1.36 1.37 latest"),
    _named(2255169, "docker.io/kindest/local-path-helper", "v20260131-7181c60a"),
    _named(333853, "registry.k8s.io/pause", "3.10 3.10.2"),
)
"""Sizes and names of the images that the recorded kind nodes had from the start."""

USERS = {"registry.k8s.io/coredns/coredns": (65532, 65532)}
"""Repository → user and group that its images are for, as far as it was recorded. All
others are for root.
"""


def digest_of(text: str) -> str:
    """A digest that an image of that name could have."""
    return "sha256:" + sha256(text.encode()).hexdigest()


def _repositories(image: Image) -> list[str]:
    names = (*image.repo_tags, *image.repo_digests)
    return [split_reference(name)[0] for name in names]


def _unresolved(name: str, why: str) -> RuntimeServiceError:
    """gRPC's code is shown if the registry knows that there is no such image; what is
    denied has none that says anything, and the kubelet leaves it out.
    """
    text = (
        f'failed to pull and unpack image "{name}": failed to resolve reference'
        f' "{name}": {why}'
    )
    absent = why == not_found(name)
    return RuntimeServiceError(
        f"rpc error: code = NotFound desc = {text}" if absent else text
    )


class HollowImages:
    """The image store of one node. `present`: images, or sizes and names. `missing`:
    names (normalised or not) that no registry knows, whatever the catalogue says;
    `supplied`: whether an image exists, although the catalogue does not have it.

    `private`: user name and password by the beginning of normalised names that ask for
    them.
    """

    __slots__ = ("_by_name", "_images", "_supplied", "missing", "private")

    def __init__(
        self,
        present: Iterable[tuple[int, tuple[str, ...]] | Image] = KIND_IMAGES,
        missing: Iterable[str] = (),
        supplied: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._images: dict[str, Image] = {}
        self._by_name: dict[str, Image] = {}
        self.missing = {normalized_name(name) for name in missing}
        self.private: dict[str, tuple[str, str]] = {}
        self._supplied = supplied
        for image in present:
            self._add(
                image
                if isinstance(image, Image)
                else Image(digest_of(image[1][0]), image[1], (), image[0])
            )

    @staticmethod
    def group_of(image: Image, uid: int) -> int:
        """Which group a user has, as the image's `/etc/passwd` says; root's where it
        does not know him.
        """
        users = dict(USERS[name] for name in _repositories(image) if name in USERS)
        return users.get(uid, 0)

    def _add(self, image: Image) -> None:
        user = next((USERS[n] for n in _repositories(image) if n in USERS), None)
        if user and image.uid is None:
            image = replace(image, uid=user[0])
        self._images[image.id] = image
        for name in (*image.repo_tags, *image.repo_digests, image.id):
            self._by_name[name] = image

    def list_images(self) -> list[Image]:
        """Largest first, as nodes report them."""
        return sorted(self._images.values(), key=lambda image: -image.size)

    def image_status(self, image: str) -> Image | None:
        """By any name."""
        return self._by_name.get(image) or self._by_name.get(normalized_name(image))

    def pull_image(self, image: str, auth: AuthConfig | None = None) -> Image:
        """Fetch it. What is here already needs no registry. Raises
        RuntimeServiceError.
        """
        name = normalized_name(image)
        for prefix, (user, password) in self.private.items():
            if name.startswith(prefix) and (
                auth is None or (auth.username, auth.password) != (user, password)
            ):
                raise _unresolved(name, NO_CREDENTIALS)
        present = self._by_name.get(name)
        if name in self.missing:
            why = ACCESS_DENIED if name.startswith("docker.io/") else not_found(name)
        else:
            why = "" if present or self._supplied(name) else pull_error(name)
        if why:
            raise _unresolved(name, why)
        if present is not None:
            return present
        repository, tag, digest = split_reference(name)
        known = repositories().get(repository)
        pulled = Image(
            digest_of("config " + name),
            (name,) if tag else (),
            (f"{repository}@{digest or digest_of('manifest ' + name)}",),
            (known.size if known else 0) or DEFAULT_SIZE,
        )
        self._add(pulled)
        return pulled

    def remove_image(self, image: str) -> None:
        """Delete by any name; again does no harm."""
        known = self.image_status(image)
        if known is not None:
            del self._images[known.id]
            for name in (*known.repo_tags, *known.repo_digests, known.id):
                self._by_name.pop(name, None)
