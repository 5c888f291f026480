"""InitialResources: a container that asks for nothing gets what its image has used in
the past. A model; the plugin went with 1.11.

It looked for samples of the same image: a week's, then a month's, in the namespace,
then anywhere, then of any tag. The first selection with thirty samples decides; if none
has thirty, the last one does, with whatever it has.

Upstream: `plugin/pkg/admission/initialresources/admission.go`
(`estimateAndFillResourcesIfNotSet`, `getEstimation`), v1.10, the last to have it. Left
out: the databases that the samples came from (InfluxDB, Google Cloud Monitoring).
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin

ANNOTATION = "kubernetes.io/initial-resources"
ENOUGH = 30
WEEK, MONTH = 7, 30

Usage = Callable[[str, int, str, str, bool, int], tuple[int, int]]
"""`(resource, percentile, image, namespace, exact, days)` → usage (thousandths of a
CPU; bytes) and number of samples.

`exact` False: the image stands for all its tags. `namespace` empty: all.
"""


class InitialResources(Plugin):
    """Fills in requests. `usage` answers what was used; `percentile` says by how many
    percent of the samples at most.
    """

    name = "InitialResources"
    operations = frozenset({CREATE})
    resources = PODS

    def __init__(
        self, usage: Usage, *, percentile: int = 90, namespace_only: bool = False
    ) -> None:
        self._usage, self._percentile, self._namespace_only = (
            usage,
            percentile,
            namespace_only,
        )

    def admit(self, attributes: Attributes) -> None:
        """Fill in what neither requests nor limits mention, and note it."""
        pod = attributes.obj
        assert pod is not None
        notes = []
        for container in pod["spec"]["containers"]:
            filled = self._fill(container, attributes.namespace)
            if filled:
                notes.append(
                    f"{', '.join(sorted(filled))} request for container"
                    f" {container['name']}"
                )
        if notes:
            annotations = pod["metadata"].setdefault("annotations", {})
            annotations[ANNOTATION] = "Initial Resources plugin set: " + "; ".join(
                notes
            )

    def _fill(self, container: Object, namespace: str) -> list[str]:
        resources = container.get("resources") or {}
        filled: Object = {}
        for name in ("cpu", "memory"):
            if name not in (resources.get("requests") or {}) and name not in (
                resources.get("limits") or {}
            ):
                estimate = self.estimate(name, container["image"], namespace)
                if estimate:
                    filled[name] = estimate
        if filled:
            container["resources"] = {
                **resources,
                "requests": {**(resources.get("requests") or {}), **filled},
            }
        return list(filled)

    def estimate(self, name: str, image: str, namespace: str) -> str:
        """A quantity, or nothing where nothing is known."""
        any_tag = image.partition(":")[0]
        selections = [(image, namespace, True, WEEK), (image, namespace, True, MONTH)]
        if self._namespace_only:
            selections.append((any_tag, namespace, False, MONTH))
        else:
            selections += [
                (image, "", True, WEEK),
                (image, "", True, MONTH),
                (any_tag, "", False, MONTH),
            ]
        usage = samples = 0
        for selection in selections:
            usage, samples = self._usage(name, self._percentile, *selection)
            if samples >= ENOUGH:
                break
        if not samples:
            return ""
        return f"{usage}m" if name == "cpu" else str(usage)
