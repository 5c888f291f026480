"""What kubectl makes of the published schemas: the patches that `apply` sends, and what
`explain` prints.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import Server, until
from generators.programs.kubectl import Typist, version_of

Object = dict[str, Any]
SHIRTS = "shirts.schemas.example.com"
EXPLAINED = (
    "deployment.spec.strategy",
    "pods.spec.containers.resizePolicy",
    "configmaps --recursive",
    "service.spec.type",
    "deployments.spec.no.such.field",
    "hpa.spec --api-version=autoscaling/v1",
    "pods.spec.tolerations --recursive",
)


def _deployment(container: Object, **spec: Any) -> Object:
    labels = {"app": "web"}
    own = {"name": "web", "image": "nginx:1", **container}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [own]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "thing"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def _env(**variables: str) -> list[Object]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def _config_map(data: Object | None, **metadata: Any) -> Object:
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    rest = {} if data is None else {"data": data}
    return {**head, "metadata": {"name": "thing", **metadata}, **rest}


def _service(ports: list[Object], **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "thing"},
        "spec": {"selector": {"app": "web"}, "ports": ports, **spec},
    }


def _shirt(spec: Object) -> Object:
    return {
        "apiVersion": "schemas.example.com/v1",
        "kind": "Shirt",
        "metadata": {"name": "thing"},
        "spec": spec,
    }


SIDECAR = {"name": "side", "image": "busybox"}
OTHERS_ADD_A_CONTAINER = {"spec": {"template": {"spec": {"containers": [SIDECAR]}}}}
CASES: tuple[tuple[str, Object, Object | None, Object], ...] = (
    (
        "another image",
        _deployment({}),
        None,
        _deployment({"image": "nginx:2"}),
    ),
    (
        "replicas are no longer mine, and somebody has scaled",
        _deployment({}, replicas=3),
        {"spec": {"replicas": 5}},
        _deployment({}),
    ),
    (
        "somebody has scaled, and I insist",
        _deployment({}, replicas=3),
        {"spec": {"replicas": 5}},
        _deployment({}, replicas=3),
    ),
    (
        "variables come, change and go beside somebody's container",
        _deployment({"env": _env(A="1", B="1")}),
        OTHERS_ADD_A_CONTAINER,
        _deployment({"env": _env(B="2", C="1")}),
    ),
    (
        "a container goes",
        _deployment({}, template={"metadata": {"labels": {"app": "web"}}, "spec": {
            "containers": [{"name": "web", "image": "nginx:1"}, SIDECAR]}}),
        None,
        _deployment({}),
    ),
    (
        "arguments are one value",
        _deployment({"args": ["a", "b"], "resources": {"limits": {"cpu": "1"}}}),
        None,
        _deployment({"args": ["b", "c"]}),
    ),
    (
        "ports change places",
        _deployment({"ports": [{"containerPort": 80}, {"containerPort": 81}]}),
        None,
        _deployment({"ports": [{"containerPort": 81}, {"containerPort": 80}]}),
    ),
    (
        "finalizers are a set",
        _config_map({"a": "1"}, finalizers=["x.io/a", "x.io/b"]),
        {"metadata": {"finalizers": ["x.io/d"]}},
        _config_map({"a": "1"}, finalizers=["x.io/b", "x.io/c"]),
    ),
    (
        "keys come, change and go beside somebody's",
        _config_map({"a": "1", "b": "1", "c": "1"}, labels={"l": "1"}),
        {"data": {"d": "theirs", "c": "theirs"}, "metadata": {"labels": {"m": "1"}}},
        _config_map({"b": "2", "c": "1", "e": "1"}, labels={}),
    ),
    (
        "all keys go",
        _config_map({"a": "1"}),
        None,
        _config_map(None),
    ),
    (
        "nothing has changed",
        _config_map({"a": "1"}),
        {"data": {"d": "theirs"}},
        _config_map({"a": "1"}),
    ),
    (
        "a Service's ports are known by their numbers",
        _service([{"name": "a", "port": 80}, {"name": "b", "port": 81}]),
        None,
        _service([{"name": "a", "port": 80, "targetPort": 8080},
                  {"name": "c", "port": 82}], sessionAffinity="ClientIP"),
    ),
    (
        "a kind without a published schema of Go: lists are one value",
        _shirt({"colors": [{"name": "red"}, {"name": "blue"}], "size": "M", "n": 1}),
        {"spec": {"n": 2, "theirs": True}},
        _shirt({"colors": [{"name": "blue"}], "n": 3}),
    ),
    (
        "objects, lists and texts that somebody has made others of",
        _shirt({"a": {"x": 1}, "b": "t", "c": [1], "d": {"k": 1}, "e": {"k": 1}}),
        {"spec": {"a": "text", "b": {"y": 1}, "c": "none", "d": [1], "e": None}},
        _shirt({"a": {"x": 2}, "b": "u", "c": [1, 2], "d": {"k": 1}, "e": {"k": 1}}),
    ),
    (
        "objects, lists and texts that I make others of",
        _shirt({"a": {"x": 1}, "b": "t", "c": [1], "d": {}, "e": [], "f": 1}),
        {"spec": {"a": {"theirs": 1}}},
        _shirt({"a": "text", "b": {"y": 1}, "c": {"z": 1}, "d": [1], "e": ""}),
    ),
    (
        "objects in objects",
        _shirt({"a": {"b": {"c": 1, "d": 1}}, "x": {"y": {"z": 1}}}),
        {"spec": {"a": {"b": {"e": 1}}, "x": {"y": {"theirs": 1}}}},
        _shirt({"a": {"b": {"c": 2}}, "x": {}}),
    ),
    (
        "another strategy keeps nothing of the one before",
        _deployment({}, strategy={"rollingUpdate": {"maxSurge": 2}}),
        None,
        _deployment({}, strategy={"type": "Recreate"}),
    ),
    (
        "a value comes from elsewhere, and an amount is written in another way",
        _deployment({"env": _env(A="1"), "resources": {"limits": {"cpu": "1"}}}),
        None,
        _deployment({"env": [{"name": "A", "valueFrom": {"fieldRef": {
            "fieldPath": "metadata.name"}}}],
            "resources": {"limits": {"cpu": "1000m"}}}),
    ),
    (
        "what somebody has taken away comes again",
        _config_map({"a": "1", "b": "1"}, labels={"l": "1"}),
        {"data": {"a": None}, "metadata": {"labels": None}},
        _config_map({"a": "1"}, labels={"l": "1"}),
    ),
)  # fmt: skip


def _patch(err: str) -> Any:
    """The body of the PATCH that `-v=8` shows; None if there was none."""
    at = err.find('verb="PATCH"')
    if at < 0:
        return None
    lines = err[:at].splitlines()
    body = next(line for line in reversed(lines) if '"Request Body"' in line)
    text = body.partition("body=")[2]
    return json.loads(json.loads(text)) if text.startswith('"') else json.loads(text)


def answers(kubectl: Path, server: Server) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    with tempfile.TemporaryDirectory() as folder:
        user = f"schemas-{who.replace(' ', '-')}"
        typist = Typist(kubectl, server, Path(folder), user)
        server.admin(
            "POST",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": SHIRTS},
                "spec": {
                    "group": "schemas.example.com",
                    "scope": "Namespaced",
                    "names": {"plural": "shirts", "singular": "shirt", "kind": "Shirt"},
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {
                                "openAPIV3Schema": {
                                    "type": "object",
                                    "x-kubernetes-preserve-unknown-fields": True,
                                }
                            },
                        }
                    ],
                },
            },
        )
        until(
            "shirts",
            lambda: server.admin("GET", "/apis/schemas.example.com/v1").status == 200,
        )
        for name, before, others, after in CASES:
            yield _applied(typist, who, name, before, others, after)
        for line in EXPLAINED:
            printed = typist.run("explain", *line.split())
            yield Answer(
                f"explain/{line}",
                who,
                f"kubectl explain {line}",
                {"exit": printed.exit, "out": printed.out, "err": printed.err},
            )


def _applied(
    typist: Typist,
    who: str,
    name: str,
    before: Object,
    others: Object | None,
    after: Object,
) -> Answer:
    first = typist.file(json.dumps(before), "before")
    second = typist.file(json.dumps(after), "after")
    typist.run("apply", "-f", first)
    kind = before["kind"].lower()
    if others is not None:
        sort = "merge" if kind == "shirt" else "strategic"
        patch = ["--type", sort, "-p", json.dumps(others)]
        typist.run("patch", kind, "thing", *patch)
    current = json.loads(typist.run("get", kind, "thing", "-o", "json").out)
    for field in ("uid", "resourceVersion", "creationTimestamp", "namespace"):
        current["metadata"].pop(field, None)
    done = typist.run("apply", "-f", second, "-v=8")
    typist.run("patch", kind, "thing", "--type=merge", "-p",
               '{"metadata": {"finalizers": null}}')  # fmt: skip
    typist.run("delete", kind, "thing", "--wait=false")
    return Answer(
        f"apply/{name}",
        who,
        "kubectl apply of `before`, what others did, then kubectl apply of `after` to"
        " `current`: the patch that it sent, and what it printed",
        {
            "after": after,
            "current": current,
            "patch": _patch(done.err),
            "type": _content_type(done.err),
            "out": done.out,
        },
    )


def _content_type(err: str) -> str:
    found = re.findall(r"Content-Type: (application/[\w.+-]*patch[\w.+-]*)", err)
    return found[0] if found else ""
