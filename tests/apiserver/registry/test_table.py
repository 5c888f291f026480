"""Server-side printing against the Tables a real API server answered, and what kubectl printed from them.

Ages need a moment. None is recorded with an answer, so the moment is inferred: each printed age says that creation lies between so many
seconds ago and one more; one moment has to satisfy all rows of a table at once, and then gives every age back exactly.
"""

from __future__ import annotations

import gc
import re
import weakref
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import human_duration
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, parse_time
from lifecycle.api.resources import Resource, all_resources, find_resource, resource, resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.printers import table as printing
from lifecycle.apiserver.registry.printers.custom import custom_printer, json_path
from tests.apiserver.registry.by_kind import columns, table
from tests.conftest import RECORDINGS

CLUSTERS = ["kind-1.36.2", "kind-1.36.2-again"]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
NOW = VIRTUAL_EPOCH


@cache
def exchanges(cluster: str, scenario: str) -> list[dict[str, Any]]:
    path = RECORDINGS / cluster / "http" / f"{scenario}.jsonl"
    return [fast_json.loads(line) for line in path.read_bytes().splitlines()]


@cache
def known_objects(cluster: str) -> dict[tuple[str, str, str], Object]:
    """Every object that some answer of the first scenarios shows, by kind, namespace and name; the latest counts."""
    found: dict[tuple[str, str, str], Object] = {}
    for scenario in ("objects", "storage"):
        for exchange in exchanges(cluster, scenario):
            answer = exchange["response"]
            if isinstance(answer, dict) and answer.get("kind", "Table") != "Table":
                kind = answer["kind"]
                for obj in answer.get("items") or () if kind.endswith("List") else [answer]:
                    metadata = obj.get("metadata") or {}
                    found[kind.removesuffix("List"), metadata.get("namespace", ""), metadata.get("name", "")] = obj
    return found


def tables(cluster: str) -> list[tuple[int, Resource, Object]]:
    """The recorded Tables: number of the exchange, resource, answer."""
    found = []
    for exchange in exchanges(cluster, "storage"):
        answer = exchange["response"]
        if isinstance(answer, dict) and answer.get("kind") == "Table":
            match = re.match(r"/(?:api|apis/([^/]+))/([^/]+)/(?:namespaces/[^/]+/)?([^/?]+)", exchange["path"])
            assert match is not None
            row = find_resource(match[1] or "", match[2], match[3])
            assert row is not None
            found.append((exchange["n"], row, answer))
    return found


def seconds(age: str) -> int:
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([smhd])", age))


def moment(ages: list[tuple[str, str]]) -> float:
    """The moment at which all (creation time, printed age) hold."""
    starts = [parse_time(created) + seconds(age) for created, age in ages]
    assert max(starts) < min(starts) + 1, "no single moment explains these ages"
    return (max(starts) + min(starts) + 1) / 2


def recorded_rows(cluster: str, row: Resource, answer: Object) -> list[tuple[Object, Object | None]]:
    """Each recorded row, and its object with the row's own metadata, if the object was recorded at all."""
    known = known_objects(cluster)
    pairs = []
    for recorded in answer["rows"]:
        metadata = recorded["object"]["metadata"]
        obj = known.get((row.kind, metadata.get("namespace", ""), metadata["name"]))
        only_metadata = row.plural == "clusterroles"  # the default table looks at nothing else
        pairs.append((recorded, {**(obj or {}), "metadata": metadata} if obj or only_metadata else None))
    return pairs


UNSEEN = {"namespaces": {5}, "events": {50, 48}}
"""Rows that cannot be held against anything: namespaces that were just being deleted and the events of the cluster's start were never
recorded as objects."""


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_recorded_table_is_ours(cluster: str) -> None:
    cells = 0
    for n, row, answer in tables(cluster):
        pairs = recorded_rows(cluster, row, answer)
        unseen = sum(obj is None for _, obj in pairs)
        assert unseen in UNSEEN.get(row.plural, {0}), (n, row.plural)
        rows = [recorded for recorded, obj in pairs if obj is not None]
        objs = [obj for _, obj in pairs if obj is not None]
        names = [column["name"] for column in answer["columnDefinitions"]]
        at = NOW
        if "Age" in names and rows:
            printed = [recorded["cells"][names.index("Age")] for recorded in rows]
            at = moment([(obj["metadata"]["creationTimestamp"], age) for obj, age in zip(objs, printed)])
        single = row.plural == "clusterroles"
        ours = table(row, objs, now=at, list_meta=None if single else answer["metadata"])
        assert ours == {**answer, "rows": rows}, n
        cells += sum(len(recorded["cells"]) for recorded in rows)
    assert cells >= 290


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_kubectl_get_all_prints_what_our_tables_say(cluster: str) -> None:
    """The objects are those that the watches had seen when kubectl began; events carry the same clock as kubectl's runs."""
    text = (RECORDINGS / cluster / "kubectl" / "07-get.txt").read_text()
    started = re.search(r"t=([0-9.]+)", text)
    assert started is not None
    state: dict[tuple[str, str], Object] = {}
    for line in (RECORDINGS / cluster / "watch" / "journey.jsonl").read_bytes().splitlines():
        seen = fast_json.loads(line)
        event, obj = seen["event"], seen["event"]["object"]
        if seen["t"] < float(started[1]) and event["type"] != "BOOKMARK":
            state[obj["kind"], obj["metadata"]["name"]] = obj
            if event["type"] == "DELETED":
                del state[obj["kind"], obj["metadata"]["name"]]
    compared = 0
    for block in text.partition("]\n")[2].partition("\n[stderr]")[0].strip().split("\n\n"):
        header, *lines = block.splitlines()
        starts = [match.start() for match in re.finditer(r"(?<!\S)(?<!\S )\S", header)]
        starts = [s for s in starts if s == 0 or header[s - 2 : s] == "  "]
        for line in lines:
            printed = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
            kind, _, name = printed[0].rpartition("/")
            row = resource(
                next(r for r in all_resources() if r.singular == kind.partition(".")[0]).plural
                + (".apps" if "apps" in kind else "")
            )
            obj = state[row.kind, name]
            age = printed[[c["name"] for c in columns(row)].index("Age")]
            ours = table(row, [obj], now=moment([(obj["metadata"]["creationTimestamp"], age)]))
            assert [str(cell) for cell in ours["rows"][0]["cells"]][1:] == printed[1:]
            compared += len(printed)
    assert compared >= 70


def test_every_resource_prints_a_bare_object_in_as_many_cells_as_columns() -> None:
    for row in all_resources():
        ours = table(row, [{"metadata": {"name": "x"}}], now=NOW)
        cells = ours["rows"][0]["cells"]
        # Upstream's row of an IPAddress has an age that its columns do not.
        assert len(cells) == len(columns(row)) + (row.plural == "ipaddresses"), row.plural
        names = [column["name"] for column in columns(row)]
        assert cells[names.index("Name")] == "x"
        assert all(column["description"] for column in columns(row)) or row.plural == "runtimeclasses"


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("scenario", ["objects", "corpus", "journey", "kubelet", "services", "scheduling"])
def test_every_recorded_object_can_be_printed(cluster: str, scenario: str) -> None:
    for exchange in exchanges(cluster, scenario):
        answer = exchange["response"]
        if isinstance(answer, dict) and answer.get("kind", "Status") != "Status":
            row = resource_for_kind(answer["apiVersion"], answer["kind"].removesuffix("List"))
            objs = answer["items"] or [] if answer["kind"].endswith("List") else [answer]
            if row is not None and all(obj.get("metadata", {}).get("name") for obj in objs):
                fast_json.dumps(table(row, objs, now=NOW, list_meta={}))


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (-2.1, "<invalid>"), (-1.9, "0s"), (0.9, "0s"), (119.9, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"), (600, "10m"),
        (3 * 3600 - 1, "179m"), (3 * 3600, "3h"), (3 * 3600 + 60, "3h1m"), (8 * 3600, "8h"), (47.9 * 3600, "47h"), (48 * 3600, "2d"),
        (49 * 3600, "2d1h"), (8 * 86400, "8d"), (729 * 86400, "729d"), (730 * 86400, "2y"), (740 * 86400, "2y10d"), (8 * 365 * 86400, "8y"),
    ],
)  # fmt: skip
def test_durations_lose_digits_as_they_grow(span: float, text: str) -> None:
    assert human_duration(span) == text


@given(st.floats(min_value=0, max_value=1e9), st.floats(min_value=0, max_value=1e9))
def test_a_longer_duration_never_reads_shorter(one: float, two: float) -> None:
    def read(text: str) -> int:
        return sum(int(n) * {**UNITS, "y": 365 * 86400}[u] for n, u in re.findall(r"(\d+)([smhdy])", text))

    if one <= two:
        assert read(human_duration(one)) <= read(human_duration(two))
    assert read(human_duration(one)) <= one


def running(**more: Any) -> Object:
    return {"name": "c", "ready": True, "restartCount": 0, "state": {"running": {}}, **more}


def terminated(code: int = 0, **more: Any) -> Object:
    return {"name": "c", "ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": code, **more}}}


def waiting(reason: str) -> Object:
    return {"name": "c", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": reason}}}


GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
INIT = {"initContainers": [{"name": "a"}, {"name": "b"}]}


@pytest.mark.parametrize(
    ("metadata", "spec", "status", "ready", "shown"),
    [
        ({}, {}, {"phase": "Pending"}, "0/1", "Pending"),
        ({}, {}, {"phase": "Failed", "reason": "Evicted"}, "0/1", "Evicted"),
        ({}, {}, {"phase": "Pending", "conditions": [GATED]}, "0/1", "SchedulingGated"),
        ({}, {}, {"phase": "Running", "containerStatuses": [running()]}, "1/1", "Running"),
        ({}, {}, {"phase": "Running", "containerStatuses": [waiting("CrashLoopBackOff")]}, "0/1", "CrashLoopBackOff"),
        ({}, {}, {"phase": "Failed", "containerStatuses": [terminated(1, reason="Error")]}, "0/1", "Error"),
        ({}, {}, {"phase": "Failed", "containerStatuses": [terminated(3)]}, "0/1", "ExitCode:3"),
        ({}, {}, {"phase": "Failed", "containerStatuses": [terminated(137, signal=9)]}, "0/1", "Signal:9"),
        ({}, {}, {"phase": "Running", "containerStatuses": [terminated(reason="Completed"), running()]}, "1/1", "NotReady"),
        ({}, INIT, {"phase": "Pending", "initContainerStatuses": [terminated()]}, "0/1", "Pending"),
        ({}, INIT, {"phase": "Pending", "initContainerStatuses": [terminated(), waiting("PodInitializing")]}, "0/1", "Init:1/2"),
        ({}, INIT, {"phase": "Pending", "initContainerStatuses": [waiting("ImagePullBackOff")]}, "0/1", "Init:ImagePullBackOff"),
        ({}, INIT, {"phase": "Failed", "initContainerStatuses": [terminated(2)]}, "0/1", "Init:ExitCode:2"),
        ({"deletionTimestamp": "x"}, {}, {"phase": "Running", "containerStatuses": [running()]}, "1/1", "Terminating"),
        ({"deletionTimestamp": "x"}, {}, {"phase": "Succeeded"}, "0/1", "Succeeded"),
        ({"deletionTimestamp": "x"}, {}, {"phase": "Running", "reason": "NodeLost"}, "0/1", "Unknown"),
        (
            {},
            {"initContainers": [{"name": "side", "restartPolicy": "Always"}]},
            {"phase": "Running", "initContainerStatuses": [running(name="side", started=True)], "containerStatuses": [running()]},
            "2/2",
            "Running",
        ),
    ],
)  # fmt: skip
def test_the_status_of_a_pod_is_a_digest(
    metadata: Object, spec: Object, status: Object, ready: str, shown: str
) -> None:
    pod = {"metadata": {"name": "p", **metadata}, "spec": {"containers": [{"name": "c"}], **spec}, "status": status}
    cells = table(resource("pods"), [pod], now=NOW)["rows"][0]["cells"]
    assert (cells[1], cells[2]) == (ready, shown)


def test_restarts_say_how_long_ago_the_last_one_was() -> None:
    finished = {"terminated": {"exitCode": 1, "finishedAt": format_time(NOW - 65)}}
    status = {"phase": "Running", "containerStatuses": [running(restartCount=4, lastState=finished)]}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}, "status": status}
    assert table(resource("pods"), [pod], now=NOW)["rows"][0]["cells"][3] == "4 (65s ago)"


def test_pods_that_are_over_are_marked() -> None:
    pod = {"metadata": {"name": "p"}, "spec": {}, "status": {"phase": "Succeeded"}}
    row = table(resource("pods"), [pod], now=NOW)["rows"][0]
    assert row["conditions"] == [
        {"type": "Completed", "status": "True", "reason": "Succeeded", "message": "The pod has completed successfully."}
    ]


def cells_of(name: str, obj: Object) -> list[Any]:
    cells: list[Any] = table(resource(name), [{"metadata": {"name": "x"}, **obj}], now=NOW)["rows"][0]["cells"]
    return cells


def test_what_other_kinds_show() -> None:
    job = {"spec": {"parallelism": 4}, "status": {"succeeded": 1, "startTime": format_time(NOW - 30)}}
    assert cells_of("jobs.batch", job)[1:4] == ["Running", "1/1 of 4", "30s"]
    assert cells_of("cronjobs.batch", {"spec": {"schedule": "* * * * *", "suspend": False}})[1:6] == [
        "* * * * *",
        "<none>",
        "False",
        0,
        "<none>",
    ]
    quota = {
        "status": {"hard": {"pods": "10", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "3", "limits.cpu": "500m"}}
    }
    assert cells_of("resourcequotas", quota)[1:3] == ["cpu: 0/1, pods: 3/10", "limits.cpu: 500m/2"]
    balancer = {
        "spec": {
            "type": "LoadBalancer",
            "clusterIPs": ["10.0.0.1"],
            "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}],
        }
    }
    assert cells_of("services", balancer)[1:5] == ["LoadBalancer", "10.0.0.1", "<pending>", "80:30080/TCP"]
    subsets = [{"addresses": [{"ip": f"10.0.0.{i}"} for i in range(5)], "ports": [{"port": 80}]}]
    assert cells_of("endpoints", {"subsets": subsets})[1] == "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 2 more..."
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    scaler = {
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 5,
            "metrics": [cpu],
        }
    }
    assert cells_of("horizontalpodautoscalers.autoscaling", scaler)[1:6] == [
        "Deployment/web",
        "cpu: <unknown>/80%",
        "1",
        5,
        0,
    ]
    claim = {
        "spec": {"volumeName": "v"},
        "status": {"phase": "Bound", "capacity": {"storage": "1024Mi"}, "accessModes": ["ReadWriteOnce"]},
    }
    assert cells_of("persistentvolumeclaims", claim)[1:5] == ["Bound", "v", "1Gi", "RWO"]
    budget = {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 1}}
    assert cells_of("poddisruptionbudgets.policy", budget)[1:4] == ["50%", "N/A", 1]


def test_details_of_cells() -> None:
    met = {"status": {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}}
    assert cells_of("jobs.batch", met)[1] == "SuccessCriteriaMet"
    labels = {"a": "b", "a.b/c": "d"}
    assert cells_of("services", {"spec": {"selector": labels}})[-1] == "a.b/c=d,a=b"
    ports = [{"name": "", "port": None}, {"name": "", "port": 80}]
    assert cells_of("endpointslices.discovery.k8s.io", {"ports": ports})[2] == ",80"
    assert cells_of("endpointslices.discovery.k8s.io", {"ports": ports[:1]})[2] == "<unset>"


def test_one_object_carries_its_own_revision_and_an_empty_list_its_headers() -> None:
    pod = {"metadata": {"name": "p", "resourceVersion": "7"}, "spec": {}, "status": {}}
    assert table(resource("pods"), [pod], now=NOW)["metadata"] == {"resourceVersion": "7"}
    empty = table(resource("pods"), [], now=NOW, list_meta={"resourceVersion": "9", "continue": ""})
    assert (empty["metadata"], empty["rows"], len(empty["columnDefinitions"])) == ({"resourceVersion": "9"}, [], 9)
    assert table(resource("pods"), [pod], now=NOW, no_headers=True)["columnDefinitions"] is None


def test_the_object_is_included_as_asked() -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"nodeName": "n"}}

    def included(how: str) -> Any:
        return table(resource("pods"), [pod], now=NOW, include_object=how)["rows"][0]["object"]

    assert included("Metadata") == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "p"},
    }
    assert included("Object") == {"kind": "Pod", "apiVersion": "v1", **pod}
    assert included("None") is None
    with pytest.raises(StatusError, match=r'unrecognized includeObject value: "All"$'):
        included("All")


def test_custom_resources_print_the_columns_of_their_definition() -> None:
    widgets = Resource("example.org", "v1", "widgets", "Widget", "widget", True, ())
    ready = '.status.conditions[?(@.type=="Ready")].status'
    extra = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": ready, "description": "Whether it works."},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "Gone", "type": "string", "jsonPath": ".spec.missing", "priority": 1},
    ]
    conditions = [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]
    widget = {
        "metadata": {"name": "w", "creationTimestamp": format_time(NOW - 7)}, "spec": {"size": 3}, "status": {"conditions": conditions},
    }  # fmt: skip
    ours = printing.table(custom_printer(fast_json.dumps(extra)), widgets, [widget], now=NOW)
    assert ours["rows"][0]["cells"] == ["w", 3, "True", "7s", None]
    assert (
        ours["columnDefinitions"][1]["description"]
        == "Custom resource definition column (in JSONPath format): .spec.size"
    )
    plain = printing.table(custom_printer(b"[]"), widgets, [widget], now=NOW)
    assert plain["rows"][0]["cells"] == ["w", "7s"]
    assert [column["type"] for column in plain["columnDefinitions"]] == ["string", "date"]


@pytest.mark.parametrize(
    "bad", [".[[", "..a", "a", '.a[?(@.b=="c"]', "[?(@" + " " * 200_000, ".a[?(@.b==" + " " * 200_000]
)
def test_columns_end_at_a_path_that_is_not_understood(bad: str) -> None:
    """As the recorded server's do, which takes any path. The long ones are given up at once, or not in this life."""
    columns = [{"name": name, "type": "string", "jsonPath": path} for name, path in zip("abc", (".a", bad, ".c"))]
    widgets = Resource("example.org", "v1", "widgets", "Widget", "widget", True, ())
    widget = {"metadata": {"name": "w"}, "a": "1", "c": "2"}
    ours = printing.table(custom_printer(fast_json.dumps(columns)), widgets, [widget], now=NOW)
    assert [column["name"] for column in ours["columnDefinitions"]] == ["Name", "a"]
    assert ours["rows"][0]["cells"] == ["w", "1"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".l[?(@.k=='a')].v", [1]),
        ('.l[?( @.k == "b" )].v', [2]),
        (".l[?(@.k!= 'a' )].v", [2, 3]),
        (".l[?(@.v==3)].k", ["c)"]),
        ('.l[?(@.k=="c)")].v', [3]),
    ],
)
def test_a_filter_keeps_what_compares(path: str, found: list[Any]) -> None:
    items = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c)", "v": 3}]
    assert json_path(path)({"l": items}) == found


def test_what_a_definition_says_at_length_of_its_columns_is_not_remembered_beyond_it() -> None:
    """Whoever makes and deletes definitions of a megabyte would fill the memory."""
    long = {"name": "c", "type": "string", "jsonPath": ".a", "description": "d" * 100_000}
    made = custom_printer(fast_json.dumps([long]))
    assert custom_printer(fast_json.dumps([long])) is not made
    assert printing.columns(made) is printing.columns(made)
    kept, before = weakref.ref(made), len(printing._DEFINITIONS)
    del made
    gc.collect()
    assert kept() is None
    assert len(printing._DEFINITIONS) < before
    assert json_path(".a" * 1_000) is not json_path(".a" * 1_000)
    assert json_path(".spec.size") is json_path(".spec.size")
