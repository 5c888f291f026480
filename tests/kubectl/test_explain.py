"""`kubectl explain`: beside the real one on the cluster's own OpenAPI documents, and on a small document with every shape in it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

import pytest

from lifecycle.kubectl.failures import CommandError, PartlyPrinted
from lifecycle.kubectl.printing.explaining import explained
from lifecycle.kubectl.printing.word_wrap import wrapped
from tests.kubectl.beside import Answer, Both

LINES = """
explain
explain pods x
explain foo.bar
explain pods.nope
explain pods.spec.nope.x
explain pods -o foo
explain pods[0]
explain ''
explain pods --api-version=v9
explain pods --recursive
explain po.spec.containers.name
explain deployments.apps.spec.strategy
explain pods.spec.containers.imagePullPolicy
explain pods.metadata.managedFields.fieldsV1
explain svc.spec.ports.targetPort
explain cm.data
explain nodes.status.capacity
explain ev.involvedObject
explain ingresses.networking.k8s.io.spec.rules
explain hpa --api-version=autoscaling/v1
explain crd.spec.versions.schema -R
explain netpol.spec -R
explain jobs.spec.podFailurePolicy
explain apiservices.spec
explain tokenreviews
""".strip().splitlines()


@pytest.fixture(scope="module")
def said(both: Both) -> Mapping[str, Future[Answer]]:
    return both.ahead(LINES)


@pytest.mark.parametrize("line", LINES)
def test_the_same_explanation(both, said, line):
    assert both.ours(line) == said[line].result()


GVK = {"group": "g.io", "kind": "Thing", "version": "v1"}
DOCUMENT = {
    "paths": {"/apis/g.io/v1/things": {"get": {"x-kubernetes-group-version-kind": GVK}}},
    "components": {
        "schemas": {
            "g.Thing": {
                "description": "A thing.",
                "x-kubernetes-group-version-kind": [GVK],
                "required": ["mode"],
                "properties": {
                    "mode": {"type": "string", "enum": ["", "a", "b", "c", "d"], "description": "How."},
                    "parts": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/g.Part"}]}},
                    "by": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/g.Amount"}},
                    "self": {"allOf": [{"$ref": "#/components/schemas/g.Thing"}]},
                    "docs": {"type": "string", "externalDocs": {"description": "More.", "url": "https://x"}},
                },
            },
            "g.Part": {"description": "A part.", "type": "object", "properties": {"size": {"type": "integer"}}},
            "g.Amount": {"type": "string"},
        }
    },
}


def told(*fields: str, deep: bool = False) -> str:
    return explained(DOCUMENT, "g.io", "v1", "things", fields, deep=deep)


def test_a_type_lists_its_fields_with_their_types():
    assert told() == (
        "GROUP:      g.io\nKIND:       Thing\nVERSION:    v1\n\nDESCRIPTION:\n    A thing.\n    \nFIELDS:\n"
        "  by\t<map[string]string>\n    <no description>\n\n"
        "  docs\t<string>\n    <no description>\n\n    EXTERNAL DOCS:\n      More.\n      URL: https://x\n\n"
        '  mode\t<string> -required-\n  enum: "", a, b, c, ....\n    How.\n\n'
        "  parts\t<[]Part>\n    <no description>\n\n"
        "  self\t<Thing>\n    <no description>\n\n\n"
    )


def test_a_field_is_found_behind_lists_and_references():
    assert told("parts", "size") == (
        "GROUP:      g.io\nKIND:       Thing\nVERSION:    v1\n\nFIELD: size <integer>\n\n\nDESCRIPTION:\n    <empty>\n\n"
    )
    assert "FIELD: size <integer>" in told("self", "self", "parts", "size")
    assert 'ENUM:\n    ""\n    a\n    b\n    c\n    d\n\n' in told("mode")


def test_what_holds_itself_is_gone_into_once():
    deep = told(deep=True)
    assert deep.count("self\t<Thing>") == 2
    assert deep.count("size\t<integer>") == 2


def test_what_is_not_there_is_said_after_the_kind():
    with pytest.raises(PartlyPrinted, match=r'error: field "nope" does not exist$') as wrong:
        told("parts", "nope")
    assert wrong.value.text.startswith("GROUP:      g.io")
    with pytest.raises(CommandError, match=r"error: GVR \(g.io/v1, Resource=others\) not found in OpenAPI schema$"):
        explained(DOCUMENT, "g.io", "v1", "others", (), deep=False)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", "one two\nthree"),
        ("one  two", "one  two"),
        ("averylongword x", "averylongword\nx"),
        ("a averylongword", "a\naverylongword"),
        ("one\ntwo three four", "one\ntwo\nthree\nfour"),
        ("trailing   ", "trailing"),
        ("no\N{NO-BREAK SPACE}break here", "no\N{NO-BREAK SPACE}break\nhere"),
    ],
)
def test_lines_break_between_words(text, lines):
    assert wrapped(text, 8) == lines
