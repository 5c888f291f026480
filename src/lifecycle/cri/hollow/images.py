"""The images of a hollow node: some are there from the start, the others can be
"pulled" at once.

What a registry would answer is decided by the name: a host ending in `.invalid` (which
the Internet promises never to exist) and names in `missing` are not found; everything
else is.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`ImageService`); names are normalised
as containerd does (`distribution/reference`: `nginx` is
`docker.io/library/nginx:latest`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.images.reference import normalized_name

DEFAULT_SIZE = 38_641_288


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


def digest_of(text: str) -> str:
    """A digest that an image of that name could have."""
    return "sha256:" + sha256(text.encode()).hexdigest()


class HollowImages:
    """The image store of one node. `present`: images, or sizes and names. `missing`:
    names (normalised or not) that no registry knows.

    `private`: user name and password by the beginning of normalised names that ask for
    them.
    """

    __slots__ = ("_by_name", "_images", "missing", "private")

    def __init__(
        self,
        present: Iterable[tuple[int, tuple[str, ...]] | Image] = KIND_IMAGES,
        missing: Iterable[str] = (),
        private: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self._images: dict[str, Image] = {}
        self._by_name: dict[str, Image] = {}
        self.missing = {normalized_name(name) for name in missing}
        self.private: dict[str, tuple[str, str]] = dict(private or {})
        for image in present:
            self._add(
                image
                if isinstance(image, Image)
                else Image(digest_of(image[1][0]), image[1], (), image[0])
            )

    def _add(self, image: Image) -> None:
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
        """Fetch from the registry of everything."""
        name = normalized_name(image)
        for prefix, (user, password) in self.private.items():
            if name.startswith(prefix) and (
                auth is None or (auth.username, auth.password) != (user, password)
            ):
                raise RuntimeServiceError(
                    f'failed to pull and unpack image "{name}": failed to resolve'
                    f' reference "{name}": pull access denied, repository does not'
                    " exist or may require authorization: authorization failed: no"
                    " basic auth credentials"
                )
        host = name.split("/", 1)[0].split(":")[0]
        if (
            host.endswith(".invalid")
            or name in self.missing
            or "does-not-exist" in name
            or "doesnotexist" in name
        ):
            shown = image if host.endswith(".invalid") else name
            why = "not found"
            if host == "docker.io":
                why = (
                    "pull access denied, repository does not exist or may require"
                    " authorization: server message: insufficient_scope: authorization"
                    " failed"
                )
                raise RuntimeServiceError(
                    f'failed to pull and unpack image "{shown}": failed to resolve'
                    f' reference "{shown}": {why}'
                )
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = failed to pull and unpack image"
                f' "{shown}": failed to resolve reference "{shown}": {shown}: {why}'
            )
        known = self._by_name.get(name)
        if known is not None:
            return known
        repository = name.partition("@")[0]
        repository = (
            repository.rsplit(":", 1)[0]
            if ":" in repository.rsplit("/", 1)[-1]
            else repository
        )
        digest = name.partition("@")[2] or digest_of("manifest " + name)
        tags = () if "@" in name else (name,)
        pulled = Image(
            digest_of("config " + name), tags, (f"{repository}@{digest}",), DEFAULT_SIZE
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
