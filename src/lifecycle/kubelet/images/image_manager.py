"""Making sure that a container's image is on the node, and that its pod may use it.

`Always` asks the registry each time, `IfNotPresent` only if the image is not here (or
was pulled with credentials that this pod does not have), `Never` not at all. The
registry is asked with every pair of credentials that fits, one after the other, or
without any if none does. A pull that failed is not repeated before its back-off is
over.

Upstream: `pkg/kubelet/images/image_manager.go` (`EnsureImageExists`,
`imagePullPrecheck`, `pullImage`), `puller.go`,
`pkg/kubelet/kuberuntime/kuberuntime_image.go` (`PullImage`), v1.36. Left out: the limit
on parallel pulls, throttling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.tracing import span
from lifecycle.client.backoff import Backoff
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.apis.services import ImageService
from lifecycle.kubelet.images.credentials import (
    CredentialError,
    NodeCredentials,
    TrackedAuth,
    lookup_credentials,
)
from lifecycle.kubelet.images.image_pull_manager import PullRecords

RecordEvent = Callable[[str, str, str], None]
"""Takes type, reason and message."""

_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_LABEL = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*(?::[0-9]+)?"
REFERENCE = re.compile(
    rf"^(?:(?:{_HOST}|\[[a-fA-F0-9:]+\](?::[0-9]+)?)/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$"
)


class ImageError(Exception):
    """The image cannot be had. `reason` is what `waiting` says."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def repository(image: str) -> str:
    """An image's name without tag and digest, with its registry: `nginx:1.27` →
    `docker.io/library/nginx`.
    """
    name = image.partition("@")[0]
    if ":" in name.rsplit("/", 1)[-1]:
        name = name.rsplit(":", 1)[0]
    first, slash, _ = name.partition("/")
    if not slash:
        return f"docker.io/library/{name}"
    return (
        name
        if any(c in first for c in ".:") or first == "localhost"
        else f"docker.io/{name}"
    )


def apply_default_image_tag(image: str) -> str:
    """The image with `latest` if it says neither tag nor digest. Raises ValueError for
    what is no image name at all.
    """
    if not REFERENCE.match(image):
        detail = "invalid reference format"
        path = repository(image).partition("/")[2].partition(":")[0]
        if path != path.lower():
            detail = f"{detail}: repository name ({path}) must be lowercase"
        raise ValueError(f"couldn't parse image name {go_quote(image)}: {detail}")
    return (
        image if "@" in image or ":" in image.rsplit("/", 1)[-1] else f"{image}:latest"
    )


def nobody_counts(uid: str, begin: float, end: float) -> None:
    """For an image manager outside a kubelet."""


class ImageManager:
    """One per node. `node` is what the node itself knows of registries. `pulling` hears
    of each pull: a pod's uid, begin and end.
    """

    def __init__(
        self,
        service: ImageService,
        clock: Clock,
        node: NodeCredentials | None = None,
        *,
        pulling: Callable[[str, float, float], None] = nobody_counts,
    ) -> None:
        self._service = service
        self._clock = clock
        self._node = node or NodeCredentials()
        self._pulling = pulling
        self._backoff = Backoff()
        self._last_error: dict[tuple[str, str], str] = {}
        self._pull_secrets: dict[str, Sequence[Object]] = {}
        self.records = PullRecords()

    def use_pull_secrets(self, uid: str, secrets: Sequence[Object]) -> None:
        """What syncPod found under a pod's `imagePullSecrets`, for its containers that
        are about to start.
        """
        if secrets:
            self._pull_secrets[uid] = secrets
        else:
            self._pull_secrets.pop(uid, None)

    async def ensure_image_exists(
        self, pod: Object, container: Object, event: RecordEvent
    ) -> str:
        """Pull if need be; the image's id. Raises ImageError."""
        image = container["image"]
        policy = container.get("imagePullPolicy") or "IfNotPresent"
        try:
            required_image = apply_default_image_tag(image)
        except ValueError as error:
            message = f"Failed to apply default image tag {go_quote(image)}: {error}"
            event("Warning", "InspectFailed", message)
            raise ImageError("InvalidImageName", message) from None
        present = await self._inspect(required_image, image, event)
        here = present and policy in ("IfNotPresent", "Never")
        if here and not self.records.must_attempt_image_pull(
            repository(required_image), present, self._credentials(pod, required_image)
        ):
            message = (
                f'Container image "{image}" already present on machine and can be'
                " accessed by the pod"
            )
            event("Normal", "Pulled", message)
            return present
        if policy == "Never":  # it is not here, or it is here for others only
            message = (
                f'Container image "{image}" is not present with pull policy of Never'
            )
            event("Warning", "ErrImageNeverPull", message)
            raise ImageError("ErrImageNeverPull", message)
        return await self._pull_image(pod, image, required_image, event)

    async def _inspect(
        self, required_image: str, image: str, event: RecordEvent
    ) -> str:
        try:
            image_status = await self._service.image_status(required_image)
        except RuntimeServiceError as error:
            message = f'Failed to inspect image "{image}": {error}'
            event("Warning", "InspectFailed", message)
            raise ImageError("ImageInspectError", message) from None
        return image_status.id if image_status is not None else ""

    def _credentials(self, pod: Object, required_image: str) -> list[TrackedAuth]:
        secrets = self._pull_secrets.get(pod["metadata"]["uid"], ())
        try:
            return lookup_credentials(repository(required_image), secrets, self._node)
        except CredentialError as error:
            raise ImageError(str(error), str(error)) from None

    async def _pull_image(
        self, pod: Object, image: str, required_image: str, event: RecordEvent
    ) -> str:
        credentials = self._credentials(pod, required_image)
        key = (pod["metadata"]["uid"], image)
        started = self._clock.now()
        if self._backoff.is_in_backoff(key, started):
            message = f'Back-off pulling image "{image}"'
            event("Normal", "BackOff", message)
            # how long is not said: the pod's worker looks again every ten seconds
            raise ImageError(
                "ImagePullBackOff",
                f"{message}: ErrImagePull: {self._last_error.get(key, '')}",
            )
        event("Normal", "Pulling", f'Pulling image "{image}"')
        name = repository(required_image)
        self.records.record_pull_intent(name)
        try:
            with span("kubelet", "pull", image=image):
                used = await self._ask_registry(required_image, credentials)
        except RuntimeServiceError as error:
            self.records.record_pull_failed(name)
            self._last_error[key] = str(error)
            self._backoff.next(key, self._clock.now())
            event("Warning", "Failed", f'Failed to pull image "{image}": {error}')
            raise ImageError("ErrImagePull", str(error)) from None
        self._backoff.forget(key)
        self._last_error.pop(key, None)
        self._pulling(key[0], started, self._clock.now())
        pulled = await self._service.image_status(required_image)
        took = f"{max(round((self._clock.now() - started) * 1000), 1)}ms"
        size = pulled.size if pulled else 0
        message = (
            f'Successfully pulled image "{image}" in {took} ({took} including waiting).'
            f" Image size: {size} bytes."
        )
        event("Normal", "Pulled", message)
        reference = pulled.id if pulled else required_image
        self.records.record_image_pulled(name, reference, used)
        return reference

    async def _ask_registry(
        self, required_image: str, credentials: Sequence[TrackedAuth]
    ) -> TrackedAuth | None:
        """With each pair of credentials in turn, until one is good enough; which one it
        was. Raises RuntimeServiceError.
        """
        if not credentials:
            await self._service.pull_image(required_image)
            return None
        errors: list[str] = []
        for tracked in credentials:
            auth = tracked.auth
            try:
                await self._service.pull_image(
                    required_image,
                    AuthConfig(username=auth.username, password=auth.password),
                )
                return tracked
            except RuntimeServiceError as error:
                errors.append(str(error))
        raise RuntimeServiceError(aggregate(errors))
