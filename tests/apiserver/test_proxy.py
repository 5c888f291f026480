"""`/proxy`: which address a name means, what is passed on, and what is said where nobody answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api import status
from lifecycle.api.http.wire import Object, Request, RequestInfo, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.endpoints.connect_options import proxied_path
from lifecycle.apiserver.endpoints.proxy import Location, locate, proxy, split_scheme_name_port
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

POD = {
    "spec": {"nodeName": "n", "containers": [{"name": "a"}, {"name": "b", "ports": [{"containerPort": 8080}]}]},
    "status": {"podIP": "10.244.1.2", "podIPs": [{"ip": "10.244.1.2"}]},
}
ADDRESS = {"ip": "10.244.1.2", "targetRef": {"kind": "Pod", "namespace": "default", "name": "p"}}
SUBSETS = [{"addresses": [ADDRESS], "ports": [{"name": "web", "port": 8080}]}]
STORED: dict[tuple[str, str], Object] = {
    ("pods", "p"): POD,
    ("pods", "new"): {"spec": {"containers": [{"name": "c"}]}},
    ("pods", "plain"): {"spec": {"nodeName": "n", "containers": [{}]}, "status": {"podIP": "10.244.1.9"}},
    ("nodes", "n"): {"status": {"addresses": [{"type": "InternalIP", "address": "172.19.0.2"}]}},
    ("nodes", "mine"): {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}},
    ("nodes", "bare"): {},
    ("services", "s"): {"spec": {"ports": [{"name": "web", "port": 80}, {"name": "other", "port": 81}]}},
    ("endpoints", "s"): {"subsets": SUBSETS},
    ("services", "lonely"): {"spec": {"ports": [{"name": "web", "port": 80}]}},
    ("services", "empty"): {"spec": {"ports": [{"port": 80}]}},
    ("endpoints", "empty"): {},
    ("endpoints", "elsewhere"): {"subsets": [{**SUBSETS[0], "addresses": [{"ip": "169.254.169.254"}, {**ADDRESS, "ip": "1.1.1.1"}]}]},
}  # fmt: skip


def read(plural: str, namespace: str, name: str) -> Object:
    if (plural, name) not in STORED:
        raise status.not_found(plural, name)
    return STORED[plural, name]


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("a", ("", "a", "")),
        ("a:80", ("", "a", "80")),
        ("http:a:web", ("http", "a", "web")),
        ("https:a:", ("https", "a", "")),
        (":a:1", ("", "a", "1")),
        ("ftp:a:80", None),
        (":80", None),
        ("", None),
        ("a:b:c:d", None),
    ],
)
def test_a_name_may_carry_scheme_and_port(id: str, expected: tuple[str, str, str] | None) -> None:
    assert split_scheme_name_port(id) == expected


@pytest.mark.parametrize(
    ("plural", "id", "expected"),
    [
        ("pods", "p", Location("n", "", "10.244.1.2", "8080")),
        ("pods", "https:p:99", Location("n", "https", "10.244.1.2", "99")),
        ("pods", "plain", Location("n", "", "10.244.1.9", "")),
        ("nodes", "n", Location("n", "", "172.19.0.2", "", kubelet=True)),
        ("nodes", "https:n:10250", Location("n", "https", "172.19.0.2", "10250", kubelet=True)),
        ("nodes", "n:9100", Location("n", "", "172.19.0.2", "9100")),
        ("services", "s:80", Location("n", "", "10.244.1.2", "8080")),
        ("services", "http:s:web", Location("n", "http", "10.244.1.2", "8080")),
    ],
)
def test_pods_services_and_nodes_have_a_place(plural: str, id: str, expected: Location) -> None:
    assert locate(plural, "default", id, read) == expected


@pytest.mark.parametrize(
    ("plural", "id", "code", "message"),
    [
        ("pods", "ftp:p:80", 400, 'invalid pod request "ftp:p:80"'),
        ("services", ":80", 400, 'invalid service request ":80"'),
        ("nodes", "a:b:c:d", 400, 'invalid node request "a:b:c:d"'),
        ("pods", "nope:80", 404, 'pods "nope" not found'),
        ("pods", "new", 400, "address not allowed"),
        ("nodes", "mine", 400, "address not allowed"),
        ("nodes", "bare", 400, "address not allowed"),
        ("services", "nope:80", 404, 'services "nope" not found'),
        ("services", "lonely:80", 404, 'services "lonely" not found'),
        ("services", "s:82", 503, 'no service port 82 found for service "s"'),
        ("services", "s:" + "9" * 5000, 503, "no service port 99999999999999999999 found"),
        ("services", "empty:80", 503, 'no endpoints available for service "empty"'),
        ("services", "s", 503, 'no endpoints available for service "s"'),
        ("services", "s:other", 503, 'no endpoints available for service "s:other"'),
        ("services", "elsewhere:web", 503, 'no endpoints available for service "elsewhere:web"'),
    ],
)
def test_what_has_no_place_is_refused_as_upstream_does(plural: str, id: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as refused:
        locate(plural, "default", id, read)
    assert refused.value.code == code
    assert refused.value.message.startswith(message)


class Node:
    """The way to a node that notes what it is asked."""

    def __init__(self, answer: Response | None = None) -> None:
        self.answer, self.asked = answer, list[tuple[Any, ...]]()

    async def round_trip(self, request: Request) -> Response:
        return await self.reach_pod("kubelet", 0, request)

    async def reach_pod(self, ip: str, port: int, request: Request, scheme: str = "http") -> Response:
        self.asked.append((scheme, ip, port, request))
        if self.answer is None:
            raise ConnectionRefusedError(f"dial tcp {ip}:{port}: connect: connection refused")
        return self.answer


PLACE = Location("n", "", "10.244.1.2", "8080")
PREFIX = "/api/v1/namespaces/default/pods/p/proxy"


HEADERS = {"x-a": "b", "upgrade": "h2c", "impersonate-user": "x", "x-bad": "\udcff"}


def asked(method: str, rest: str, query: str = "", path: str = "", body: bytes = b"") -> Request:
    parts = tuple(f"pods/p/proxy{rest}".strip("/").split("/"))
    info = RequestInfo(True, PREFIX + rest, "get", name="p", resource="pods", subresource="proxy", parts=parts)
    target = PREFIX + (path or rest) + (f"?{query}" if query else "")
    return Request(method, PREFIX + rest, headers=HEADERS, body=body, target=target, info=info)


async def through(request: Request, location: Location, nodes: dict[str, Node]) -> Response:
    assert request.info is not None
    return await proxy(request, location, nodes, proxied_path(request.info))


@pytest.mark.parametrize(
    ("rest", "query", "expected"),
    [
        ("/", "", "/"),
        ("/a", "", "/a"),
        ("/a/", "", "/a/"),
        ("/a/b c//d/", "q=1&r=%20x&r", "/a/b%20c/d/?q=1&r=%20x&r"),
        ("/../../x", "", "/x"),
        ("/proxy/proxy", "", "/proxy/proxy"),
        ("/é%", "", "/%C3%A9%25"),
        ("/\udcff", "a=\udcff%20+", "/%FF?a=%FF%20+"),
    ],
)
def test_method_path_query_headers_and_body_go_through(rest: str, query: str, expected: str) -> None:
    async def main() -> None:
        node = Node(Response(200, {"X-B": "c"}, body=b"ok"))
        response = await through(asked("POST", rest, query, body=b"data"), PLACE, {"n": node})
        [(scheme, ip, port, request)] = node.asked
        assert (scheme, ip, port) == ("http", "10.244.1.2", 8080)
        assert (request.method, request.target, request.body) == ("POST", expected, b"data")
        assert request.headers == {"x-a": "b"}
        assert (response.status, response.headers, response.body) == (200, {"X-B": "c"}, b"ok")
        assert response.verbatim  # nobody indents it, whoever looks

    run_virtual(main())


def test_a_page_without_a_slash_at_its_end_leads_to_the_one_with_it() -> None:
    async def main() -> None:
        for method in ("GET", "HEAD"):
            response = await through(asked(method, "", "a=b"), PLACE, {})
            assert (response.status, response.headers) == (301, {"Location": f"{PREFIX}/?a=b"})
        node = Node(Response(200, body=b""))
        await through(asked("PUT", ""), PLACE, {"n": node})
        assert node.asked[0][3].target == "/"

    run_virtual(main())


@pytest.mark.parametrize(
    ("to", "expected"), [("/other?x=1", f"{PREFIX}/other?x=1"), ("https://example.org/x", "https://example.org/x")]
)
def test_a_redirect_stays_below_the_proxy(to: str, expected: str) -> None:
    async def main() -> None:
        response = await through(asked("GET", "/a"), PLACE, {"n": Node(Response(302, {"Location": to}, body=b""))})
        assert response.headers["Location"] == expected

    run_virtual(main())


def test_the_links_of_a_page_stay_below_the_proxy() -> None:
    async def main() -> None:
        page = Response(
            200, {"Content-Type": "text/html"}, body=b'<a href="/other">x</a> <a href="http://10.244.1.2:8080/">y</a>'
        )
        response = await through(asked("GET", "/a"), PLACE, {"n": Node(page)})
        assert response.body == f'<a href="{PREFIX}/other">x</a> <a href="{PREFIX}/">y</a>'.encode()

    run_virtual(main())


@pytest.mark.parametrize(
    ("port", "node", "why"),
    [
        ("8080", "n", "dial tcp 10.244.1.2:8080: connect: connection refused"),
        ("8080", "gone", "dial tcp 10.244.1.2:8080: connect: no route to host"),
        ("web", "n", "dial tcp: lookup tcp/web: unknown port"),
        ("٨", "n", "dial tcp: lookup tcp/٨: unknown port"),
        ("70000", "n", "dial tcp: address 70000: invalid port"),
        ("9" * 5000, "n", "dial tcp: address 99999"),
    ],
)
def test_where_nobody_answers_the_service_is_unavailable(port: str, node: str, why: str) -> None:
    async def main() -> None:
        with pytest.raises(StatusError) as refused:
            await through(asked("GET", "/"), Location(node, "", "10.244.1.2", port), {"n": Node()})
        assert refused.value.code == 503
        assert refused.value.message.startswith(f"error trying to reach service: {why}")

    run_virtual(main())


def test_a_running_cluster_answers_for_its_pods_services_and_nodes() -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(nodes=1, https=False))
        await cluster.start()
        try:
            client = cluster.client("test")
            containers = [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}]}]
            pod = {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"containers": containers}}
            service = {"selector": {"a": "b"}, "ports": [{"name": "http", "port": 8000, "targetPort": 80}]}
            await client.create(resource("pods"), pod, "default")
            await client.create(resource("services"), {"metadata": {"name": "web"}, "spec": service}, "default")
            await asyncio.sleep(20)
            base, node = "/api/v1/namespaces/default", "/api/v1/nodes/lifecycle-control-plane"
            for path in (
                "pods/web/proxy/",
                "pods/http:web:80/proxy/?x=1",
                "services/web:8000/proxy/",
                "services/http:web:http/proxy/",
            ):
                path, _, query = path.partition("?")
                assert (await client.request("GET", f"{base}/{path}", query={"x": "1"} if query else {})).status == 200
            assert (await client.request("GET", f"{node}/proxy/healthz")).body == b"ok"
            assert b'"name":"web"' in ((await client.request("GET", f"{node}/proxy/pods")).body or b"")
            for path in (f"{base}/pods/web:81/proxy/", f"{base}/pods/https:web:80/proxy/", f"{node}:9/proxy/"):
                with pytest.raises(StatusError, match="error trying to reach service: ") as refused:
                    await client.request("GET", path)
                assert refused.value.code == 503
            for path in (f"{base}/services/web:1/proxy/", f"{base}/services/kubernetes/proxy/", f"{node}x/proxy/"):
                with pytest.raises(StatusError) as refused:
                    await client.request("GET", path)
                assert refused.value.code in (404, 503)
        finally:
            await cluster.stop()

    run_virtual(main())
