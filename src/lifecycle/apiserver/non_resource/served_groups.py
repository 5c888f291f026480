"""What a server serves beside the published resources: discovery and OpenAPI merge it
in.

Custom resources and aggregated API servers come and go while the server runs. Whoever
brings some is a `ServedGroups`: it says which resources it serves now and with which
schemas. Discovery asks every provider when it is asked itself.

Upstream: `kube-aggregator/pkg/apiserver/handler_discovery.go`,
`apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go`,
`apimachinery/pkg/version/helpers.go` (`CompareKubeAwareVersionStrings`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource


class ServedGroups(Protocol):
    """One provider of groups."""

    @property
    def version(self) -> int:
        """Changes whenever the answers below may have changed."""
        ...

    def resources(self) -> Iterable[Resource]:
        """What is served now; of each group the preferred version first."""
        ...

    def openapi(self) -> dict[str, bytes]:
        """What the OpenAPI v3 documents are made of, by path below `/openapi/v3`:
        `apis/example.com/v1`.
        """
        ...

    def openapi_document(self, parts: bytes) -> bytes:
        """The document, as JSON. Knows nothing but its argument."""
        ...


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


def version_priority(name: str) -> tuple[int, int, int, str]:
    """Sorts versions: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, foo1,
    foo10.
    """
    match = _VERSION.fullmatch(name)
    if match is None:
        return 1, 0, 0, name
    stage = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return 0, stage, -int(match[1]) * 1000 - int(match[3] or 0), ""


def legacy_list(rows: Iterable[Resource], group_version: str) -> Object:
    """An `APIResourceList`."""
    listed: list[Object] = []
    for row in rows:
        entry: Object = {
            "name": row.plural, "singularName": row.singular,
            "namespaced": row.namespaced, "kind": row.kind, "verbs": list(row.verbs),
        }  # fmt: skip
        if row.short_names:
            entry["shortNames"] = list(row.short_names)
        if row.categories:
            entry["categories"] = list(row.categories)
        if row.storage_version_hash:
            entry["storageVersionHash"] = row.storage_version_hash
        listed.append(entry)
        for sub in row.subresources:
            entry = {
                "name": f"{row.plural}/{sub.name}",
                "singularName": "",
                "namespaced": row.namespaced,
            }
            if (sub.group, sub.version) != (row.group, row.version):
                entry |= {"group": sub.group, "version": sub.version}
            listed.append({**entry, "kind": sub.kind, "verbs": list(sub.verbs)})
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": listed,
    }


def api_group(name: str, rows: Iterable[Resource]) -> Object:
    """An entry of an `APIGroupList`."""
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in dict.fromkeys(row.version for row in rows)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def aggregated_group(name: str, rows: Iterable[Resource]) -> Object:
    """An item of an `APIGroupDiscoveryList`."""
    versions: dict[str, list[Object]] = {}
    for row in rows:
        entry: Object = {
            "resource": row.plural,
            "responseKind": {
                "group": row.group,
                "version": row.version,
                "kind": row.kind,
            },
            "scope": "Namespaced" if row.namespaced else "Cluster",
            "singularResource": row.singular,
            "verbs": list(row.verbs),
        }
        if row.short_names:
            entry["shortNames"] = list(row.short_names)
        if row.categories:
            entry["categories"] = list(row.categories)
        if row.subresources:
            entry["subresources"] = [
                {
                    "subresource": sub.name,
                    "responseKind": {
                        "group": sub.group,
                        "version": sub.version,
                        "kind": sub.kind,
                    },
                    "verbs": list(sub.verbs),
                }
                for sub in row.subresources
            ]
        versions.setdefault(row.version, []).append(entry)
    return {
        "metadata": {"name": name, "creationTimestamp": None},
        "versions": [
            {"version": name, "resources": resources, "freshness": "Current"}
            for name, resources in versions.items()
        ],
    }
