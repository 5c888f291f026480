"""Fields of pods that belong to features which are off: taken out on the way in, unless
the old object has them already.

Of 1.36's gates that are off by default these touch a pod's spec: `GenericWorkload`
(`schedulingGroup`), `ContainerStopSignals` (`lifecycle.stopSignal`),
`ClusterTrustBundleProjection` and `PodCertificateRequest` (sources of projected
volumes).

Upstream: `pkg/api/pod/util.go` (`dropDisabledFields`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.wire import Object

_GROUPS = ("containers", "initContainers", "ephemeralContainers")
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
