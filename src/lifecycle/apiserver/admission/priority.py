"""Priority: the class a pod names, as the number that the scheduler compares.

Users choose a class, never a number: the number is filled in from the class, or from
the one marked as the cluster's default, or is 0.

Upstream: `plugin/pkg/admission/priority/admission.go` (`Plugin.admitPod`,
`validatePriorityClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

DEFAULT_PRIORITY = 0
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


class Priority(Plugin):
    """Looks at pods, and at priority classes that want to be the default."""

    name = "Priority"
    operations = frozenset({CREATE, UPDATE})
    resources = frozenset({("", "pods"), ("scheduling.k8s.io", "priorityclasses")})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._classes = resource("priorityclasses.scheduling.k8s.io")
        self._default: tuple[int | None, Object | None] = (None, None)

    def admit(self, attributes: Attributes) -> None:
        """Resolve a new pod's class; keep what an old one has."""
        if attributes.resource.plural != "pods" or attributes.obj is None:
            return
        spec = attributes.obj["spec"]
        if attributes.operation == UPDATE:
            old = (attributes.old_obj or {}).get("spec", {})
            for key in ("priority", "preemptionPolicy"):
                if spec.get(key) is None and old.get(key) is not None:
                    spec[key] = old[key]
            return
        name = spec.get("priorityClassName")
        if name:
            priority_class = self._reader.get(self._classes, "", name)
            if priority_class is None:
                raise attributes.forbidden(
                    f"no PriorityClass with name {name} was found"
                )
        else:
            priority_class = self.default_class()
            if priority_class is not None:
                spec["priorityClassName"] = priority_class["metadata"]["name"]
        priority, policy = DEFAULT_PRIORITY, PREEMPT_LOWER_PRIORITY
        if priority_class is not None:
            priority, policy = (
                priority_class.get("value", 0),
                priority_class.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY,
            )
        if spec.get("priority") is not None and spec["priority"] != priority:
            raise attributes.forbidden(
                f"the integer value of priority ({spec['priority']}) must not be"
                " provided in pod spec; priority admission controller computed"
                f" {priority} from the given PriorityClass name"
            )
        if (
            spec.get("preemptionPolicy") is not None
            and spec["preemptionPolicy"] != policy
        ):
            raise attributes.forbidden(
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']})"
                " must not be provided in pod spec; priority admission controller"
                f" computed {policy} from the given PriorityClass name"
            )
        spec["priority"] = priority
        spec["preemptionPolicy"] = policy

    def validate(self, attributes: Attributes) -> None:
        """Refuse a second default class."""
        obj = attributes.obj
        if (
            attributes.resource.plural != "priorityclasses"
            or obj is None
            or not obj.get("globalDefault")
        ):
            return
        default = self.default_class()
        if default is None:
            return
        name = default["metadata"]["name"]
        if attributes.operation == CREATE or name != obj["metadata"].get("name"):
            raise attributes.forbidden(
                f"PriorityClass {name} is already marked as default. Only one default"
                " can exist"
            )

    def default_class(self) -> Object | None:
        """The class marked as default; the lowest, should there be several."""
        version = self._reader.resource_version(self._classes)
        if self._default[0] != version:
            defaults = [
                c for c in self._reader.list(self._classes) if c.get("globalDefault")
            ]
            self._default = (
                version,
                min(defaults, key=lambda c: c.get("value", 0), default=None),
            )
        return self._default[1]
