"""What a definition is told besides its schema's structure: selectable fields, conversion, patterns, the rules' own mistakes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from lifecycle.api.go.regexp import parse_error
from lifecycle.apiserver.apiextensions.field_paths import PathError, field_at
from lifecycle.apiserver.apiextensions.schema_validation import validate_value
from lifecycle.apiserver.apiextensions.validation.definition import validate_definition
from tests.apiserver.custom_server import DEFINITIONS, Site, definition, on_server
from tests.apiserver.test_crd import SCHEMA, errors_of

SPEC = f"{SCHEMA}.properties[spec]"
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


def told(version: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    """What is said of a definition with changes to its spec and its only version."""
    new = definition(schema=OBJECT)
    names = new["spec"]["names"]
    names["listKind"] = f"{names['kind']}List"
    new["spec"].update(spec)
    for each in new["spec"]["versions"]:
        each.update(version or {})
    new["status"] = {"storedVersions": [new["spec"]["versions"][0]["name"]] if new["spec"]["versions"] else ["v1"]}
    return [str(error) for error in validate_definition(new)]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([".spec.a"], []),
        (["spec.a"], ['[0].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec']),
        ([".spec['a']"], ["[0].jsonPath: Invalid value: \".spec['a']\": is an invalid path: array notation is not allowed"]),
        ([".spec.b"], ['[0].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a valid field']),
        ([".spec."], ['[0].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path']),
        ([".metadata.name"], ['[0].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field']),
        ([".spec"], ['[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. '
                     "Enum string fields and strings with formats are allowed."]),
        ([".spec.a", ".spec.a"], ['[1].jsonPath: Duplicate value: ".spec.a"']),
        ([""], ["[0].jsonPath: Required value"]),
    ],
)  # fmt: skip
def test_fields_to_select_by(paths: list[str], expected: list[str]) -> None:
    fields = [{"jsonPath": path} for path in paths]
    assert told({"selectableFields": fields}) == [f"spec.selectableFields{each}" for each in expected]


def test_conversion_and_defaults_need_pruning() -> None:
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "", "namespace": "n"}}}
    said = told(conversion={"strategy": "Webhook", "webhook": webhook}, preserveUnknownFields=True)
    assert said[:2] == [
        'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
        "spec.conversion.webhookClientConfig.service.namespace: Required value",  # where upstream finds the name
    ]
    filled = {"type": "object", "properties": {"spec": {"type": "string", "default": "x"}}}
    said = told({"schema": {"openAPIV3Schema": filled}}, preserveUnknownFields=True)
    assert said[0] == (
        "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema"
    )


def test_a_version_is_named_twice() -> None:
    said = told({"name": "Bad"})
    label = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character"
    )
    assert [each.partition(", and end")[0] for each in said] == [
        f'spec.versions[0].name: Invalid value: "Bad": {label}',
        f'spec.version: Invalid value: "Bad": {label}',
    ]


def test_all_that_is_wrong_with_a_deprecation() -> None:
    said = told({"deprecated": True, "deprecationWarning": "é\n" + "x" * 256})
    assert [each.rpartition('": ')[2] for each in said] == [
        "must be <= 256 characters long",
        "must only contain printable UTF-8 characters; non-printable character found at index 2",
    ]


@pytest.mark.parametrize(
    ("rule", "field", "expected"),
    [
        ({"rule": "1"}, "rule", "cel expression must evaluate to a bool"),
        ({"rule": "true", "messageExpression": "1"}, "messageExpression", "messageExpression must evaluate to a string"),
        ({"rule": "true", "fieldPath": "a"}, "fieldPath", "must be a valid path"),
        ({"rule": "true", "fieldPath": ".b"}, "fieldPath", "must be a valid path"),
        ({"rule": "true", "optionalOldSelf": True}, "optionalOldSelf", "may not be set if oldSelf is not used in rule"),
    ],
)  # fmt: skip
def test_mistakes_in_a_rule(rule: dict[str, Any], field: str, expected: str) -> None:
    (said,) = errors_of({**OBJECT, "x-kubernetes-validations": [rule]})
    assert said.startswith(f"{SPEC}.x-kubernetes-validations[0].{field}: Invalid value: ")
    assert said.endswith(f": {expected}")


def test_the_rule_is_shown_with_all_its_fields() -> None:
    (said,) = errors_of({**OBJECT, "x-kubernetes-validations": [{"rule": "1", "reason": "FieldValueInvalid"}]})
    assert (
        '{"Rule":"1","Message":"","MessageExpression":"","Reason":"FieldValueInvalid","FieldPath":"","OptionalOldSelf":null}'
        in said
    )


def test_rules_wait_until_the_schema_below_is_fine() -> None:
    broken = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    }
    said = errors_of({**broken, "x-kubernetes-validations": [{"rule": "1"}]})
    assert [each.partition(":")[0] for each in said] == [f"{SPEC}.properties[a].uniqueItems"]


def test_an_embedded_resource_has_plain_metadata() -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    said = errors_of({**inner, "properties": {"metadata": {**inner}}})
    where = f"{SPEC}.properties[metadata].x-kubernetes-embedded-resource"
    assert f"{where}: Forbidden: must not be used inside of resource meta" in said


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("^a+$", ""),
        ("a[", "error parsing regexp: missing closing ]: `[`"),
        ("a(", "error parsing regexp: missing closing ): `a(`"),
        ("a)", "error parsing regexp: unexpected ): `a)`"),
        ("*", "error parsing regexp: missing argument to repetition operator: `*`"),
        ("a*+", "error parsing regexp: invalid nested repetition operator: `*+`"),
        ("\\é", "error parsing regexp: invalid escape sequence: `\\é`"),
        ("a\\C", "error parsing regexp: invalid escape sequence: `\\C`"),
        ("\\\\C\\Q\\C\\E", ""),
        ("a\\", "error parsing regexp: trailing backslash at end of expression: ``"),
        ("[z-a]", "error parsing regexp: invalid character class range: `z-a`"),
        ("(?=x)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
        ("x(?<=a)b", "error parsing regexp: invalid named capture: `(?<=a)b`"),
        ("(?P<n", "error parsing regexp: invalid named capture: `(?P<n`"),
        ("((a{100}){100}){100}", "error parsing regexp: invalid repeat count: `{100}`"),
        ("(?<n>x)[(]", ""),
        ("(" * 1001 + ")" * 1001, f"error parsing regexp: expression nests too deeply: `{'(' * 1001}{')' * 1001}`"),
        ("[(]" * 1001, ""),
    ],
)
def test_go_says_what_is_wrong_with_a_pattern(pattern: str, error: str) -> None:
    assert parse_error(pattern) == error


@pytest.mark.parametrize(
    ("below", "status", "error"),
    [
        ({"items": [1]}, 400, "cannot unmarshal number into Go struct field JSONSchemaProps.{}.items of type v1.JSONSchemaProps"),
        ({"items": {"properties": "x"}}, 400,
         "cannot unmarshal string into Go struct field JSONSchemaProps.{}.items.properties of type map[string]v1.JSONSchemaProps"),
        ({"additionalProperties": {"properties": {"a": 5}}}, 400,
         "cannot unmarshal number into Go struct field JSONSchemaProps.{}.additionalProperties.properties of type v1.JSONSchemaProps"),
        ({"additionalProperties": "x"}, 400, "boolean or JSON schema expected"),
        ({"items": 5}, 201, ""),
        ({"additionalProperties": {"type": "string", "unheard": 1}}, 201, ""),
        ({"default": 5, "properties": {"a": {"type": "string", "default": "x"}}}, 422,
         'properties[spec].default: Invalid value: "integer":  in body must be of type object: "integer"'),
    ],
)  # fmt: skip
def test_schemas_that_do_not_fit_are_refused_at_any_depth(below: dict[str, Any], status: int, error: str) -> None:
    async def scene(site: Site) -> None:
        body = definition(schema={"type": "object", **below})
        answer = await site.ask("POST", DEFINITIONS, body, wire=True, content_type="application/json")
        assert answer.status == status
        assert error.format("spec.versions.schema.openAPIV3Schema.properties") in answer.obj.get("message", "")

    on_server(scene)


def test_no_pattern_takes_longer_than_its_text_is_long() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$"}
    (said,) = validate_value("a" * 40 + "b", schema, "spec")  # some hours, if one alternative is tried after the other
    assert said.detail == "spec in body should match '^(a+)+$'"
    (said,) = validate_value("x", {"type": "string", "pattern": "["}, "spec")
    why = "error parsing regexp: missing closing ]: `[`"
    assert said.detail == f"spec in body should match '[, but pattern is invalid: {why}'"
    for name, value in (("duration", "1" * 1_000_000), ("email", f"a@{'b' * 1_000_000}@")):
        start = time.process_time()
        assert validate_value(value, {"type": "string", "format": name}, "spec")
        assert time.process_time() - start < 1


def test_a_path_may_go_through_a_map() -> None:
    schema = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}}
    assert field_at(".m['a.b']", schema) == (("m", "a.b"), {"type": "integer"})
    with pytest.raises(PathError, match=r"expected single quoted string but got a$"):
        field_at(".m[a]", schema)
