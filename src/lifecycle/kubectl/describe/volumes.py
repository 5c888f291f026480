"""Volumes: where a directory comes from.

Upstream: `kubectl/pkg/describe/describe.go` (`describeVolumes`,
`print…VolumeSource`), `k8s.io/api/core/v1` (`String` of the references), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import canonical_quantity, parse_quantity
from lifecycle.kubectl.describe.claims import print_persistent_volume_claim
from lifecycle.kubectl.describe.multiline import MAX_ANNOTATION_LEN, shorten
from lifecycle.kubectl.describe.volume_sources import (
    PERSISTENT,
    SECRET_REF,
    SOURCES,
    Field,
)
from lifecycle.kubectl.describe.writer import PrefixWriter


def describe_volumes(
    volumes: Iterable[Object] | None, w: PrefixWriter, space: str = ""
) -> None:
    """The volumes of a pod, or of a template, which are set in by `space`."""
    w.write(0, f"{space}Volumes:{'' if volumes else chr(9) + '<none>'}\n")
    for volume in volumes or ():
        w.write(1, f"{' ' if space else ''}{volume['name']}:\n")
        for name, print_source in _BY_HAND.items():
            if volume.get(name) is not None:
                print_source(volume[name], w)
                break
        else:
            print_volume_source(volume, w)


def print_volume_source(
    volume: Object, w: PrefixWriter, *, persistent: bool = False
) -> None:
    """The first source that a volume, or a PersistentVolume's spec, has."""
    for name, (words, fields) in SOURCES.items():
        if (source := volume.get(name)) is None:
            continue
        w.field(2, "Type", words)
        for field in PERSISTENT.get(name, fields) if persistent else fields:
            _print_field(field, source, persistent, w)
        if name == "csi":
            _attributes(source.get("volumeAttributes") or {}, w)
        return
    w.write(1, "<unknown>\n")


def _print_field(
    field: Field, source: Object, persistent: bool, w: PrefixWriter
) -> None:
    value: Any = source
    for step in field.name.split("."):
        value = (value or {}).get(step)
    if field is SECRET_REF:
        value = _reference(value, persistent)
    elif field.name == "targetWWNs":
        value = ", ".join(value or ())
    elif value is None:
        value = field.unset
    w.row(2, field.title, value)


def _reference(ref: Object | None, persistent: bool) -> str:
    """A pointer to a reference, as the Go struct prints itself."""
    if ref is None:
        return "nil"
    if not persistent:
        return f"&LocalObjectReference{{Name:{ref.get('name', '')},}}"
    name, namespace = ref.get("name", ""), ref.get("namespace", "")
    return f"&SecretReference{{Name:{name},Namespace:{namespace},}}"


def _attributes(attributes: dict[str, str], w: PrefixWriter) -> None:
    w.write(2, "VolumeAttributes:\t")
    if not attributes:
        w.write_line("<none>")
    for i, key in enumerate(sorted(attributes)):
        if i:
            w.write(2, "")
            w.write(2, "\t")
        w.write(2, shorten(f"{key}={attributes[key]}", MAX_ANNOTATION_LEN) + "\n")


def _empty_dir(source: Object, w: PrefixWriter) -> None:
    w.field(2, "Type", "EmptyDir (a temporary directory that shares a pod's lifetime)")
    w.field(2, "Medium", source.get("medium", ""))
    limit = source.get("sizeLimit")
    bounded = limit is not None and parse_quantity(limit).sign > 0
    w.field(2, "SizeLimit", canonical_quantity(limit) if bounded else "<unset>")


def _projected(source: Object, w: PrefixWriter) -> None:
    words = "a volume that contains injected data from multiple sources"
    w.field(2, "Type", f"Projected ({words})")
    for each in source.get("sources") or ():
        if (part := each.get("secret")) is not None:
            w.field(2, "SecretName", part.get("name", ""))
            w.field(2, "Optional", bool(part.get("optional")))
        elif each.get("downwardAPI") is not None:
            w.field(2, "DownwardAPI", True)
        elif (part := each.get("configMap")) is not None:
            w.field(2, "ConfigMapName", part.get("name", ""))
            w.field(2, "Optional", bool(part.get("optional")))
        elif (part := each.get("serviceAccountToken")) is not None:
            w.field(2, "TokenExpirationSeconds", part["expirationSeconds"])


def _downward_api(source: Object, w: PrefixWriter) -> None:
    w.field(2, "Type", "DownwardAPI (a volume populated by information about the pod)")
    w.write(2, "Items:\n")
    for item in source.get("items") or ():
        if (ref := item.get("fieldRef")) is not None:
            w.write(3, f"{ref['fieldPath']} -> {item['path']}\n")
        if (ref := item.get("resourceFieldRef")) is not None:
            w.write(3, f"{ref['resource']} -> {item['path']}\n")


def _ephemeral(source: Object, w: PrefixWriter) -> None:
    words = (
        "EphemeralVolume (an inline specification for a volume that gets created and"
        " deleted with the pod)"
    )
    w.field(2, "Type", words)
    if (template := source.get("volumeClaimTemplate")) is not None:
        print_persistent_volume_claim(w.nested(2), template, whole=False)


_BY_HAND = {
    "emptyDir": _empty_dir,
    "ephemeral": _ephemeral,
    "downwardAPI": _downward_api,
    "projected": _projected,
}
