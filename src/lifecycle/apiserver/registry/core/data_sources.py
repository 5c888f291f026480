"""Where a claim's volume gets its content: `dataSource`, the old field, and
`dataSourceRef`, the new one, kept in step.

Upstream: `pkg/api/persistentvolumeclaim/util.go` (`DropDisabledFields`,
`EnforceDataSourceBackwardsCompatibility`, `NormalizeDataSources`), v1.36, gate
`CrossNamespaceVolumeDataSource` off.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

_OLD_KINDS = {
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
}
"""All that the old field ever accepted; anything else in it is dropped without a
word.
"""


def prepare_data_sources(spec: Object, old: Object | None) -> None:
    """Drop what the old field may not hold and what crosses namespaces, then copy one
    field to the other. `old` is None at creation.
    """
    before = old or {}
    reference = spec.get("dataSourceRef")
    if (
        reference is not None
        and reference.get("namespace")
        and before.get("dataSourceRef") is None
    ):
        del spec["dataSourceRef"]
        reference = None
    source = spec.get("dataSource")
    used = (
        before.get("dataSource") is not None or before.get("dataSourceRef") is not None
    )
    foreign = (
        source is not None
        and (source.get("apiGroup") or "", source.get("kind")) not in _OLD_KINDS
    )
    if foreign and reference is None and not used:
        del spec["dataSource"]
    elif source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)
