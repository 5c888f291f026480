"""Custom objects that do not say their kind, forget who owns what, have nulls, or have a Scale applied to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.scenes import APPLY, MERGE

GROUP = "/apis/shop.example.com/v1/namespaces/{ns}"
WIDGET = {"apiVersion": "shop.example.com/v1", "kind": "Widget"}


def _widget(**spec: Any) -> dict[str, Any]:
    return {**WIDGET, "metadata": {"name": "one"}, "spec": {"size": "small", **spec}}


def _kindless() -> Iterator[Case]:
    yield Case(
        tuple(
            Step("POST", f"{GROUP}/widgets", body)
            for body in (
                {},
                {"a": 1},
                {"kind": ""},
                {"kind": "Widget"},
                {"apiVersion": "shop.example.com/v1"},
                {"metadata": {"name": "x"}},
                {"metadata": {"name": "x", "labels": {"a": "b" * 40}}},
                {"kind": None},
                [],
            )
        ),
        name="kindless",
    )
    yield Case(
        tuple(
            Step("POST", "/api/v1/namespaces/{ns}/configmaps", body) for body in ({}, {"a": 1}, {"kind": "ConfigMap"})
        ),
        name="kindless builtin",
    )


def _managed() -> Iterator[Case]:
    for plural, obj in (
        (
            "anythings",
            {"apiVersion": "shop.example.com/v1", "kind": "Anything", "metadata": {"name": "one"}, "spec": {}},
        ),
        (
            "anythings",
            {"apiVersion": "shop.example.com/v1", "kind": "Anything", "metadata": {"name": "one"}, "spec": {"a": 1}},
        ),
        ("widgets", {**WIDGET, "metadata": {"name": "one"}, "spec": {"size": "small"}}),
    ):
        yield Case(
            (
                Step("POST", f"{GROUP}/{plural}", obj),
                *(
                    Step("PATCH", f"{GROUP}/{plural}/one", {"metadata": {"managedFields": fields}}, MERGE)
                    for fields in ([], None, [{}], [])
                ),
                Step("GET", f"{GROUP}/{plural}/one"),
            ),
            name=f"managed {obj['spec']}",
        )
    yield Case(
        (
            Step("POST", "/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "one"}, "data": {"a": "b"}}),
            *(
                Step("PATCH", "/api/v1/namespaces/{ns}/configmaps/one", {"metadata": {"managedFields": fields}}, MERGE)
                for fields in ([], None, [{}], [])
            ),
            Step("GET", "/api/v1/namespaces/{ns}/configmaps/one"),
        ),
        name="managed cm",
    )


def _nulls() -> Iterator[Case]:
    yield Case(
        (
            Step("POST", f"{GROUP}/widgets", _widget()),
            *(
                Step("PATCH", f"{GROUP}/widgets/one?fieldManager=bob&dryRun=All", {**WIDGET, "spec": spec}, APPLY)
                for spec in (
                    {"items": [{"name": "a", "count": None}]},
                    {"color": None},
                    {"ready": None},
                    {"note": None},
                    {"items": [None]},
                    {"items": None},
                    {"tags": [None]},
                    {"whole": {"a": None}},
                    {"whole": None},
                    {"labels": {"a": None}},
                    {"free": {"known": None}},
                    {"free": {"other": None}},
                    {"size": None},
                    {"steps": [None]},
                )
            ),
            *(
                Step("POST", f"{GROUP}/widgets?dryRun=All", {**_widget(**spec), "metadata": {"name": "two"}})
                for spec in (
                    {"items": [{"name": "a", "when": None}]},
                    {"items": [{"name": "a", "count": None}]},
                    {"color": None},
                    {"ready": None},
                    {"note": None},
                    {"items": [None]},
                    {"items": ["x"]},
                    {"items": None},
                    {"tags": [None]},
                    {"tags": [None, None]},
                    {"whole": {"a": None}},
                    {"labels": {"a": None}},
                    {"free": {"known": None}},
                    {"steps": [None]},
                    {"note": {}},
                    {"note": 1},
                    {"color": []},
                )
            ),
        ),
        name="nulls",
    )


def _scales() -> Iterator[Case]:
    yield Case(
        (
            Step("POST", f"{GROUP}/widgets", _widget(replicas=2)),
            *(
                Step("PATCH", f"{GROUP}/widgets/one/scale{query}", body, APPLY)
                for query in ("?fieldManager=a", "?fieldManager=a&force=true", "?fieldManager=a&dryRun=All", "")
                for body in (
                    {"kind": "Scale", "apiVersion": "autoscaling/v1"},
                    {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 3}},
                    {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": "x"}},
                    {"kind": "Scale", "apiVersion": "extensions/v1beta1"},
                    {},
                    {"kind": "Widget", "apiVersion": "shop.example.com/v1"},
                    {"kind": "Scale", "apiVersion": "autoscaling/v1", "bla": 1},
                    {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "two"}},
                    [],
                )
            ),
            Step(
                "PATCH",
                f"{GROUP}/widgets/two/scale?fieldManager=a",
                {"kind": "Scale", "apiVersion": "autoscaling/v1"},
                APPLY,
            ),
            Step(
                "PATCH",
                f"{GROUP}/anythings/two/scale?fieldManager=a",
                {"kind": "Scale", "apiVersion": "autoscaling/v1"},
                APPLY,
            ),
        ),
        name="scale",
    )


def cases() -> Iterator[Case]:
    """One for each."""
    yield from _kindless()
    yield from _managed()
    yield from _nulls()
    yield from _scales()
