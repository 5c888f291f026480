"""The small parts that commands are made of: words on the command line, values of flags, patches, lines that are printed."""

from __future__ import annotations

import asyncio
import base64
import io
import os
from typing import Any

import pytest

from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError
from lifecycle.kubectl import printers, source_lines
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flag_values import go_base64, pair, read_as_csv, rfc3339
from lifecycle.kubectl.last_applied import LAST_APPLIED, create_apply_annotation, modified_configuration
from lifecycle.kubectl.local_patch import json_patched, locally_patched
from lifecycle.kubectl.pod_containers import all_container_names, container_names, find_or_default_container
from lifecycle.kubectl.record import change_cause, record
from lifecycle.kubectl.resource_args import check_form, check_no_names, resource_names, single_item_implied, targets
from lifecycle.kubectl.standard_input import standard_input
from lifecycle.kubectl.three_way_merge import three_way_merge_patch


def refused(ask: Any, *args: Any) -> str:
    with pytest.raises((CommandError, StatusError, ValueError)) as caught:
        ask(*args)
    return str(caught.value)


# -- values of flags ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at"),
    [("a", 0), ("aaaaa", 4), ("aa!a", 2), ("aaa", 0), ("aaaa=", 4), ("a===", 1), ("aa=a", 3), ("aa=", 3), ("aaa=a", 4), ("====", 0),
     ("aa==aa", 4)],
)  # fmt: skip
def test_where_a_text_stops_to_be_base64(text: str, at: int) -> None:
    assert refused(go_base64, text) == f"illegal base64 data at input byte {at}"
    assert (
        go_base64(base64.b64encode(b"hello!").decode()[:4] + "\r\n" + base64.b64encode(b"hello!").decode()[4:])
        == b"hello!"
    )


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", ()), ("a", ("a",)), ("a,b", ("a", "b")), ('"a,b",c', ("a,b", "c")), ('"a""b"', ('a"b',)), ("a,,b", ("a", "", "b")),
        ('""', ("",)), (" a , b", (" a ", " b")),
    ],
)  # fmt: skip
def test_a_line_of_csv(text: str, fields: tuple[str, ...]) -> None:
    assert read_as_csv(text) == fields


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ('a"b', 2, 'bare " in non-quoted-field'), ('ä,b"', 5, 'bare " in non-quoted-field'),
        ('"a', 3, 'extraneous or missing " in quoted-field'), ('"a"b', 3, 'extraneous or missing " in quoted-field'),
        ('x,"ä"b', 6, 'extraneous or missing " in quoted-field'),
    ],
)  # fmt: skip
def test_a_quote_that_does_not_belong_there(text: str, column: int, why: str) -> None:
    assert refused(read_as_csv, text) == f"parse error on line 1, column {column}: {why}"


def test_pairs_and_moments() -> None:
    assert (pair(" a = b=c "), pair("=")) == (("a", "b=c"), ("", ""))
    assert refused(pair, "a") == "malformed pair, expect string=string"
    assert rfc3339("2026-01-02T03:04:05Z") == "2026-01-02T03:04:05Z"
    assert rfc3339("2026-01-02T03:04:05,678+02:00") == "2026-01-02T01:04:05Z"
    assert refused(rfc3339, "2026-13-02T03:04:05Z") == 'parsing time "2026-13-02T03:04:05Z": month out of range'
    layout = "2006-01-02T15:04:05Z07:00"
    for text, rest, name in (
        ("x", "x", "2006"),
        ("2026-1", "1", "01"),
        ("2026-01-02 03", " 03", "T"),
        ("2026-01-02T03:04:05", "", "Z07:00"),
    ):
        assert refused(rfc3339, text) == f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{name}"'
    assert refused(rfc3339, "2026-01-02T03:04:05Zx") == 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"'


# -- objects on the command line -----------------------------------------------------------------------------------------


class Mapper:
    def resource_for(self, kind: str, warn: Any = None) -> str:
        return f"<{kind}>"

    def category(self, kind: str) -> list[str]:
        return ["<pods>", "<services>"] if kind == "all" else []


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["pods"], ["<pods>/"]), (["pods", "a", "b"], ["<pods>/a", "<pods>/b"]), (["a/x", "b/y"], ["<a>/x", "<b>/y"]),
        (["a,b", "x"], ["<a>/x", "<b>/x"]), (["all"], ["<pods>/", "<services>/"]),
    ],
)  # fmt: skip
def test_what_arguments_name(args: list[str], named: list[str]) -> None:
    found = targets(Mapper(), args)  # type: ignore[arg-type]
    assert [f"{each.resource}/{each.name}" for each in found] == named


SLASHES = "arguments in resource/name form"
MIXED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g."
    " 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["a/x", "b"], MIXED), (["a", "b/x"], MIXED), (["a/b/c"], f"{SLASHES} may not have more than one slash"),
        (["/x"], f"{SLASHES} must have a single resource and name"), (["a/"], f"{SLASHES} must have a single resource and name"),
    ],
)  # fmt: skip
def test_a_mixture_of_forms_is_refused(args: list[str], words: str) -> None:
    assert refused(check_form, args) == refused(targets, Mapper(), args) == words


def test_selectors_and_names_exclude_each_other() -> None:
    every = "selectors and the all flag cannot be used when passing resource/name arguments"
    assert refused(check_no_names, ["a/x"]) == refused(check_no_names, ["a,b", "x"]) == every
    assert refused(check_no_names, ["a", "x"]) == "name cannot be provided when a selector is specified"
    check_no_names(["a,b"])
    check_no_names([])
    assert refused(targets, Mapper(), []) == (
        "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f"
        " rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
    )
    one = [["a/x"], ["a", "x"]]
    many = [["a"], ["a/x", "b/y"], ["a", "x", "y"], ["a,b", "x"], []]
    assert [single_item_implied(args) for args in (*one, *many)] == [True] * 2 + [False] * 5
    assert resource_names("pods", ["a", "b/c"]) == ["pods/a", "b/c"]
    assert refused(resource_names, "pods", ["a", ""]) == "resource name may not be empty"


# -- containers, commands, annotations -----------------------------------------------------------------------------------

POD = {
    "metadata": {"name": "p", "namespace": "n"},
    "spec": {
        "containers": [{"name": "a"}, {"name": "b"}],
        "ephemeralContainers": [{"name": "e"}],
        "initContainers": [{"name": "i"}],
    },
}


class Session:
    def __init__(self) -> None:
        self.told: list[str] = []

    def warn(self, text: str) -> None:
        self.told.append(text)


def chosen(pod: Any, name: str = "", **how: bool) -> tuple[str, list[str]]:
    session = Session()
    return find_or_default_container(pod, name, session, **how), session.told  # type: ignore[arg-type]


def test_the_container_that_is_meant() -> None:
    assert all_container_names(POD) == "a, b, e (ephem), i (init)"
    assert (container_names(POD, "initContainers"), container_names({"spec": None})) == (["i"], [])
    assert chosen(POD, "i") == ("i", [])
    assert chosen(POD) == ("a", ['Defaulted container "a" out of: a, b, e (ephem), i (init)\n'])
    assert chosen(POD, quiet=True) == ("a", [])
    annotated = {
        **POD,
        "metadata": {**POD["metadata"], "annotations": {"kubectl.kubernetes.io/default-container": "b"}},
    }
    assert chosen(annotated) == ("b", [])
    annotated["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "gone"}
    assert chosen(annotated)[0] == "a"
    assert chosen({**POD, "spec": {"containers": [{"name": "only"}]}}) == ("only", [])
    assert refused(chosen, POD, "x") == "container x not found in pod p"
    assert (
        refused(chosen, {**POD, "spec": {"initContainers": [{"name": "i"}]}}) == "pod n/p does not have any containers"
    )


class Flags(dict[str, Any]):
    args = ("deployment/web", "x")
    actual = (("replicas", "3"), ("token", "secret"), ("password", "p"), ("record", "true"))


def test_a_command_is_recorded_without_its_secrets() -> None:
    flags: Any = Flags(record=True)
    cause = "kubectl scale deployment/web x --replicas=3 --token=CLASSIFIED --password=CLASSIFIED --record=true"
    assert change_cause("scale", flags) == cause
    obj = {"kind": "K", "metadata": {"name": "n", "annotations": {"a": "b"}}}
    assert record(obj, "scale", flags) == {
        "kind": "K", "metadata": {"name": "n", "annotations": {"a": "b", "kubernetes.io/change-cause": cause}}
    }  # fmt: skip
    assert record({"metadata": None}, "scale", flags)["metadata"]["annotations"] == {
        "kubernetes.io/change-cause": cause
    }
    assert record(obj, "scale", Flags(record=False)) is obj  # type: ignore[arg-type]


def test_what_was_applied_is_remembered() -> None:
    obj = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "c", "annotations": {LAST_APPLIED: "old", "a": "b"}},
    }
    kept = modified_configuration(obj)["metadata"]["annotations"]
    assert kept == {
        "a": "b",
        "kubectl.kubernetes.io/last-applied-configuration": (
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"a":"b"},"name":"c"}}\n'
        ),
    }
    bare = {"kind": "X", "metadata": {"name": "c"}}
    assert create_apply_annotation(bare)["metadata"]["annotations"] == {
        LAST_APPLIED: '{"kind":"X","metadata":{"name":"c"}}\n'
    }
    assert modified_configuration(bare)["metadata"]["annotations"] == {
        LAST_APPLIED: '{"kind":"X","metadata":{"annotations":{},"name":"c"}}\n'
    }  # fmt: skip
    assert obj["metadata"]["annotations"][LAST_APPLIED] == "old"  # type: ignore[index]


def test_lines_of_kubectls_own_sources() -> None:
    names = {name: value for name, value in vars(source_lines).items() if name.isupper()}
    assert names == {
        "LOADER_WARNING": "loader.go:407", "REQUEST": "round_trippers.go:527", "DIAL": "round_trippers.go:562",
        "RESPONSE": "round_trippers.go:632", "BODY": "request.go:1300", "THROTTLED": "request.go:681",
        "RETRY_AFTER": "with_retry.go:223", "KUBECTL_SCHEME": "pkg/scheme/scheme.go:28",
        "EXEC_SCHEME": "client-go/plugin/pkg/client/auth/exec/exec.go:64", "CONFIG_SCHEME": "pkg/runtime/scheme.go:110",
    }  # fmt: skip


def test_what_is_typed_comes_in_pieces_until_its_end() -> None:
    async def read(stdin: Any) -> list[bytes]:
        return [piece async for piece in standard_input(stdin)]

    assert asyncio.run(read(io.StringIO("text"))) == [b"text"]
    assert asyncio.run(read(io.StringIO(""))) == []
    reading, writing = os.pipe()
    os.write(writing, b"piped")
    os.close(writing)
    with os.fdopen(reading) as stdin:
        assert asyncio.run(read(stdin)) == [b"piped"]


# -- printing ------------------------------------------------------------------------------------------------------------

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}


def test_an_object_is_called_by_its_type_and_its_name() -> None:
    assert printers.type_name(DEPLOYMENT) == "deployment.apps"
    assert printers.type_name(DEPLOYMENT, "deployments") == "deployments.apps"
    assert printers.type_name({"kind": "Pod", "apiVersion": "v1"}) == "pod"
    assert printers.qualified_name(DEPLOYMENT) == "deployment.apps/web"
    assert printers.qualified_name({"kind": "Pod", "metadata": None}) == "pod/"
    notes = {"none": "", "client": " (dry run)", "server": " (server dry run)"}
    assert {how: printers.operation_line(DEPLOYMENT, "created", how) for how in notes} == {
        how: f"deployment.apps/web created{note}\n" for how, note in notes.items()
    }
    assert str(printers.unknown_format("x", printers.FORMATS)) == (
        'unable to match a printer suitable for the output format "x", allowed formats are: go-template,go-template-file,json,'
        "jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml"
    )
    assert printers.GET_FORMATS == (
        "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,"
        "name,template,templatefile,wide,yaml"
    )
    managed = {
        "metadata": {"managedFields": [], "name": "a"},
        "items": [{"metadata": {"managedFields": []}}, {"metadata": None}],
    }
    assert printers.without_managed_fields(managed) == {
        "metadata": {"name": "a"},
        "items": [{"metadata": {}}, {"metadata": None}],
    }
    assert printers.to_json({"b": 1, "a": "<"}) == '{\n    "b": 1,\n    "a": "\\u003c"\n}\n'


TABLE = {
    "columnDefinitions": [{"name": "Name"}, {"name": "Ready", "priority": 0}, {"name": "More", "priority": 1}],
    "rows": [
        {"cells": ["a", True, None], "object": {"metadata": {"namespace": "n"}}}, {"cells": ["bb\ncc", 7, "x"], "object": None}
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"wide": False}, "NAME    READY\na       true\nbb...   7\n"),
        ({"wide": True}, "NAME    READY   MORE\na       true    \nbb...   7       x\n"),
        ({"wide": False, "no_headers": True}, "a       true\nbb...   7\n"),
        (
            {"wide": False, "kind": "pod", "namespaced": True},
            "NAMESPACE   NAME        READY\nn           pod/a       true\n            pod/bb...   7\n",
        ),
    ],
)  # fmt: skip
def test_a_servers_table_as_text(how: dict[str, Any], text: str) -> None:
    assert printers.render_table([TABLE], **how) == text
    rows = {"rows": TABLE["rows"][:1]}
    assert printers.render_table([rows], wide=False, no_headers=True, columns_of=TABLE) == "a     true\n"


# -- patches -------------------------------------------------------------------------------------------------------------

OBJ: Any = {"apiVersion": "v1", "kind": "Pod", "a": {"b": 1, "l": ["x", "y"]}, "m/n": {"~": 1}}


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"op": "odd", "path": "/a"}, 'invalid operation {"op":"odd","path":"/a"}: unsupported operation'),
        ({"op": "test", "path": "/a/b", "value": 2}, "testing value /a/b failed: test failed"),
        ({"op": "move", "from": "/a/c", "path": "/d"}, "error in move for path: 'c': unable to get nonexistent key: c: missing value"),
        ({"op": "copy", "from": "/a/c", "path": "/d"}, "error in copy for from: '/a/c': unable to get nonexistent key: c: missing value"),
        ({"op": "remove", "path": "/a/c"}, "error in remove for path: '/a/c': unable to remove nonexistent key: c: missing value"),
        ({"op": "replace", "path": "/a/c", "value": 1}, "replace operation does not apply: doc is missing key: /a/c: missing value"),
        ({"op": "add", "path": "/x/y", "value": 1}, 'add operation does not apply: doc is missing path: "/x/y": missing value'),
        ({"op": "replace", "path": "/x/y", "value": 1}, "replace operation does not apply: doc is missing path: /x/y: missing value"),
        ({"op": "remove", "path": "/a/l/7/x"}, 'remove operation does not apply: doc is missing path: "/a/l/7/x": missing value'),
        (
            {"op": "add", "path": "/a/l/3", "value": 1},
            "error in add for path: '/a/l/3': Unable to access invalid index: 3: invalid index referenced",
        ),
        (
            {"op": "remove", "path": "/a/l/2"},
            "error in remove for path: '/a/l/2': Unable to access invalid index: 2: invalid index referenced",
        ),
        (
            {"op": "replace", "path": "/a/l/-3", "value": 1},
            "error in replace for path: '/a/l/-3': Unable to access invalid index: -3: invalid index referenced",
        ),
    ],
)  # fmt: skip
def test_the_operation_that_failed_is_told(operation: dict[str, Any], words: str) -> None:
    assert refused(json_patched, OBJ, [operation]) == words


def test_patches_are_laid_over_an_object() -> None:
    patch = [
        {"op": "test", "path": "/m~1n/~0", "value": 1}, {"op": "add", "path": "/a/l/2", "value": "z"},
        {"op": "add", "path": "/a/l/-", "value": "end"}, {"op": "replace", "path": "/a/b", "value": 2},
        {"op": "move", "from": "/a/b", "path": "/a/c"}, {"op": "copy", "from": "/a/l/0", "path": "/first"},
        {"op": "remove", "path": "/a/l/1"},
    ]  # fmt: skip
    patched = locally_patched(OBJ, patch, "json")
    assert (patched["a"], patched["first"]) == ({"l": ["x", "z", "end"], "c": 2}, "x")
    assert OBJ["a"] == {"b": 1, "l": ["x", "y"]}
    assert locally_patched(OBJ, {"a": None, "n": 1}, "merge") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "m/n": {"~": 1},
        "n": 1,
    }
    assert locally_patched(OBJ, [1], "merge") == [1]
    assert refused(locally_patched, OBJ, 7, "merge") == "Invalid JSON Patch"
    assert refused(locally_patched, OBJ, [1], "strategic") == "invalid JSON document"
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "image": "x"}]}}
    added = locally_patched(pod, {"spec": {"containers": [{"name": "b"}]}}, "strategic")["spec"]["containers"]
    assert sorted(each["name"] for each in added) == ["a", "b"]


def pod(*containers: dict[str, Any], **more: Any) -> Any:
    return {"spec": {"containers": list(containers), **more}}


A, A2, B = {"name": "a", "image": "1"}, {"name": "a", "image": "2"}, {"name": "b", "image": "1"}
ORDER = "$setElementOrder/containers"


@pytest.mark.parametrize(
    ("original", "modified", "current", "patch"),
    [
        ({}, {"x": 1}, {"x": 1, "y": 2}, {}), ({"y": 1}, {"x": 1}, {"x": 2, "y": 1}, {"x": 1, "y": None}), ({"y": 1}, {}, {}, {"y": None}),
        (pod(A), pod(A), pod(A, B), {}),
        (pod(A), pod(A2), pod(A), {"spec": {ORDER: [{"name": "a"}], "containers": [A2]}}),
        (pod(A, B), pod(A), pod(A, B), {"spec": {ORDER: [{"name": "a"}], "containers": [{"$patch": "delete", "name": "b"}]}}),
        (pod(A), pod(A, B), pod(A), {"spec": {ORDER: [{"name": "a"}, {"name": "b"}], "containers": [B]}}),
        (pod(A, B), pod(B, A), pod(A, B), {"spec": {ORDER: [{"name": "b"}, {"name": "a"}]}}),
        (
            pod(volumes=[{"name": "v", "emptyDir": {}}]), pod(volumes=[{"name": "v", "secret": {"secretName": "s"}}]),
            pod(volumes=[{"name": "v", "emptyDir": {}}]),
            {"spec": {"$setElementOrder/volumes": [{"name": "v"}],
                      "volumes": [{"secret": {"secretName": "s"}, "emptyDir": None, "$retainKeys": ["name", "secret"], "name": "v"}]}},
        ),
        (
            {"metadata": {"finalizers": ["a", "b"]}}, {"metadata": {"finalizers": ["b", "c"]}}, {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"$setElementOrder/finalizers": ["b", "c"], "finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"]}},
        ),
        (pod(tolerations=[1]), pod(tolerations=[2]), pod(tolerations=[1]), {"spec": {"tolerations": [2]}}),
        ({}, {"spec": {"x": 1}}, {"spec": 7}, {"spec": {"x": 1}}),
    ],
)  # fmt: skip
def test_the_patch_of_an_apply(original: Any, modified: Any, current: Any, patch: Any) -> None:
    assert three_way_merge_patch(original, modified, current, schema_for("v1", "Pod")) == patch


def test_without_a_schema_lists_are_replaced() -> None:
    assert three_way_merge_patch(pod(A), pod(A2), pod(A, B), None) == pod(A2)
    assert three_way_merge_patch(pod(A), pod(A), pod(A), None) == {}
