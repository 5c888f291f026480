"""Making sure that a container's image is on the node.

`Always` asks the registry each time, `IfNotPresent` only if the image is not here, `Never` not at all. A pull that
failed is not repeated before its back-off is over.

Upstream: `pkg/kubelet/images/image_manager.go` (`EnsureImageExists`, `pullImage`), v1.36. Left out: pull secrets,
records of who may use an image, the limit on parallel pulls.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.clock import Clock
from lifecycle.api.tracing import span
from lifecycle.api.wire import Object
from lifecycle.cri.runtime import ImageService, RuntimeServiceError
from lifecycle.kubelet.backoff import Backoff

RecordEvent = Callable[[str, str, str], None]
"""Takes type, reason and message."""


class ImageError(Exception):
    """The image cannot be had. `reason` is what `waiting` says."""

    def __init__(self, reason: str, message: str, retry_after: float = 10.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.retry_after = retry_after


class ImageManager:
    """One per node."""

    def __init__(self, service: ImageService, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._backoff = Backoff()
        self._last_error: dict[tuple[str, str], str] = {}

    async def ensure_image_exists(self, pod: Object, container: Object, event: RecordEvent) -> None:
        """Pull if need be. Raises ImageError."""
        image = container["image"]
        policy = container.get("imagePullPolicy") or "IfNotPresent"
        present = await self._service.image_status(image)
        if present is not None and policy in ("IfNotPresent", "Never"):
            event(
                "Normal",
                "Pulled",
                f'Container image "{image}" already present on machine and can be accessed by the pod',
            )
            return
        if policy == "Never":
            message = f'Container image "{image}" is not present with pull policy of Never'
            event("Warning", "ErrImageNeverPull", message)
            raise ImageError("ErrImageNeverPull", message)
        key = (pod["metadata"]["uid"], image)
        started = self._clock.now()
        if self._backoff.is_in_backoff(key, started):
            message = f'Back-off pulling image "{image}"'
            event("Normal", "BackOff", message)
            left = self._backoff.remaining(key, self._backoff.last_try(key), started)
            raise ImageError("ImagePullBackOff", f"{message}: ErrImagePull: {self._last_error.get(key, '')}", left)
        event("Normal", "Pulling", f'Pulling image "{image}"')
        try:
            with span("kubelet", "pull", image=image):
                await self._service.pull_image(image)
        except RuntimeServiceError as error:
            self._last_error[key] = str(error)
            self._backoff.next(key, self._clock.now())
            event("Warning", "Failed", f'Failed to pull image "{image}": {error}')
            raise ImageError("ErrImagePull", str(error)) from None
        self._backoff.forget(key)
        self._last_error.pop(key, None)
        pulled = await self._service.image_status(image)
        took = f"{max(round((self._clock.now() - started) * 1000), 1)}ms"
        size = pulled.size if pulled else 0
        message = f'Successfully pulled image "{image}" in {took} ({took} including waiting). Image size: {size} bytes.'
        event("Normal", "Pulled", message)
