"""What is asked of a definition: everything of a new one today, less of what is stored
already, and less of what is sent in `v1beta1`, where schemas came later.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`validationOptions`, `requireOpenAPISchema`, `requireStructuralSchema`,
`requireValidPropertyType`, `allowDefaults`), v1.36; at v1.20 they know a `requestGV`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.structural import TYPES, is_structural


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """`openapi_schema`: each version has a schema. `structural_schema`: and it is
    structural. `property_types`: with types that there are. `defaults`: values may be
    filled in. `approval`: groups of the community are approved. `pruning`: unknown
    fields are dropped. `rule_costs`: no rule may cost too much, but for those of
    `unchanged_versions`.
    """

    openapi_schema: bool = True
    structural_schema: bool = True
    property_types: bool = True
    defaults: bool = True
    approval: bool = True
    pruning: bool = True
    rule_costs: bool = True
    unchanged_versions: frozenset[str] = frozenset()

    def on_update(self, new: Object, old: Object) -> ValidationOptions:
        """What is stored already may stay as it is."""
        schemas = list(schemas_of(old))
        there = [schema for schema in schemas if schema is not None]
        return replace(
            self,
            openapi_schema=self.openapi_schema and len(there) == len(schemas),
            structural_schema=self.structural_schema and all(map(is_structural, there)),
            property_types=self.property_types
            and not any(anywhere(each, _of_unknown_type) for each in there),
            defaults=self.defaults or any(map(has_default, there)),
            unchanged_versions=_unchanged_versions(new, old),
        )

    def for_version(self, name: str) -> ValidationOptions:
        """A rule that is too expensive today was not when it was stored."""
        return replace(self, rule_costs=name not in self.unchanged_versions)

    def for_spec(self, spec: Object) -> ValidationOptions:
        """Pruning, defaults and Kubernetes' own words in schemas need structure."""
        schemas = [each for each in schemas_of({"spec": spec}) if each is not None]
        needed = (
            not spec.get("preserveUnknownFields")
            or (self.defaults and any(map(has_default, schemas)))
            or any(anywhere(each, _has_extension) for each in schemas)
        )
        return replace(self, structural_schema=self.structural_schema or needed)


STRICT = ValidationOptions()
V1BETA1 = ValidationOptions(
    openapi_schema=False,
    structural_schema=False,
    property_types=False,
    defaults=False,
    approval=False,
    pruning=False,
)


def schemas_of(definition: Object) -> Iterator[Any]:
    """The schema of each version, or None."""
    for version in (definition.get("spec") or {}).get("versions") or ():
        yield (version.get("schema") or {}).get("openAPIV3Schema")


def _unchanged_versions(new: Object, old: Object) -> frozenset[str]:
    """Upstream: `getVersionsWithUnchangedSchemas`."""
    schemas, before = (
        {
            version.get("name", ""): schema
            for version, schema in zip(
                each["spec"].get("versions") or (), schemas_of(each), strict=True
            )
        }
        for each in (new, old)
    )
    return frozenset(
        name for name in schemas if name in before and schemas[name] == before[name]
    )


def anywhere(schema: Any, holds: Callable[[Object], bool]) -> bool:
    """Whether something holds of a schema or of one below it."""
    if isinstance(schema, list):
        return any(anywhere(each, holds) for each in schema)
    if not isinstance(schema, dict):
        return False
    below = [value for key, value in schema.items() if key not in _NO_SCHEMAS]
    for key in _BY_NAME:
        below += (schema.get(key) or {}).values()
    return holds(schema) or any(anywhere(each, holds) for each in below)


_BY_NAME = ("properties", "definitions", "patternProperties", "dependencies")
_NO_SCHEMAS = (*_BY_NAME, "default", "enum", "example", "x-kubernetes-validations")


def has_default(schema: Any) -> bool:
    """Whether a schema fills in anything, wherever."""
    return anywhere(schema, lambda each: each.get("default") is not None)


def _has_extension(schema: Object) -> bool:
    """Upstream: `schemaHasKubernetesExtensions`."""
    return any(key.startswith("x-kubernetes-") and schema[key] for key in schema)


def _of_unknown_type(schema: Object) -> bool:
    return bool(schema.get("type")) and schema["type"] not in TYPES
