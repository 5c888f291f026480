"""What a monitor reads: /metrics, and health."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import parse_qs

from prometheus_client.parser import text_string_to_metric_families

from lifecycle.api.http.wire import MASTERS, Request, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.filters.metrics import BUCKETS, Histogram
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore

ROOT = UserInfo("root", (MASTERS, "system:authenticated"))
PODS = "/api/v1/namespaces/default/pods"


def families(*asked: tuple[str, str]) -> dict[str, list[tuple[dict[str, str], float]]]:
    async def main() -> str:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            for method, path in asked:
                path, _, query = path.partition("?")
                request = Request(method, path, query=parse_qs(query), user=ROOT, accepts_object=True)
                answer = await server.handler(request)
                if answer.stream is not None:  # what is told is counted when it is read
                    with suppress(TimeoutError):
                        async with asyncio.timeout(1):
                            _ = [frame async for frame in answer.stream]
            answer = await server.handler(Request("GET", "/metrics", user=ROOT))
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return (answer.body or b"").decode()
        finally:
            await server.stop()

    parsed = text_string_to_metric_families(run_virtual(main()))
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in parsed:
        for sample in family.samples:
            found.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
    return found


def test_what_nothing_serves_is_not_counted_as_the_real_server_does_not() -> None:
    """Asked of kube-apiserver 1.36.2: of these only the pod that is not there is in its metrics."""
    found = families(
        ("GET", f"{PODS}/nope"), ("GET", "/apis/g1.example/v1/bars"), ("GET", "/apis/g1.example/v1/namespaces/x/bars/y/sub"),
        ("GET", "/apis/apps/v1/foos"), ("GET", "/api/v1/foos/x"), ("GET", "/api/v1/nodes/n/foo"), ("GET", "/x/y"),
        ("PATCHX", "/api/v1/pods"), ("PUT", "/api/v1/pods"),
    )  # fmt: skip
    refused = [labels for labels, _ in found["apiserver_request_total"] if labels["code"] in ("404", "405")]
    assert [labels["resource"] for labels in refused] == ["pods"]
    assert {"foos", "bars", "nodes"}.isdisjoint(
        labels["resource"] for labels, _ in found["apiserver_request_duration_seconds_count"]
    )


def test_requests_are_counted_by_what_they_asked_for() -> None:
    found = families(("GET", PODS), ("GET", PODS), ("GET", f"{PODS}/x"), ("GET", "/version"))
    counts = {
        (labels["verb"], labels["resource"], labels["scope"], labels["subresource"], labels["code"]): value
        for labels, value in found["apiserver_request_total"]
    }
    assert counts["LIST", "pods", "namespace", "", "200"] == 2
    assert counts["GET", "pods", "resource", "", "404"] == 1
    assert counts["GET", "", "", "/version", "200"] == 1
    lengths = [v for labels, v in found["apiserver_request_duration_seconds_count"] if labels["resource"] == "pods"]
    assert sum(lengths) == 3
    assert dict(found["apiserver_current_inflight_requests"][1][0])["request_kind"] == "readOnly"
    assert found["apiserver_current_inflight_requests"][1][1] == 1  # the request for the metrics itself


def test_flow_control_and_objects_can_be_read() -> None:
    found = families(("GET", PODS))
    seats = {labels["priority_level"]: value for labels, value in found["apiserver_flowcontrol_nominal_limit_seats"]}
    assert seats["workload-low"] > seats["leader-election"] > 0
    objects = {(labels["group"], labels["resource"]): value for labels, value in found["apiserver_resource_objects"]}
    assert objects["apiregistration.k8s.io", "apiservices"] == 21
    assert objects["", "namespaces"] == 4


def test_the_watch_caches_tell_what_they_heard_said_and_answered() -> None:
    pods = "/api/v1/pods"
    before = families(("GET", pods + "?watch=1"))
    open_watches = before["apiserver_longrunning_requests"]
    [(watch, count)] = [row for row in open_watches if row[0]["resource"] == "pods"]
    expected = {
        "resource": "pods",
        "group": "",
        "scope": "cluster",
        "verb": "WATCH",
        "version": "v1",
        "subresource": "",
    }
    assert (count, watch) == (1, {"component": "apiserver", **expected})
    assert "apiserver_watch_events_total" not in before
    told = families(("GET", "/api/v1/namespaces?watch=1&resourceVersion=0"))["apiserver_watch_events_total"]
    assert told == [({"group": "", "version": "v1", "resource": "namespaces"}, 4)]
    found = families(("GET", PODS), ("GET", PODS), ("GET", PODS + "?resourceVersion=0"), ("GET", PODS + "?limit=1"))
    reads = {
        labels["resource"]: (labels, value) for labels, value in found["apiserver_watch_cache_consistent_read_total"]
    }
    assert reads["pods"][1] == 3
    assert reads["pods"][0] == {"group": "", "resource": "pods", "success": "true", "fallback": "false"}
    received = {labels["resource"]: v for labels, v in found["apiserver_watch_cache_events_received_total"]}
    assert received["namespaces"] == 4
    assert "pods" not in received


def test_a_histogram_holds_each_length_once() -> None:
    histogram = Histogram()
    for seconds in (0.001, 0.005, 0.3, 100):
        histogram.observe(seconds)
    assert sum(histogram.counts) == 4
    assert (histogram.counts[0], histogram.counts[BUCKETS.index(0.4)], histogram.counts[-1]) == (2, 1, 1)


def test_the_debug_tables_are_served_to_those_who_may() -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        path = "/debug/api_priority_and_fairness/dump_priority_levels"
        answer = await server.handler(Request("GET", path, user=ROOT))
        assert (answer.body or b"").startswith(b"PriorityLevelName,")
        assert b"\nexempt, " in (answer.body or b"")
        assert (await server.handler(Request("GET", path, user=UserInfo("jane")))).status == 403
        assert (await server.handler(Request("GET", path + "x", user=ROOT))).status == 404
        await server.stop()

    run_virtual(main())


def test_a_server_that_goes_sends_new_requests_away_and_still_tells_how_it_is() -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        server.signals.shutdown_initiated = True
        answer = await server.handler(Request("GET", PODS, user=ROOT))
        assert (answer.status, answer.headers["Retry-After"], answer.headers["Connection"]) == (429, "5", "close")
        assert answer.body == b"The apiserver is shutting down, please try again later.\n"
        assert (await server.handler(Request("GET", "/readyz", user=ROOT))).status == 200
        own = Request("GET", PODS, headers={"user-agent": "kube-apiserver/v1.36.2"}, user=ROOT, accepts_object=True)
        assert (await server.handler(own)).status == 200
        await server.stop()

    asyncio.run(main())


def test_before_it_is_complete_nothing_is_not_found() -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        server.signals.has_been_ready = False
        answer = await server.handler(Request("GET", "/apis/later.example.org/v1", user=ROOT))
        assert answer.status == 503
        assert answer.obj is not None
        assert (
            answer.obj["message"]
            == "the request has been made before all known HTTP paths have been installed, please try again"
        )
        assert answer.headers["Retry-After"] == "5"
        server.signals.has_been_ready = True
        assert (await server.handler(Request("GET", "/apis/later.example.org/v1", user=ROOT))).status == 404
        await server.stop()

    run_virtual(main())
