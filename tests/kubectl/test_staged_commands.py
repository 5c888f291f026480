# ruff: noqa: E501 -- lines of objects, and of commands
"""Commands, and what a server rarely answers to them: what the real kubectl 1.36 says and asks for, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Ended, Scene, Turns, Watch, check, status

KEPT = Path(__file__).parent / "staged_answers" / "commands.json"
CORE, APPS, BATCH = (
    "/api/v1/namespaces/default",
    "/apis/apps/v1/namespaces/default",
    "/apis/batch/v1/namespaces/default",
)
FORBIDDEN = (403, status(403, "Forbidden", "no"))
CONFLICT = (409, status(409, "Conflict", "meanwhile"))
MISSING = (404, status(404, "NotFound", 'configmaps "c" not found'))


def config_map(name: str = "c", **more: Any) -> dict[str, Any]:
    about = {"name": name, "namespace": "default", "uid": f"u-{name}", "resourceVersion": "5"}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": about, **more}


def config_maps(*items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}, "items": list(items)}


ONE = {f"GET {CORE}/configmaps/c": config_map(), f"DELETE {CORE}/configmaps/c": config_map()}
ALL = ONE | {
    f"GET {CORE}/configmaps": config_maps(config_map(), config_map("d")),
    f"DELETE {CORE}/configmaps/d": config_map("d"),
}
EMPTY = {f"GET {CORE}/configmaps": config_maps()}
GOING = ONE | {f"GET {CORE}/configmaps": Turns([config_maps(config_map()), config_maps()])}
NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "uid": "n"}}
OUTCOME = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "details": {"name": "c", "kind": "configmaps", "uid": "u-c"},
}
TOKEN = f"POST {CORE}/serviceaccounts/s/token"
TOKENS = ["create token s", "create token s --duration=10m -o yaml", "create token s --audience=a --audience=b -o json"]
BOUND = "create token s --bound-object-kind"
JOB_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}},
}


def cron_job(template: dict[str, Any], name: str = "j") -> dict[str, Any]:
    about = {"name": name, "namespace": "default", "uid": "j-1"}
    return {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": about,
        "spec": {"schedule": "* * * * *", "jobTemplate": template},
    }


FROM_CRON = [
    "create job x --from=cronjob/j",
    "create job x --from=cronjob/j --dry-run=client -o yaml",
    "create job x --from=cj/j --dry-run=client -o json",
    "create job x --from=cronjob/j --save-config --dry-run=client -o yaml",
    "create job x --from=cronjob/j --dry-run=server",
]
MAP_FILE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
FILES = {
    "c.yaml": MAP_FILE,
    "two.yaml": MAP_FILE + "---\n" + MAP_FILE.replace("name: c", "name: d"),
    "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n",
}
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
WITH_NONE = config_map(data={"a": "1"})
GOING_AWAY = {**WITH_NONE, "metadata": {**WITH_NONE["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}

SCENES = {
    "raw": Scene(
        {"DELETE /x": {"kind": "Status", "status": "Success"}, "GET /x": {"a": 1}},
        ["delete --raw /x", "get --raw /x", "delete --raw /y", "delete --raw x"],
    ),
    "raw, with a query": Scene(
        {"DELETE /x": {"a": 1}, "POST /x": {"a": 1}},
        ["delete --raw /x?dryRun=&b=1&b=2", "delete --raw /x?", "delete --raw /x?a=%2F+%20"],
    ),
    "raw, a folder": Scene({}, ["delete --raw /x -f HOME", "create --raw /x -f HOME"], half=True),
    "raw, typed": Scene({"POST /x": {"a": 1}}, ["create --raw /x -f -", "delete --raw /x -f -"], typed="{}"),
    "raw, misused": Scene(
        {"DELETE /x": {"kind": "Status", "status": "Success"}, "POST /x": {"a": 1}},
        [
            "delete --raw /x y",
            "delete --raw /x cm y",
            "delete --raw /x --all",
            "delete --raw /x -l a=b",
            "delete --raw /x -f HOME/c.yaml",
            "delete --raw /x -f HOME/c.yaml -f HOME/two.yaml",
            "delete --raw /x -f http://localhost/x",
            "delete --raw /x -o name",
            "delete --raw /x -o yaml",
            "delete --raw /x -R",
            "delete --raw /x --field-selector=a=b",
            "delete --raw x -o yaml",
            "delete --raw /x -i",
            "delete --raw /x -i -R",
            "delete --raw /x --force",
            "delete --raw /x --force --grace-period=2",
            "delete --raw /x --all -l a=b",
            "create --raw /x -f HOME/c.yaml",
            "create --raw x -f HOME/c.yaml",
            "create --raw /x -f HOME/nope.yaml",
            "create --raw /x -f HOME/c.yaml -f HOME/two.yaml",
            "create --raw /x -f HOME/c.yaml -o yaml",
            "create --raw /x -f HOME/c.yaml --edit",
            "create --raw /x",
            "create --raw /x -f http://localhost/x",
            "create --raw /x -f HOME/c.yaml -l a=b",
            "create --raw /x -f HOME/c.yaml --record",
            "get --raw /x --output=yaml",
            "get --raw /x pods",
            "get --raw /x -l a=b",
            "get --raw x",
            "get --raw /y",
            "get --raw /x -w",
            "get --raw /x -f HOME/c.yaml",
        ],
        files=FILES,
    ),
    "delete one": Scene(
        ONE | EMPTY,
        [
            "delete cm c",
            "delete cm c --now",
            "delete cm c --grace-period=0",
            "delete cm c --grace-period=0 --force",
            "delete cm c --force",
            "delete cm c --grace-period=9",
            "delete cm c --cascade=foreground",
            "delete cm c --cascade=orphan -o name",
            "delete cm c --cascade",
            "delete cm c --cascade=true --wait=false",
            "delete cm c --dry-run=server",
            "delete cm c --dry-run=client",
        ],
    ),
    "answered with a status": Scene(
        EMPTY | {f"DELETE {CORE}/configmaps/c": OUTCOME}, ["delete cm c", "delete cm/c --timeout=1s"]
    ),
    "asked, and yes": Scene(
        ALL | EMPTY,
        ["delete cm c -i", "delete cm c --interactive --dry-run=client", "delete cm c -i -o name"],
        typed="y\n",
    ),
    "asked, and in capitals": Scene(
        ALL, ["delete cm --all -i --wait=false", "delete cm,sa --all -i --wait=false"], typed="Y\n"
    ),
    "asked, and no": Scene(ALL, ["delete cm c -i", "delete cm --all -i", "delete cm c nope -i"], typed="n\n"),
    "asked, and nothing": Scene(ALL, ["delete cm c -i"], typed="\n"),
    "asked, and nobody there": Scene(ALL, ["delete cm c -i"]),
    "asked, and in full": Scene(ALL, ["delete cm c -i --wait=false"], typed="yes\n"),
    "asked about nothing": Scene(EMPTY, ["delete cm --all -i", "delete cm -l a=b -i", "delete cm --all"], typed="y\n"),
    "asked about a file": Scene(
        ONE | EMPTY, ["delete -f HOME/c.yaml -i", "delete -f HOME/two.yaml -i"], typed="y\n", files=FILES
    ),
    "cluster-scoped in a namespace": Scene(
        {
            "DELETE /api/v1/nodes/n": NODE,
            "GET /api/v1/nodes": {**config_maps(), "kind": "NodeList"},
            "DELETE /api/v1/nodes/m": NODE,
        },
        ["delete node n -n other", "delete node n", "delete node n m -n other", "delete node n -A"],
    ),
    "deleting is refused": Scene(
        ALL | {f"DELETE {CORE}/configmaps/c": FORBIDDEN},
        [
            "delete cm c",
            "delete cm c nope",
            "delete cm c d --wait=false",
            "delete cm --all --wait=false",
            "delete -f HOME/c.yaml",
        ],
        files=FILES,
    ),
    "deleting what is not there": Scene(
        {},
        [
            "delete cm c",
            "delete cm c --ignore-not-found",
            "delete cm c d --ignore-not-found",
            "delete -f HOME/two.yaml",
            "delete -f HOME/two.yaml --ignore-not-found",
        ],
        files=FILES,
    ),
    "gone when it is looked for again": Scene(
        GOING
        | {
            f"WATCH {CORE}/configmaps": Turns([Ended([("MODIFIED", config_map())]), Watch([("DELETED", config_map())])])
        },
        ["delete cm c"],
    ),
    "gone while it is watched": Scene(
        GOING | {f"WATCH {CORE}/configmaps": Watch([("MODIFIED", config_map()), ("DELETED", config_map())])},
        ["delete cm c"],
    ),
    "the watch fails": Scene(
        GOING | {f"WATCH {CORE}/configmaps": Watch([("ERROR", status(410, "Expired", "old"))])}, ["delete cm c"]
    ),
    "another of its name": Scene(
        ONE | {f"GET {CORE}/configmaps": config_maps({**config_map(), "metadata": {"name": "c", "uid": "9"}})},
        ["delete cm c"],
    ),
    "it stays": Scene(
        ONE | {f"GET {CORE}/configmaps": config_maps(config_map()), f"WATCH {CORE}/configmaps": Watch()},
        ["delete cm c --timeout=3s"],
    ),
    "waiting cannot be watched": Scene(ONE | {f"GET {CORE}/configmaps": FORBIDDEN}, ["delete cm c --timeout=2s"]),
    "who may delete need not be allowed to look": Scene(ONE | {f"GET {CORE}/configmaps/c": FORBIDDEN}, ["delete cm c"]),
    "it cannot be looked at by anybody": Scene(
        ONE | {f"GET {CORE}/configmaps/c": (405, status(405, "MethodNotAllowed", "no"))}, ["delete cm c"]
    ),
    "a look at it fails": Scene(
        ALL | {f"GET {CORE}/configmaps/c": (500, status(500, "InternalError", "broken"))}, ["delete cm c d"]
    ),
    "gone at the first look": Scene(
        ONE | {f"GET {CORE}/configmaps/c": MISSING, f"GET {CORE}/configmaps": config_maps(config_map())},
        ["delete cm c"],
    ),
    "a wait for its end is refused a list at first": Scene(
        ONE | {f"GET {CORE}/configmaps": Turns([FORBIDDEN, config_maps()])}, ["wait --for=delete cm/c"]
    ),
    "a wait for its end is refused a watch at first": Scene(
        GOING | {f"WATCH {CORE}/configmaps": Turns([FORBIDDEN, Watch([("DELETED", config_map())])])},
        ["wait --for=delete cm/c"],
    ),
    "a wait for its end has its watch ended": Scene(
        GOING | {f"WATCH {CORE}/configmaps": Turns([Ended([]), Watch([("DELETED", config_map())])])},
        ["wait --for=delete cm/c"],
    ),
    "a watch is refused at first": Scene(
        GOING | {f"WATCH {CORE}/configmaps": Turns([FORBIDDEN, Watch([("DELETED", config_map())])])}, ["delete cm c"]
    ),
    "waiting cannot be watched at first": Scene(
        ONE | {f"GET {CORE}/configmaps": Turns([FORBIDDEN, config_maps()])}, ["delete cm c"]
    ),
    "a token": Scene(
        {
            TOKEN: (
                201,
                {
                    "kind": "TokenRequest",
                    "apiVersion": "authentication.k8s.io/v1",
                    "metadata": {"name": "s"},
                    "spec": {"audiences": ["a"], "expirationSeconds": 600},
                    "status": {"token": "t.o.k", "expirationTimestamp": "2026-01-01T00:00:00Z"},
                },
            )
        },
        [
            *TOKENS,
            f"{BOUND}=Pod --bound-object-name=p",
            f"{BOUND}=Secret --bound-object-name=p --bound-object-uid=u",
            f"{BOUND}=Node --bound-object-name=p",
            f"{BOUND}=ConfigMap --bound-object-name=p",
            f"{BOUND}=Pod",
            "create token s --bound-object-uid=u",
            "create token s --duration=1h30m",
            "create token s --duration=500ms",
            "create token s --audience=",
            "create token",
            "create token a b",
            "create token ''",
            "create token s -o name",
            "create token s -o jsonpath={.status.token}",
            "create token s -o bad",
        ],
    ),
    "no token": Scene(
        {TOKEN: (201, {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "status": {"token": ""}})},
        TOKENS,
    ),
    "a token is refused": Scene({TOKEN: FORBIDDEN}, ["create token s"]),
    "a token of nobody": Scene(
        {TOKEN: (404, status(404, "NotFound", 'serviceaccounts "s" not found'))}, ["create token s"]
    ),
    "a job from a cron job": Scene({f"GET {BATCH}/cronjobs/j": cron_job(JOB_TEMPLATE)}, FROM_CRON),
    "a job from a bare cron job": Scene(
        {f"GET {BATCH}/cronjobs/j": cron_job({"spec": {"template": {"spec": {}}}})}, FROM_CRON
    ),
    "a job from a cron job, refused": Scene({f"GET {BATCH}/cronjobs/j": FORBIDDEN}, FROM_CRON[:1]),
    "a job that is there": Scene(
        {
            f"GET {BATCH}/cronjobs/j": cron_job(JOB_TEMPLATE),
            f"POST {BATCH}/jobs": (409, status(409, "AlreadyExists", 'jobs.batch "x" already exists')),
        },
        FROM_CRON[:1],
    ),
    "apply makes": Scene(
        {},
        [
            "apply -f HOME/c.yaml --validate=false",
            "apply -f HOME/c.yaml --validate=false --dry-run=server",
            "apply -f HOME/c.yaml --dry-run=client --validate=false",
            "apply -f HOME/ns.yaml --validate=false",
            "apply -f HOME/two.yaml --validate=false -o name",
        ],
        files=FILES,
    ),
    "apply is refused": Scene(
        {f"POST {CORE}/configmaps": FORBIDDEN},
        ["apply -f HOME/c.yaml --validate=false", "apply -f HOME/two.yaml --validate=false"],
        files=FILES,
    ),
    "apply cannot look": Scene(
        {f"GET {CORE}/configmaps/c": FORBIDDEN},
        [
            "apply -f HOME/c.yaml --validate=false",
            "apply -f HOME/two.yaml --validate=false",
            "apply -f HOME/c.yaml --dry-run=client --validate=false",
        ],
        files=FILES,
    ),
    "apply to what was made otherwise": Scene(
        {f"GET {CORE}/configmaps/c": WITH_NONE, f"PATCH {CORE}/configmaps/c": WITH_NONE},
        [
            "apply -f HOME/c.yaml --validate=false",
            "apply -f HOME/c.yaml --dry-run=client --validate=false",
            "apply -f HOME/c.yaml --validate=false --dry-run=server -o yaml",
        ],
        files=FILES,
    ),
    "apply changes, and is refused": Scene(
        {f"GET {CORE}/configmaps/c": WITH_NONE, f"PATCH {CORE}/configmaps/c": FORBIDDEN},
        ["apply -f HOME/c.yaml --validate=false"],
        files=FILES,
    ),
    "apply changes, and somebody else does": Scene(
        {f"GET {CORE}/configmaps/c": WITH_NONE, f"PATCH {CORE}/configmaps/c": Turns([CONFLICT, CONFLICT, WITH_NONE])},
        ["apply -f HOME/c.yaml --validate=false"],
        files=FILES,
    ),
    "apply from the server's side": Scene(
        {f"GET {CORE}/configmaps/c": WITH_NONE, f"PATCH {CORE}/configmaps/c": WITH_NONE},
        [
            "apply -f HOME/c.yaml --server-side --validate=false",
            "apply -f HOME/c.yaml --server-side --force-conflicts --validate=false",
            "apply -f HOME/c.yaml --server-side --dry-run=server --validate=false",
        ],
        files=FILES,
    ),
    "apply from the server's side, refused": Scene(
        {f"PATCH {CORE}/configmaps/c": FORBIDDEN}, ["apply -f HOME/c.yaml --server-side --validate=false"], files=FILES
    ),
    "apply to what is about to go": Scene(
        {f"GET {CORE}/configmaps/c": GOING_AWAY, f"PATCH {CORE}/configmaps/c": GOING_AWAY},
        [
            "apply -f HOME/c.yaml --validate=false",
            "apply -f HOME/c.yaml --validate=false --dry-run=client",
            "apply -f HOME/c.yaml --validate=false --dry-run=server -o name",
            "apply -f HOME/c.yaml --validate=false --server-side",
        ],
        files=FILES,
    ),
    "apply in conflict with who deletes it": Scene(
        {f"GET {CORE}/configmaps/c": Turns([WITH_NONE, MISSING]), f"PATCH {CORE}/configmaps/c": CONFLICT},
        ["apply -f HOME/c.yaml --validate=false"],
        files=FILES,
    ),
    "apply from the server's side, in conflict": Scene(
        {f"PATCH {CORE}/configmaps/c": CONFLICT}, ["apply -f HOME/c.yaml --server-side --validate=false"], files=FILES
    ),
    "apply, misused": Scene(
        {},
        [
            "apply -f HOME/c.yaml --server-side --force",
            "apply -f HOME/c.yaml --server-side --dry-run=client",
            "apply -f HOME/c.yaml --force-conflicts",
            "apply -f HOME/c.yaml --subresource=status",
            "apply",
            "apply x",
            "apply -f HOME/c.yaml x",
            "apply -f HOME/c.yaml --dry-run=client --force --validate=false",
            "apply -f HOME/c.yaml --dry-run=server --force",
        ],
        files=FILES,
    ),
    "apply an odd file": Scene(
        {},
        [
            "apply -f HOME/odd.yaml --validate=false",
            "apply -f HOME/odd2.yaml --validate=false",
            "apply -f HOME/odd3.yaml --validate=false",
        ],
        files={
            "odd.yaml": MAP_FILE + "---\napiVersion: v1\nkind: Nope\nmetadata: {name: a}\n",
            "odd2.yaml": "apiVersion: nope/v1\nkind: Nope\nmetadata: {name: a}\n---\napiVersion: nope/v1\nkind: Other\nmetadata: {name: a}\n",
            "odd3.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: other}\n",
        },
    ),
    "set image, misused": Scene(
        {f"GET {CORE}/pods/p": POD},
        [
            "set image",
            "set image pods",
            "set image pods p",
            "set image c=x",
            "set image pods --all -l a=b c=x",
            "set image pods -l a=b c=x",
            "set image pod/p c=x --local --dry-run=server",
            "set image pod/p c=x --local --dry-run=server --all -l a=b",
            "set image pod/p c=x --dry-run=client",
            "set image pod/p c=x --dry-run=server",
            "set image pod/p",
            "set image pod/p =x",
        ],
    ),
    "set image everywhere": Scene(
        {
            f"GET {BATCH}/cronjobs/j": cron_job({"spec": {"template": POD}}),
            f"GET {BATCH}/jobs/j": {
                "kind": "Job",
                "apiVersion": "batch/v1",
                "metadata": {"name": "j", "namespace": "default"},
                "spec": {"template": POD},
            },
        },
        [
            "set image cj/j c=x",
            "set image job/j c=x",
            "set image cj/j job/j c=x --dry-run=client -o yaml",
            "set image cj/j '*=y'",
        ],
    ),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_said_and_asked_for(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
