"""AlwaysPullImages: every pod pulls its images anew, so nobody can run an image that a
neighbour's secret paid for.

Without it, an image that some pod of a node was allowed to pull is there for every
other pod of that node, secret or not.

Upstream: `plugin/pkg/admission/alwayspullimages/admission.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.field_errors import not_supported
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin

KINDS = ("initContainers", "containers", "ephemeralContainers")


def containers_of(pod: Object) -> Iterator[tuple[str, Object]]:
    """All containers of a pod with their paths: first those that initialise it.
    Upstream: `VisitContainersWithPath`.
    """
    for kind in KINDS:
        for index, container in enumerate(pod["spec"].get(kind) or ()):
            yield f"spec.{kind}[{index}]", container


class AlwaysPullImages(Plugin):
    """Sets `imagePullPolicy: Always`, and refuses what a later plugin has set back.
    Pods that get no new image are left alone.
    """

    name = "AlwaysPullImages"
    operations = frozenset({CREATE, UPDATE})
    resources = PODS

    def admit(self, attributes: Attributes) -> None:
        """Set the policy."""
        assert attributes.obj is not None
        if _no_new_images(attributes):
            return
        for _, container in containers_of(attributes.obj):
            container["imagePullPolicy"] = "Always"

    def validate(self, attributes: Attributes) -> None:
        """Raises StatusError 403 for any other policy."""
        assert attributes.obj is not None
        if _no_new_images(attributes):
            return
        for path, container in containers_of(attributes.obj):
            policy = container.get("imagePullPolicy", "")
            if policy != "Always":
                error = not_supported(
                    f"{path}.imagePullPolicy", policy, ["Always"]
                ).cause()
                raise attributes.forbidden(f"{error['field']}: {error['message']}")


def _no_new_images(attributes: Attributes) -> bool:
    """Whether an update names only images that the pod has already. Upstream:
    `isUpdateWithNoNewImages`.
    """
    if attributes.operation != UPDATE or attributes.old_obj is None:
        return False
    old = {container.get("image") for _, container in containers_of(attributes.old_obj)}
    return all(
        container.get("image") in old
        for _, container in containers_of(attributes.obj or {"spec": {}})
    )
