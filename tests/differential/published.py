"""What a server publishes about itself: its kinds (discovery) and their shapes (OpenAPI v3)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.differential.player import Target

Schema = dict[str, Any]
SUBRESOURCES = ("status", "scale", "eviction", "binding", "token", "ephemeralcontainers", "resize", "approval")


@dataclass(frozen=True)
class Kind:
    """A resource that can be created."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: tuple[str, ...]
    subresources: tuple[tuple[str, str, tuple[str, ...]], ...]  # name, kind, verbs
    schema: str

    @property
    def collection(self) -> str:
        """The path of its objects in the case's namespace."""
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        return f"{root}/namespaces/{{ns}}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"


@dataclass(frozen=True)
class Published:
    """All kinds, and all schemas by name."""

    kinds: tuple[Kind, ...]
    schemas: dict[str, Schema]

    def resolve(self, schema: Schema) -> tuple[str, Schema]:
        """The schema that a reference means, with its name."""
        name = ""
        while True:
            reference = schema.get("$ref") or next(
                (part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), ""
            )
            if not reference:
                return name, schema
            name = reference.rpartition("/")[2]
            schema = self.schemas[name]


async def _get(target: Target, path: str) -> Any:
    status, _, body = await target.request("GET", path, {"Accept": "application/json"}, b"")
    if status != 200:
        raise RuntimeError(f"GET {path} answered {status}")
    return json.loads(body)


async def published(target: Target) -> Published:
    """Ask a server for all of it."""
    schemas: dict[str, Schema] = {}
    kinds: list[Kind] = []
    for path in sorted((await _get(target, "/openapi/v3"))["paths"]):
        if path != "api/v1" and not (path.startswith("apis/") and path.count("/") == 2):
            continue
        api_version = path.removeprefix("apis/").removeprefix("api/")
        document = await _get(target, f"/openapi/v3/{path}")
        named = document.get("components", {}).get("schemas", {})
        schemas.update(named)
        by_kind = {
            row["kind"]: name
            for name, schema in named.items()
            for row in schema.get("x-kubernetes-group-version-kind", ())
            if api_version in (row["version"], f"{row['group']}/{row['version']}")
        }
        resources = (await _get(target, f"/{path}"))["resources"]
        for row in resources:
            if "/" not in row["name"] and "create" in row["verbs"] and row["kind"] in by_kind:
                below = tuple(
                    (other["name"].partition("/")[2], other["kind"], tuple(other["verbs"]))
                    for other in resources
                    if other["name"].startswith(f"{row['name']}/") and other["name"].partition("/")[2] in SUBRESOURCES
                )
                kinds.append(
                    Kind(
                        api_version,
                        row["kind"],
                        row["name"],
                        row["namespaced"],
                        tuple(row["verbs"]),
                        below,
                        by_kind[row["kind"]],
                    )
                )
    return Published(tuple(kinds), schemas)
