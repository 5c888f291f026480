"""Fields of pods that belong to features which are off: taken out on the way in, unless
the old object has them already.

Of 1.36's gates that are off by default these touch a pod's spec: `GenericWorkload`
(`schedulingGroup`), `ContainerStopSignals` (`lifecycle.stopSignal`),
`ClusterTrustBundleProjection` and `PodCertificateRequest` (sources of projected
volumes).

Upstream: `pkg/api/pod/util.go` (`dropDisabledFields`, `dropDisabledPodStatusFields`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object

_GROUPS = ("containers", "initContainers", "ephemeralContainers")
_STATUSES = tuple(f"{group[:-1]}Statuses" for group in _GROUPS)
_PROJECTIONS = ("clusterTrustBundle", "podCertificate")


def drop_disabled_pod_fields(spec: Object, old: Object | None) -> None:
    """Take them out of `spec`, whose parts may be shared with others: what changes is
    replaced.
    """
    before = old or {}
    if before.get("schedulingGroup") is None:
        spec.pop("schedulingGroup", None)
    for field in _PROJECTIONS:
        if _has_projection(spec, field) and not _has_projection(before, field):
            spec["volumes"] = [
                _without_projection(volume, field) for volume in spec["volumes"]
            ]
    if any(_stop_signals(spec)) and not any(_stop_signals(before)):
        for group in _GROUPS:
            if spec.get(group):
                spec[group] = [
                    _without_stop_signal(container) for container in spec[group]
                ]


def drop_disabled_status_fields(status: Object, old: Object) -> None:
    """The same for what a kubelet says: `ImageVolumeWithDigest` (the image that a
    mounted volume shows), `DRANodeAllocatableResources`.
    """
    key = "nodeAllocatableResourceClaimStatuses"
    if not old.get(key):
        status.pop(key, None)
    if any(_volume_statuses(status)) and not any(_volume_statuses(old)):
        for group in _STATUSES:
            if status.get(group):
                status[group] = list(map(_without_volume_statuses, status[group]))


def _volume_statuses(status: Object) -> Iterator[bool]:
    for group in _STATUSES:
        for entry in status.get(group) or ():
            for mount in entry.get("volumeMounts") or ():
                yield mount.get("volumeStatus") is not None


def _without_volume_statuses(entry: Object) -> Object:
    mounts = entry.get("volumeMounts")
    if not mounts:
        return entry
    bare = [
        {key: value for key, value in mount.items() if key != "volumeStatus"}
        for mount in mounts
    ]
    return {**entry, "volumeMounts": bare}


def _has_projection(spec: Object, field: str) -> bool:
    return any(
        source.get(field) is not None
        for volume in spec.get("volumes") or ()
        if volume.get("projected")
        for source in volume["projected"].get("sources") or ()
    )


def _without_projection(volume: Object, field: str) -> Object:
    projected = volume.get("projected")
    if not projected:
        return volume
    sources = [
        {k: v for k, v in source.items() if k != field}
        for source in projected.get("sources") or ()
    ]
    return {**volume, "projected": {**projected, "sources": sources}}


def _stop_signals(spec: Object) -> Iterator[bool]:
    for group in _GROUPS:
        for container in spec.get(group) or ():
            yield (container.get("lifecycle") or {}).get("stopSignal") is not None


def _without_stop_signal(container: Object) -> Object:
    lifecycle = container.get("lifecycle") or {}
    if lifecycle.get("stopSignal") is None:
        return container
    kept = {key: value for key, value in lifecycle.items() if key != "stopSignal"}
    slim = {key: value for key, value in container.items() if key != "lifecycle"}
    return (
        {**container, "lifecycle": kept}
        if any(v is not None for v in kept.values())
        else slim
    )
