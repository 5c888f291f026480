"""`patch`: the real kubectl 1.36 and ours say the same, and leave the same behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from lifecycle.agreements.kubectl.printed import OWN, shown
from tests.kubectl.beside import Answer, Both, tidy

FILES = {
    "patched.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: patched}\ndata: {a: b, c: d}\n",
    "foreign.yaml": "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\nspec: {a: b}\n",
    "patch.yaml": "data:\n  c: null\n  e: f\n",
}

LINES = """
patch
patch cm patched
patch cm patched -p '{}' --patch-file HOME/patch.yaml
patch cm patched -p 'a: ['
patch cm patched --patch-file HOME/nope.yaml
patch cm patched -p '{}' --type x
patch cm patched -p '{}' --local
patch -f HOME/patched.yaml -p '{}' --local --dry-run=server
patch -f HOME/patched.yaml cm -p '{}'
patch cm -p '{}'
patch cm nope patched -p '{"data":{"x":"y"}}' --dry-run=server
patch cm patched -p '{}'
patch cm patched -p null
patch cm patched -p '"x"'
patch cm patched -p '[]'
patch cm patched -p '{"data":{"x":"y"}}' --dry-run=client
patch cm patched -p '{"data":{"x":"y"}}' --dry-run=client -o jsonpath={.data}
patch cm patched -p '{"data":{"x":"y"}}' --dry-run=server -o jsonpath={.data}
patch cm patched -p '{"data":{"x":"y"}}' -o bad
patch cm patched -p '{"data":{"x":"y"}}'
patch cm patched -p 'data: {x: y}'
patch cm/patched --patch-file HOME/patch.yaml
patch -f HOME/patched.yaml -p '{"data":{"a":"z"}}' -o jsonpath={.data}
patch cm patched -p '{"dataa":{}}'
patch cm patched -p '{"data":5}'
patch cm patched -p '{"metadata":{"name":"other"}}'
patch cm patched --type merge -p '{"data":{"a":null}}' -o jsonpath={.data}
patch cm patched --type MERGE -p '[]'
patch cm patched --type json -p '[{"op":"add","path":"/data/j","value":"1"}]'
patch cm patched --type json -p '[{"op":"add","path":"/data/j","value":"1"}]'
patch cm patched --type json -p '[{"op":"test","path":"/data/j","value":"2"}]'
patch cm patched --type json -p '{"op":"add"}'
patch cm patched --type json -p '[5]'
patch cm patched --record -p '{"data":{"r":"1"}}' -o jsonpath={.metadata.annotations}
patch cm patched --subresource=bogus -p '{}'
patch cm patched --subresource=status -p '{}'
create deployment p --image=nginx --replicas=0
patch deploy p --subresource=scale --type merge -p '{"spec":{"replicas":1}}' --dry-run=server
patch deploy p --subresource=scale --type merge -p '{"spec":{"replicas":0}}' -o jsonpath={.spec}
patch deploy p --subresource=status -p '{"status":{"replicas":9}}' --dry-run=server -o jsonpath={.status.replicas}
patch deploy p -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:2"}]}}}}' -o jsonpath={..image}
patch deploy p -p '{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}'
patch deploy p -p '{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}' --dry-run=client
patch deploy p -p '{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"x"}]}}}}' --dry-run=client -o jsonpath={..image}
patch deploy p cm/patched -p '{"metadata":{"labels":{"all":"of-them"}}}'
patch deploy/p cm/patched -p '{"metadata":{"labels":{"all":"of-them"}}}'
get cm patched -o yaml
""".strip().splitlines()

LOCAL = [
    f"patch -f HOME/patched.yaml --local --type {how} -p '{text}' -o {form}"
    for how, text, form in [
        ("strategic", '{"data":{"a":null}}', "yaml"),
        ("strategic", "5", "yaml"),
        ("strategic", "null", "json"),
        ("merge", '{"data":{"e":"f"}}', "json"),
        ("merge", "5", "yaml"),
        ("merge", "[]", "yaml"),
        ("merge", "null", "yaml"),
        ("json", '{"a":1}', "yaml"),
        ("json", "null", "name"),
        ("json", "[]", "name"),
        ("json", '[{"op":"add","path":"/data/x/y","value":1}]', "yaml"),
        ("json", '[{"op":"replace","path":"/data/x","value":"1"}]', "yaml"),
        ("json", '[{"op":"replace","path":"/data/x/y","value":"1"}]', "yaml"),
        ("json", '[{"op":"remove","path":"/data/x"}]', "yaml"),
        ("json", '[{"op":"remove","path":"/data/x/y"}]', "yaml"),
        ("json", '[{"op":"move","from":"/data/x","path":"/data/y"}]', "yaml"),
        ("json", '[{"op":"copy","from":"/data/x","path":"/data/y"}]', "yaml"),
        ("json", '[{"op":"copy","from":"/data/a","path":"/data/y"}]', "yaml"),
        ("json", '[{"op":"test","path":"/data/x","value":"1"}]', "yaml"),
        ("json", '[{"op":"test","path":"/data/a","value":"1"}]', "yaml"),
        ("json", '[{"op":"bogus","path":"/data/a","value":"1"}]', "yaml"),
        ("json", '[{"path":"/data/a"}]', "yaml"),
        (
            "json",
            '[{"op":"add","path":"/metadata/finalizers","value":["a"]},{"op":"add","path":"/metadata/finalizers/9","value":"b"}]',
            "yaml",
        ),
        (
            "json",
            '[{"op":"add","path":"/metadata/finalizers","value":["a"]},{"op":"remove","path":"/metadata/finalizers/9"}]',
            "yaml",
        ),
        (
            "json",
            '[{"op":"add","path":"/metadata/finalizers","value":["a"]},{"op":"add","path":"/metadata/finalizers/-","value":"b"}]',
            "yaml",
        ),
    ]
] + ["patch -f HOME/foreign.yaml --local -p '{}'"]


def settled(answer: Answer, who: str = "") -> tuple[str, ...]:
    parts = [shown(part) for part in answer]
    for pattern, name in OWN:
        parts = [re.sub(pattern, name, part) for part in parts]
    return tuple(map(tidy, parts))


@pytest.fixture(scope="module")
def files(both: Both) -> Iterator[Both]:
    yield from with_objects(both)


def with_objects(both: Both) -> Iterator[Both]:
    for name, text in FILES.items():
        (both.home / name).write_text(text)
    for who in ("real", "ours"):
        assert both.ours(f"create namespace {who}-patched")[0] == 0
        assert both.ours(f"create -f {both.home}/patched.yaml -n {who}-patched")[0] == 0
    yield both


def test_objects_are_patched_in_turn(files: Both) -> None:
    wrong = files.in_two_namespaces(LINES, settled, "-patched")
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


def test_what_is_in_files_is_patched_without_a_server(files: Both) -> None:
    answers = files.ahead(LOCAL)
    asked = [(line, settled(answers[line].result()), settled(files.ours(line))) for line in LOCAL]
    wrong = [each for each in asked if each[1] != each[2]]
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)
