"""AppArmor profiles that a new pod names in the old way, by annotations: they become
fields of its containers.

Upstream: `pkg/registry/core/pod/strategy.go` (`applyAppArmorVersionSkew`,
`apparmorFieldForAnnotation`), v1.36, which copies in this direction only: a kubelet
that knows no field is too old to be asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.annotations import APP_ARMOR, CONTAINERS
from lifecycle.apiserver.registry.core.pod.security_contexts import (
    validate_app_armor_profile,
)

_LOCALHOST = "localhost/"
_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}


def _field_for(annotation: str) -> Object | None:
    """The profile an annotation means; None if it means none that is valid."""
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    if not annotation.startswith(_LOCALHOST):
        return None
    file = annotation.removeprefix(_LOCALHOST)
    profile: Object = {"type": "Localhost", "localhostProfile": file}
    return None if validate_app_armor_profile(profile, "") else profile


def _named_by_annotation(pod: Object) -> Iterator[tuple[Object, str, Object | None]]:
    """The containers without a field, the annotation's key, the profile it means."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    spec = pod.get("spec") or {}
    if not annotations or (spec.get("os") or {}).get("name") == "windows":
        return
    for group in CONTAINERS:
        for container in spec.get(group) or ():
            key = APP_ARMOR + container.get("name", "")
            own = (container.get("securityContext") or {}).get("appArmorProfile")
            if key in annotations and own is None:
                yield container, key, _field_for(annotations[key])


def _profile_of_pod(pod: Object) -> Object | None:
    context = (pod.get("spec") or {}).get("securityContext") or {}
    profile: Object | None = context.get("appArmorProfile")
    return profile


def copy_app_armor_annotations(pod: Object) -> None:
    """Give containers the profiles that annotations name. What the pod says of all its
    containers is not said again. In place.
    """
    for container, _, profile in _named_by_annotation(pod):
        if profile is not None and profile != _profile_of_pod(pod):
            context = container.get("securityContext") or {}
            container["securityContext"] = {**context, "appArmorProfile": profile}


def app_armor_warnings(pod: Object) -> list[str]:
    """Of annotations that fields should replace; asked before they are copied, for
    afterwards the field is there.
    """
    return [
        f"metadata.annotations[{key}]: deprecated since v1.30; use the"
        ' "appArmorProfile" field instead'
        for _, key, profile in _named_by_annotation(pod)
        if profile is None or profile != _profile_of_pod(pod)
    ]
