"""`get --watch`: what is asked for one object and for many, in which order, and what is said first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubectl.fake_server import kubectl

PODS = "/api/v1/namespaces/default/pods"
COLUMNS = [{"name": "Name", "type": "string"}, {"name": "Status", "type": "string"}]


def pod(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": labels}}


def table(*rows: tuple[str, str]) -> dict[str, Any]:
    cells = [{"cells": list(row), "object": {"metadata": {"name": row[0], "labels": {"app": "x"}}}} for row in rows]
    return {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "Table",
        "metadata": {"resourceVersion": "7"},
        "columnDefinitions": COLUMNS,
        "rows": cells,
    }


ANSWERS: dict[str, Any] = {
    f"GET {PODS}": table(("b", "Pending"), ("a", "Running")),
    f"GET {PODS}/b": table(("b", "Pending")),
    f"WATCH {PODS}": [("MODIFIED", table(("b", "Running"))), ("ADDED", table(("c", "Pending")))],
}
IGNORED = "warning: --watch requested, --sort-by will be ignored for watch events received\n"
IGNORED_ALL = "warning: --watch-only requested, --sort-by will be ignored\n"


@pytest.mark.parametrize(
    ("flags", "names", "err"),
    [
        ("-w", "b a b c", ""),
        ("--watch-only", "b c", ""),
        ("-w --sort-by=.metadata.name", "a b b c", IGNORED),
        ("--watch-only --sort-by=.metadata.name", "b c", IGNORED_ALL),
        ("-w --watch-only --sort-by=.metadata.name", "b c", IGNORED),
        ("-w --output-watch-events --sort-by=.metadata.name", "a b b c", IGNORED),
    ],
)
def test_what_is_there_can_be_sorted_and_news_cannot(flags: str, names: str, err: str) -> None:
    """As the real kubectl 1.36 does and says it."""
    code, out, said, _ = kubectl(f"get pods {flags}", ANSWERS)
    assert (code, said) == (0, err)
    assert [line.split()[-2] for line in out.splitlines()] == ["NAME", *names.split()]


NOWHERE = (
    'error: unable to output the provided object: couldn\'t find any field with path "{.nope}" in the list of objects\n'
)


def test_a_field_that_nothing_has_is_a_mistake_only_if_there_is_something_to_sort() -> None:
    assert kubectl("get pods -w --sort-by=.nope", ANSWERS)[:3] == (1, "", IGNORED + NOWHERE)
    code, out, err, _ = kubectl("get pods b -w --sort-by=.nope", ANSWERS)
    assert (code, len(out.splitlines()), err) == (0, 4, IGNORED)


def test_whole_objects_are_asked_for_where_a_field_is_to_sort_them() -> None:
    *_, server = kubectl("get pods -w --sort-by=.metadata.name --chunk-size=0", ANSWERS)
    assert [request.query.get("includeObject") for request in server.requests] == [["Object"], ["Object"]]
    *_, server = kubectl("get pods -w --chunk-size=0", ANSWERS)
    assert [request.query.get("includeObject") for request in server.requests] == [None, None]


def test_many_are_watched_from_where_the_list_ended() -> None:
    *_, server = kubectl("get pods -w -l app=x --field-selector=status.phase=Running --chunk-size=0", ANSWERS)
    chosen = {"labelSelector": ["app=x"], "fieldSelector": ["status.phase=Running"]}
    assert [request.query for request in server.requests] == [
        chosen,
        {**chosen, "resourceVersion": ["7"], "watch": ["true"]},
    ]


def test_one_is_watched_by_its_name() -> None:
    _, out, _, server = kubectl("get pods b -w", ANSWERS)
    assert server.asked() == [f"GET {PODS}/b", f"GET {PODS}"]
    assert [request.query for request in server.requests] == [
        {},
        {"fieldSelector": ["metadata.name=b"], "resourceVersion": ["7"], "watch": ["true"]},
    ]
    assert out.splitlines() == ["NAME   STATUS", "b      Pending", "b      Running", "c      Pending"]


@pytest.mark.parametrize("what", ["pods,services", "pods/a services/b"])
def test_two_kinds_cannot_be_watched(what: str) -> None:
    code, out, err, server = kubectl(f"get {what} -w", ANSWERS)
    assert (code, out, err) == (1, "", "error: you may only specify a single resource type\n")
    assert server.asked() == []


def test_names_are_printed_as_they_come() -> None:
    listed = {"metadata": {"resourceVersion": "7"}, "items": [pod("a"), pod("b")]}
    answers = {f"GET {PODS}": listed, f"WATCH {PODS}": [("DELETED", pod("a"))]}
    assert kubectl("get pods -w -o name", answers)[:3] == (0, "pod/a\npod/b\npod/a\n", "")
    assert kubectl("get pods --watch-only -o name", answers)[:3] == (0, "pod/a\n", "")


def test_a_watch_that_ends_with_an_error_says_so() -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (9)"}
    listed = {"metadata": {"resourceVersion": "7"}, "items": []}
    code, out, err, _ = kubectl("get pods -w -o name", {f"GET {PODS}": listed, f"WATCH {PODS}": [("ERROR", gone)]})
    assert (code, out) == (1, "")
    assert err.endswith("too old resource version: 1 (9)\n")
