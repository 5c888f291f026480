"""What is odd about a policy's expressions, given what it is applied to: warnings in
its status.

When a policy is written, `object` may be anything, so `object.spec.replica > 5`
compiles. Afterwards a controller looks at the kinds that the policy names – wildcards
are given up on – and compiles each expression once more for each of them, this time
with their schemas. Whatever does not compile then is a warning; the policy stays in
force.

Upstream: `apiserver/pkg/admission/plugin/policy/validating/typechecking.go`
(`TypeChecker`), `cel/common/schemas.go` (`SchemaDeclType`), v1.36. Left out: custom
resources, and names of resources in the singular.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources
from lifecycle.api.schema.nodes import Schema
from lifecycle.api.schema.openapi import schema_for
from lifecycle.apiserver.admission.policy_expressions import base_environment
from lifecycle.apiserver.cel.environment import (
    DYN,
    CompileError,
    Environment,
    message_type,
)
from lifecycle.apiserver.cel.escaping import escaped
from lifecycle.apiserver.cel.types import (
    ANY,
    DURATION,
    MESSAGES,
    TIMESTAMP,
    build_types,
    list_of,
    map_of,
)

MAX_TYPES = 10
PACKAGE = "declared"
_LEAVES = {
    "integer": "int64",
    "number": "double",
    "boolean": "bool",
    "int-or-string": ANY,
}
_FORMATS = {
    "date-time": TIMESTAMP,
    "date": TIMESTAMP,
    "duration": DURATION,
    "byte": "bytes",
}


class _Declarations:
    """The types of one kind and of all it consists of, written as in
    `cel.types.MESSAGES`.
    """

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, str]] = {}
        self._names: dict[int, str] = {}

    def of(self, schema: Schema) -> str | None:
        """How to write a schema's type; None for what rules cannot see."""
        if schema.kind == "object":
            return self._object(schema)
        if schema.kind in ("list", "map"):
            inner = schema.items if schema.kind == "list" else schema.values
            held = self.of(inner) if inner is not None else None
            if held is None:
                return None
            return list_of(held) if schema.kind == "list" else map_of(held)
        if schema.kind == "string":
            return _FORMATS.get(schema.format, "string")
        return _LEAVES.get(schema.kind)

    def _object(self, schema: Schema) -> str:
        known = self._names.get(id(schema))
        if known is not None:
            return known
        short = schema.name.rpartition(".")[2] or "object"
        name = self._names[id(schema)] = f"{PACKAGE}.{short}{len(self._names)}"
        fields = self.messages[name] = {}
        for key, child in schema.fields.items():
            kind = self.of(child)
            if kind is not None and escaped(key).isidentifier():
                fields[escaped(key)] = kind
        return name


@lru_cache(maxsize=64)
def _environment(
    api_version: str, kind: str, params: tuple[str, str] | None, has_params: bool
) -> Environment:
    """Where `object` is of a kind, and `params` of another."""
    declarations = _Declarations()
    variables: dict[str, Any] = dict(base_environment(has_params, True).variables)
    known_variables = [
        (("object", "oldObject"), (api_version, kind)),
        *([(("params",), params)] if params else ()),
    ]
    for names, (version, what) in known_variables:
        written = declarations.of(schema_for(version, what))
        variables |= dict.fromkeys(
            names, DYN if written is None else message_type(written)
        )
    pool = build_types({**MESSAGES, **declarations.messages}).pool
    return Environment(variables, pool=pool)


def type_check(policy: Object) -> list[Object]:
    """The warnings, each with the field it is about; none if nothing is odd."""
    spec = policy.get("spec") or {}
    kinds = types_to_check(spec)
    environments = [(row, _with_variables(row, spec)) for row in kinds]
    warnings: list[Object] = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for key in ("expression", "messageExpression"):
            if validation.get(key):
                results = [
                    _check_expression(row, environment, validation[key])
                    for row, environment in environments
                ]
                if any(results):
                    where = f"spec.validations[{index}].{key}"
                    warnings.append(
                        {
                            "fieldRef": where,
                            "warning": "\n".join(each for each in results if each),
                        }
                    )
    return warnings


def types_to_check(spec: Object) -> list[Resource]:
    """The kinds that the rules name outright, at most ten, in order of group, version
    and kind.
    """
    types: set[Resource] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or [], rule.get("apiVersions") or []
        if any("*" in each for each in (*groups, *versions)):
            continue
        plurals = [
            each for each in rule.get("resources") or () if not set(each) & set("*/")
        ]
        count = 0
        for row in sorted(
            all_resources(), key=lambda row: (row.group, row.version, row.plural)
        ):
            if (
                row.group in groups
                and row.version in versions
                and row.plural in plurals
            ):
                types.add(row)
                count += 1
                if count == MAX_TYPES:
                    return _sorted(types)
    return _sorted(types)


def _sorted(rows: set[Resource]) -> list[Resource]:
    return sorted(rows, key=lambda row: (row.group, row.version, row.kind))


def _with_variables(row: Resource, spec: Object) -> Environment:
    """The kind's environment with the policy's own variables, each of the type that its
    expression has there.
    """
    param_kind = spec.get("paramKind") or {}
    params = (
        (param_kind.get("apiVersion", ""), param_kind.get("kind", ""))
        if param_kind
        else None
    )
    try:
        environment = _environment(
            row.api_version, row.kind, params, params is not None
        )
    except KeyError:  # parameters of a kind without a published schema may be anything
        environment = _environment(row.api_version, row.kind, None, params is not None)
    for variable in spec.get("variables") or ():
        try:
            kind = environment.compile(variable.get("expression", "")).type
        except CompileError:
            kind = DYN
        environment = environment.extended(
            {f"variables.{variable.get('name', '')}": kind}
        )
    return environment


def _check_expression(row: Resource, environment: Environment, expression: str) -> str:
    try:
        environment.compile(expression)
    except CompileError as error:
        issues = str(error).removeprefix("compilation failed: ")
        return f"{row.group}/{row.version}, Kind={row.kind}: {issues}\n"
    return ""
