"""The aggregation layer: routing, availability, discovery of several servers, and a real added server behind it over HTTPS."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import MASTERS, Object, Request, Response, UserInfo
from lifecycle.api.resources import resource
from lifecycle.apiserver.aggregation.api_services import (
    set_available_condition,
    sorted_by_group_and_version,
    version_rank,
)
from lifecycle.apiserver.aggregation.availability import Retries, check_service
from lifecycle.apiserver.aggregation.backend import Backend, Trust, auth_proxy_headers, forwarded_headers
from lifecycle.apiserver.aggregation.discovery import (
    Discovered,
    merged_discovery,
    merged_group_list,
    resources_to_discovery,
)
from lifecycle.apiserver.aggregation.local_api_services import local_api_services
from lifecycle.apiserver.extension_server import LookupServer
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.apiserver.webhook.service_resolver import ClusterIPResolver, EndpointResolver, ResolveError
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.cluster.kubeconfig_file import kubeconfig as make_kubeconfig
from lifecycle.etcd.memory import MemoryStore
from lifecycle.inspector import open_recording
from tests.furnished import restored

ROOT = UserInfo("root", (MASTERS, "system:authenticated"))
JANE = UserInfo("jane", ("devs", "system:authenticated"), "u-1", {"example.org/team": ("a", "b")})
TERMS = "/apis/lookup.lifecycle.book/v1/terms"
NAME = "v1.lookup.lifecycle.book"


def recorded_api_services() -> list[Object]:
    for exchange in open_recording().exchanges("objects"):
        if exchange.path == "/apis/apiregistration.k8s.io/v1/apiservices":
            return list(exchange.response["items"])
    raise AssertionError("the recording lists no APIServices")


def an_api_service(
    group: str = "example.org", version: str = "v1", priority: int = 1000, of: int = 15, **spec: Any
) -> Object:
    numbers = {"groupPriorityMinimum": priority, "versionPriority": of}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}"},
        "spec": {"group": group, "version": version, **numbers, **spec},
    }


# -- the table ----------------------------------------------------------------------------------------------------------


def test_the_servers_own_api_services_are_the_recorded_ones() -> None:
    ours = {each["metadata"]["name"]: (each["spec"], each["metadata"]["labels"]) for each in local_api_services()}
    theirs = {each["metadata"]["name"]: (each["spec"], each["metadata"]["labels"]) for each in recorded_api_services()}
    assert ours == theirs


def test_groups_and_versions_are_listed_in_the_recorded_order() -> None:
    listed = next(e for e in open_recording().exchanges("discovery") if e.path == "/apis").response["groups"]
    ours = [
        (g[0]["spec"]["group"], [v["spec"]["version"] for v in g])
        for g in sorted_by_group_and_version(recorded_api_services())[1:]
    ]
    assert ours == [(g["name"], [v["version"] for v in g["versions"]]) for g in listed[1:]]
    shuffled = {"groups": list(reversed(listed))}
    assert merged_group_list(shuffled, recorded_api_services(), [])["groups"] == listed


def test_versions_are_ranked_by_maturity_first() -> None:
    wanted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert sorted(set(wanted), key=version_rank, reverse=True) == wanted


@given(
    st.permutations(
        [
            an_api_service(g, v, p, n)
            for g, v, p, n in (
                ("a", "v1", 10, 1),
                ("a", "v2", 10, 1),
                ("b", "v1", 20, 5),
                ("c", "v1beta1", 10, 9),
                ("c", "v1", 15, 3),
            )
        ]
    )
)
def test_the_order_does_not_depend_on_how_they_come(services: list[Object]) -> None:
    names = [[each["metadata"]["name"] for each in group] for group in sorted_by_group_and_version(services)]
    assert names == [["v1.b"], ["v1beta1.c", "v1.c"], ["v2.a", "v1.a"]]


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = set_available_condition(an_api_service(), "False", "ServiceNotFound", "…", "2026-01-01T00:00:00Z")
    second = set_available_condition(first, "False", "MissingEndpoints", "…", "2026-01-02T00:00:00Z")
    third = set_available_condition(second, "True", "Passed", "…", "2026-01-03T00:00:00Z")
    times = [each["status"]["conditions"][0]["lastTransitionTime"][:10] for each in (first, second, third)]
    assert times == ["2026-01-01", "2026-01-01", "2026-01-03"]
    assert len(third["status"]["conditions"]) == 1


# -- finding it ---------------------------------------------------------------------------------------------------------


def a_service(**spec: Any) -> Object:
    port = {"name": "https", "port": 443, "targetPort": 8443}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "n"},
        "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.9", "ports": [port], **spec},
    }


def a_slice(ready: bool | None = True, port: str = "https") -> Object:
    conditions = {} if ready is None else {"ready": ready}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "s-1", "namespace": "n", "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.244.1.2"], "conditions": conditions}],
        "ports": [{"name": port, "port": 8443}],
    }


REMOTE = an_api_service(service={"namespace": "n", "name": "s", "port": 443})


@pytest.mark.parametrize(
    ("objects", "reason", "message"),
    [
        ([], "ServiceNotFound", 'service/s in "n" is not present'),
        ([a_service(ports=[{"port": 80}])], "ServicePortError", 'service/s in "n" is not listening on port 443'),
        ([a_service()], "EndpointsNotFound", 'cannot find endpointslices for service/s in "n"'),
        (
            [a_service(), a_slice(ready=False)],
            "MissingEndpoints",
            'endpointslices for service/s in "n" have no addresses with port name "https"',
        ),
        (
            [a_service(), a_slice(port="metrics")],
            "MissingEndpoints",
            'endpointslices for service/s in "n" have no addresses with port name "https"',
        ),
        ([a_service(), a_slice()], "Passed", "all checks passed"),
        ([a_service(), a_slice(ready=None)], "Passed", "all checks passed"),
        ([a_service(type="ExternalName", externalName="x.y", ports=[])], "Passed", "all checks passed"),
    ],
)
def test_why_an_added_server_is_not_available(objects: list[Object], reason: str, message: str) -> None:
    finding = check_service(StaticReader(objects), REMOTE)
    assert (finding.reason, finding.message) == (reason, message)
    assert finding.status == ("True" if reason == "Passed" else "False")


def test_where_a_service_leads() -> None:
    reader = StaticReader([a_service(), a_slice()])
    assert ClusterIPResolver(reader).resolve_endpoint("n", "s", 443) == ("10.96.0.9", 443)
    assert EndpointResolver(reader).resolve_endpoint("n", "s", 443) == ("10.244.1.2", 8443)
    outside = StaticReader([a_service(type="ExternalName", externalName="api.example.org")])
    assert ClusterIPResolver(outside).resolve_endpoint("n", "s", 6443) == ("api.example.org", 6443)
    wrong: list[tuple[Any, Any, int, str]] = [
        (
            ClusterIPResolver,
            StaticReader([a_service(clusterIP="None")]),
            443,
            'cannot route to service with ClusterIP "None"',
        ),
        (ClusterIPResolver, reader, 80, 'no service port 80 found for service "s"'),
        (EndpointResolver, outside, 443, 'unsupported service type "ExternalName"'),
        (EndpointResolver, StaticReader([a_service(), a_slice(False)]), 443, 'no endpoints available for service "s"'),
    ]
    for kind, objects, port, message in wrong:
        with pytest.raises(ResolveError) as caught:
            kind(objects).resolve_endpoint("n", "s", port)
        assert str(caught.value) == message


def test_a_failing_server_is_asked_again_later_and_later() -> None:
    retries = Retries()
    waits = [retries.after("x", True) for _ in range(15)]
    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[-1] == 30.0
    assert retries.after("x", False) == 30.0
    assert retries.after("x", True) == 0.005


# -- what is said -------------------------------------------------------------------------------------------------------


def test_the_identity_goes_along_and_a_forged_one_does_not() -> None:
    assert auth_proxy_headers(JANE) == [
        ("X-Remote-User", "jane"),
        ("X-Remote-Uid", "u-1"),
        ("X-Remote-Group", "devs"),
        ("X-Remote-Group", "system:authenticated"),
        ("X-Remote-Extra-example.org%2Fteam", "a"),
        ("X-Remote-Extra-example.org%2Fteam", "b"),
    ]
    sent = {"x-remote-user": "root", "x-remote-group": MASTERS, "accept": "x", "connection": "close", "host": "y"}
    assert forwarded_headers(sent) == [("accept", "x")]


@pytest.mark.parametrize("said", [[], [("content-type", "application/yaml"), ("accept", "application/json")]])
def test_of_a_body_and_an_answer_an_added_server_hears_what_the_client_said_and_no_more(
    said: list[tuple[str, str]],
) -> None:
    arrived: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        arrived.extend(head.decode("latin-1").strip().lower().split("\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> None:
        certificates = CertificateAuthority()
        backend = Backend(Trust("s.n.svc", b"", insecure=True), certificates.client_certificate("aggregator", []))
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=certificates.server_context()) as server:
            port = server.sockets[0].getsockname()[1]
            await backend.send("POST", "127.0.0.1", port, "/apis/z", user=ROOT, headers=said, body=b"{}")
            await backend.close()

    asyncio.run(main())
    ours = ("host:", "content-length:", "x-remote-")
    assert [line for line in arrived[1:] if not line.startswith(ours)] == [": ".join(pair) for pair in said]


def test_the_aggregated_document_takes_in_what_others_have() -> None:
    local = {"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "apiregistration.k8s.io"}, "versions": [{"version": "v1"}]},
        {"metadata": {"name": "apps"}, "versions": [{"version": "v1"}]},
    ]}  # fmt: skip
    services = [
        an_api_service("apps", "v1", 17800),
        an_api_service("apps", "v9", 17800, 20),
        an_api_service("z.org", "v1", 18000),
    ]
    discovered = {
        "v9.apps": Discovered({"version": "v9", "resources": []}, True),
        "v1.z.org": Discovered({"version": "v1"}, False),
    }
    merged = merged_discovery(local, services, discovered)
    assert [(g["metadata"]["name"], [v["version"] for v in g["versions"]]) for g in merged["items"]] == [
        ("apiregistration.k8s.io", ["v1"]), ("z.org", ["v1"]), ("apps", ["v9", "v1"]),
    ]  # fmt: skip
    assert merged["items"][1]["versions"][0]["freshness"] == "Stale"


def test_old_discovery_is_told_in_the_new_form() -> None:
    exchanges = open_recording().exchanges("discovery")
    groups = next(e for e in exchanges if "items" in e.response and len(e.response["items"]) > 1).response["items"]
    legacy = next(e for e in exchanges if e.path == "/apis/apps/v1").response
    theirs = next(g for g in groups if g["metadata"]["name"] == "apps")["versions"][0]["resources"]
    ours = resources_to_discovery(legacy, "apps", "v1")
    assert [each["resource"] for each in ours] == [each["resource"] for each in theirs]
    assert [each["verbs"] for each in ours] == [each["verbs"] for each in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert [s["subresource"] for s in mine.get("subresources", ())] == [
            s["subresource"] for s in other.get("subresources", ())
        ]


# -- a real server behind it --------------------------------------------------------------------------------------------


class Joined:
    """A cluster's API server with the glossary server behind it, both on real sockets."""

    def __init__(self, server: GenericAPIServer, lookup: LookupServer) -> None:
        self.server, self.lookup = server, lookup

    async def ask(self, method: str, path: str, user: UserInfo = ROOT, obj: Any = None, **headers: str) -> Response:
        path, _, query = path.partition("?")
        asked = {key: [value] for key, value in (part.split("=") for part in query.split("&") if part)}
        request = Request(method, path, asked, {k.replace("_", "-"): v for k, v in headers.items()}, obj=obj, user=user)
        request.accepts_object = True
        return await self.server.handler(request)

    async def until(self, status: str, reason: str) -> Object:
        """Wait for the condition, on a watch."""
        row = resource("apiservices.apiregistration.k8s.io")
        async with asyncio.timeout(60):
            watch = await self.ask("GET", row.path() + "?watch=1")
            assert watch.stream is not None
            async for frame in watch.stream:
                if frame.object["metadata"]["name"] == NAME:
                    for condition in (frame.object.get("status") or {}).get("conditions", ()):
                        if (condition["status"], condition["reason"]) == (status, reason):
                            await watch.stream.aclose()  # type: ignore[attr-defined]
                            return dict(condition)
        raise AssertionError("the watch ended")


@asynccontextmanager
async def joined(register: bool = True) -> AsyncIterator[Joined]:
    server = create_server_chain(MemoryStore())
    await server.start(restored)
    port = await server.serve_https()
    authority = server.certificates
    certificate, key = authority.client_certificate("lookup", [MASTERS])
    lookup = LookupServer(ConnectionConfig(f"https://127.0.0.1:{port}", authority.ca_pem, certificate, key))
    both = Joined(server, lookup)
    try:
        await lookup.start()
        if register:
            await lookup.register()
            await both.until("True", "Passed")
        yield both
    finally:
        await lookup.stop()
        await server.stop()


def test_an_added_server_is_used_like_a_built_in_one() -> None:
    async def main() -> None:
        async with joined() as site:
            listed = await site.ask("GET", TERMS)
            assert listed.obj is not None
            assert [each["metadata"]["name"] for each in listed.obj["items"]] == ["kubelet", "pause", "reconcile"]
            term = {
                "apiVersion": "lookup.lifecycle.book/v1",
                "kind": "Term",
                "metadata": {"name": "pod"},
                "spec": {"meaning": "x"},
            }
            assert (await site.ask("POST", TERMS, obj=term)).status == 201
            again = await site.ask("POST", TERMS, obj=term)
            assert (again.status, again.obj["message"]) == (409, 'terms.lookup.lifecycle.book "pod" already exists')  # type: ignore[index]
            bad = await site.ask("POST", TERMS, obj={**term, "metadata": {"name": "B"}, "spec": {}})
            assert bad.obj is not None
            assert (bad.status, len(bad.obj["details"]["causes"])) == (422, 2)
            patch = {"content_type": "application/merge-patch+json"}
            changed = await site.ask("PATCH", f"{TERMS}/pod", obj={"spec": {"meaning": "y"}}, **patch)
            assert changed.obj is not None
            assert (changed.obj["spec"]["meaning"], changed.obj["metadata"]["generation"]) == ("y", 2)
            watch = await site.ask("GET", f"{TERMS}?watch=1&resourceVersion=4")
            assert watch.stream is not None
            assert (await anext(watch.stream)).object["spec"]["meaning"] == "y"
            await watch.stream.aclose()  # type: ignore[attr-defined]
            assert (await site.ask("DELETE", f"{TERMS}/pod")).status == 200
            gone = await site.ask("GET", f"{TERMS}/pod")
            assert (gone.status, gone.obj["message"]) == (404, 'terms.lookup.lifecycle.book "pod" not found')  # type: ignore[index]

    asyncio.run(main())


def test_who_may_not_is_refused_before_the_added_server_hears_of_it() -> None:
    async def main() -> None:
        async with joined() as site:
            site.lookup.seen.clear()
            refused = await site.ask("GET", TERMS, JANE)
            assert refused.status == 403
            assert refused.obj is not None
            assert refused.obj["message"].startswith(
                'terms.lookup.lifecycle.book is forbidden: User "jane" cannot list'
            )
            assert [each for each in site.lookup.seen if each[0] == "jane"] == []

            role = {"rules": [{"apiGroups": ["lookup.lifecycle.book"], "resources": ["terms"], "verbs": ["list"]}]}
            rbac = "/apis/rbac.authorization.k8s.io/v1"
            about = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "readers"}}
            await site.ask("POST", f"{rbac}/clusterroles", obj={"kind": "ClusterRole", **about, **role})
            to = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "readers"}}
            subjects = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}]
            await site.ask(
                "POST",
                f"{rbac}/clusterrolebindings",
                obj={"kind": "ClusterRoleBinding", **about, **to, "subjects": subjects},
            )
            allowed = await site.ask("GET", TERMS, JANE)
            assert allowed.status == 200
            assert ("jane", "list", TERMS) in site.lookup.seen

    asyncio.run(main())


def test_whoever_comes_directly_is_asked_about() -> None:
    """Without the front proxy's certificate the headers count for nothing; a client certificate of the cluster does count."""

    async def main() -> None:
        import aiohttp

        from lifecycle.client.transport_https import ssl_context

        async with joined() as site:
            ca = base64.b64decode(site.lookup.manifests()[1]["spec"]["caBundle"])
            forged = {"X-Remote-User": "root", "X-Remote-Group": MASTERS}
            url = site.lookup.url + TERMS
            async with aiohttp.ClientSession() as session:
                plain = ssl_context(ConnectionConfig("", ca))
                async with session.get(url, headers=forged, ssl=plain) as answer:
                    said = await answer.json()
                    assert (answer.status, "system:anonymous" in said["message"]) == (403, True)
                async with session.get(site.lookup.url + "/healthz", ssl=plain) as answer:
                    assert (answer.status, await answer.text()) == (200, "ok")
            for authority, user, groups, status in (
                (site.server.certificates, "jane", [], 403),
                (site.server.certificates, "boss", [MASTERS], 200),
                (site.server.front_proxy.authority, "somebody", [], 401),
            ):
                shown = ssl_context(ConnectionConfig("", ca, *authority.client_certificate(user, groups)))
                async with aiohttp.ClientSession() as session, session.get(url, headers=forged, ssl=shown) as answer:
                    assert answer.status == status, user

    asyncio.run(main())


def test_discovery_and_schemas_of_both_servers_are_one() -> None:
    async def main() -> None:
        async with joined() as site:
            legacy = await site.ask("GET", "/apis")
            assert legacy.obj is not None
            assert legacy.obj["groups"][-1]["name"] == "lookup.lifecycle.book"
            accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            async with asyncio.timeout(60):
                await site.server.aggregator.synced()
            whole = await site.ask("GET", "/apis", accept=accept)
            items = json.loads(whole.body or b"")["items"]
            assert items[-1]["versions"][0]["resources"][0]["shortNames"] == ["tm"]
            assert items[-1]["versions"][0]["freshness"] == "Current"
            held = whole.headers["ETag"]
            assert (await site.ask("GET", "/apis", accept=accept, if_none_match=held)).status == 304
            index = await site.ask("GET", "/openapi/v3")
            address = json.loads(index.body or b"")["paths"]["apis/lookup.lifecycle.book/v1"]["serverRelativeURL"]
            schema = await site.ask("GET", address.partition("?")[0])
            assert "book.lifecycle.lookup.v1.Term" in schema.obj["components"]["schemas"]  # type: ignore[index]
            old = json.loads((await site.ask("GET", "/openapi/v2", accept="application/json")).body or b"")
            assert "book.lifecycle.lookup.v1.Term" in old["definitions"]
            await site.lookup.unregister()
            assert (await site.ask("GET", TERMS)).status == 404
            gone = await site.ask("GET", "/apis")
            assert gone.obj is None or gone.obj["groups"][-1]["name"] != "lookup.lifecycle.book"

    asyncio.run(main())


def test_an_added_server_that_goes_away_is_missed_twice() -> None:
    """First nobody knows, and each request finds out; then the condition says so, and nobody is asked any more."""

    async def main() -> None:
        async with joined() as site:
            port = site.lookup.manifests()[1]["spec"]["service"]["port"]
            await site.lookup.stop()
            first = await site.ask("GET", TERMS)
            assert first.status == 503
            assert first.body == (
                f"error trying to reach service: dial tcp localhost:{port}: connect: connection refused\n".encode()
            )
            site.server.aggregator.look()
            condition = await site.until("False", "FailedDiscoveryCheck")
            url = f"https://localhost:{port}/apis/lookup.lifecycle.book/v1"
            assert condition["message"] == (
                f'failing or missing response from {url}: Get "{url}": dial tcp localhost:{port}: connect: connection refused'
            )
            second = await site.ask("GET", TERMS)
            assert (second.status, second.body) == (503, b"service unavailable\n")

    asyncio.run(main())


def test_an_impostor_behind_the_service_is_not_believed() -> None:
    async def main() -> None:
        async with joined(register=False) as site:
            service, api_service = site.lookup.manifests()
            other = site.server.certificates.ca_pem
            api_service["spec"]["caBundle"] = base64.b64encode(other).decode()
            await site.ask("POST", "/api/v1/namespaces/default/services", obj=service)
            await site.ask("POST", "/apis/apiregistration.k8s.io/v1/apiservices", obj=api_service)
            condition = await site.until("False", "FailedDiscoveryCheck")
            assert condition["message"].endswith(
                "tls: failed to verify certificate: x509: certificate signed by unknown authority"
            )

    asyncio.run(main())


def test_without_added_servers_nothing_is_between() -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start(restored)
        try:
            assert not server.aggregator.has_remote
            request = Request("GET", "/apis/apiregistration.k8s.io/v1/apiservices", user=ROOT, accepts_object=True)
            listed = (await server.handler(request)).obj
            assert listed is not None
            assert len(listed["items"]) == len(local_api_services())
            assert listed["items"][0]["status"]["conditions"][0]["reason"] == "Local"
        finally:
            await server.stop()

    asyncio.run(main())


def test_real_kubectl_uses_the_added_resource(kubectl_binary: Path, tmp_path: Path) -> None:
    """Every version of kubectl that we have lists, creates, follows and deletes terms, through the API server."""
    kubeconfig = tmp_path / "config"

    async def kubectl(*words: str, stdin: str = "") -> str:
        process = await asyncio.create_subprocess_exec(
            kubectl_binary,
            *("--kubeconfig", kubeconfig, "--cache-dir", tmp_path / "cache", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(30):
            said, _ = await process.communicate(stdin.encode())
        return said.decode()

    async def main() -> None:
        async with joined() as site:
            authority = site.server.certificates
            certificate, key = authority.client_certificate("kubernetes-admin", [MASTERS])
            server = site.lookup._cluster.server
            kubeconfig.write_text(json.dumps(make_kubeconfig(server, authority.ca_pem, certificate, key, name="x")))
            async with asyncio.timeout(60):
                await site.server.aggregator.synced()
            assert "terms" in await kubectl("api-resources", "--api-group=lookup.lifecycle.book")
            assert (await kubectl("get", "tm", "pause", "--no-headers")).startswith("pause   The container that holds")
            about = {"apiVersion": "lookup.lifecycle.book/v1", "kind": "Term", "metadata": {"name": "pod"}}
            created = await kubectl("create", "-f", "-", stdin=json.dumps({**about, "spec": {"meaning": "x"}}))
            assert created == "term.lookup.lifecycle.book/pod created\n"
            refused = await kubectl("get", "terms", "--as", "jane")
            assert 'User "jane" cannot list resource "terms" in API group "lookup.lifecycle.book"' in refused
            watched = await kubectl("get", "terms", "-w", "--output-watch-events", "--request-timeout=1s")
            assert len([line for line in watched.splitlines() if line.startswith("ADDED")]) == 4
            assert 'term.lookup.lifecycle.book "pod" deleted' in await kubectl("delete", "term", "pod")

    asyncio.run(main())
