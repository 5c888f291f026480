"""Discovery, OpenAPI, version and health, held against what a real cluster answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import StatusError
from lifecycle.apiserver.non_resource import NonResourceHandler
from lifecycle.apiserver.non_resource.openapi_v2 import openapi_v2, to_v2_schema

RECORDINGS = Path(__file__).parents[2] / "recordings" / "kind-1.36.2" / "http"
RECORDED_ADDRESS = "172.19.0.4:6443"

DISAGREEMENTS: dict[str, str] = {}
"""Recorded paths whose answer differs from ours, with the reason."""


def ask(
    handler: NonResourceHandler, path: str, accept: str = "application/json", method: str = "GET", **headers: str
) -> Response:
    path, _, query = path.partition("?")
    request = Request(method, path, parse_qs(query, keep_blank_values=True), {"accept": accept, **headers})

    async def main() -> Response:
        try:
            return await handler.serve(request)
        except StatusError as error:
            return Response(error.code, {"Content-Type": "application/json"}, obj=error.status)

    return run_virtual(main())


def content(response: Response) -> Any:
    if response.obj is not None:
        return response.obj
    body = response.body or b""
    try:
        return fast_json.loads(body)
    except fast_json.JSONDecodeError:
        return body.decode()


def recorded(scenario: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDINGS / f"{scenario}.jsonl").read_text().splitlines()]


def non_resource(exchange: dict[str, Any]) -> bool:
    parts = exchange["path"].partition("?")[0].strip("/").split("/")
    return not (parts[0] == "api" and len(parts) > 2) and not (parts[0] == "apis" and len(parts) > 3)


def test_recorded_discovery_is_answered_alike() -> None:
    handler = NonResourceHandler(address=lambda: RECORDED_ADDRESS)
    differ = {}
    exchanges = [exchange for exchange in recorded("discovery") if non_resource(exchange)]
    assert len(exchanges) > 30
    for exchange in exchanges:
        ours = ask(handler, exchange["path"], exchange["accept"])
        theirs = exchange["headers"]
        headers = {name.lower(): value for name, value in ours.headers.items()}
        same = (
            ours.status == exchange["status"]
            and content(ours) == exchange["response"]
            and (ours.obj is not None or headers["content-type"] == theirs["content-type"])
            and headers.get("cache-control", "no-cache, private") == theirs["cache-control"]
        )
        if not same:
            differ[exchange["path"]] = (ours.status, headers, str(content(ours))[:200])
    assert {path: differ[path] for path in differ if path not in DISAGREEMENTS} == {}
    assert set(DISAGREEMENTS) <= set(differ)


def test_recorded_openapi_documents_are_answered_alike() -> None:
    handler = NonResourceHandler()
    for exchange in recorded("openapi"):
        ours = ask(handler, exchange["path"], exchange["accept"])
        assert ours.status == exchange["status"]


def test_an_aggregated_document_is_not_sent_twice() -> None:
    handler = NonResourceHandler()
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    first = ask(handler, "/apis", accept)
    again = ask(handler, "/apis", accept, **{"if-none-match": first.headers["ETag"]})
    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]


def test_the_client_chooses_between_aggregated_and_legacy_discovery() -> None:
    handler = NonResourceHandler()
    beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
    unknown = "application/json;g=apidiscovery.k8s.io;v=v7;as=APIGroupDiscoveryList,application/json"
    assert content(ask(handler, "/apis", beta))["apiVersion"] == "apidiscovery.k8s.io/v2beta1"
    assert content(ask(handler, "/apis", unknown))["kind"] == "APIGroupList"
    assert content(ask(handler, "/apis", "*/*"))["kind"] == "APIGroupList"


def test_the_server_names_its_own_address() -> None:
    found = content(ask(NonResourceHandler(address=lambda: "127.0.0.1:4711"), "/api"))
    assert found["serverAddressByClientCIDRs"][0]["serverAddress"] == "127.0.0.1:4711"


def test_an_openapi_document_may_be_kept_for_ever_under_its_hash() -> None:
    handler = NonResourceHandler()
    address = content(ask(handler, "/openapi/v3"))["paths"]["apis/apps/v1"]["serverRelativeURL"]
    found = ask(handler, address)
    assert found.headers["Cache-Control"] == "public, immutable"
    assert "io.k8s.api.apps.v1.Deployment" in content(found)["components"]["schemas"]
    stale = ask(handler, "/openapi/v3/apis/apps/v1?hash=OLD")
    assert (stale.status, stale.headers["Location"]) == (301, address)


@pytest.mark.parametrize("path", ["/openapi/v3/nope", "/openapi/v3/../../etc"])
def test_a_schema_that_there_is_not_is_not_even_a_page(path: str) -> None:
    found = ask(NonResourceHandler(), path)
    assert (found.status, found.body, "Content-Type" in found.headers) == (404, b"", False)


@pytest.mark.parametrize("path", ["/nope", "/apis/nope", "/healthz/nope", "/openapi", "//"])
def test_unknown_paths_are_told_in_plain_text(path: str) -> None:
    found = ask(NonResourceHandler(), path)
    if path == "//":  # as in Go, slashes at the end do not count
        assert found.status == 200
        return
    assert (found.status, content(found)) == (404, "404 page not found\n")


def test_a_version_that_a_group_does_not_have_is_a_status() -> None:
    found = ask(NonResourceHandler(), "/apis/apps/v9")
    assert (found.status, found.obj and found.obj["reason"]) == (404, "NotFound")


def test_discovery_cannot_be_written() -> None:
    for path in ("/api", "/apis/apps/v1", "/apis/apiregistration.k8s.io"):
        assert ask(NonResourceHandler(), path, method="POST").status == 405
    for path in ("/apis", "/apis/apps"):  # the aggregator does not look at the method
        assert ask(NonResourceHandler(), path, method="POST").status == 200


def test_health_checks_can_be_seen_left_out_and_asked_one_by_one() -> None:
    """The cases of upstream's `healthz_test.go`."""
    sick = {"etcd": lambda: "etcd failed"}
    handler = NonResourceHandler(checks=sick)
    assert content(ask(handler, "/livez/ping")) == "ok"
    refused = ask(handler, "/livez")
    assert (refused.status, refused.headers["Content-Type"]) == (500, "text/plain; charset=utf-8")
    assert "[-]etcd failed: reason withheld\n" in content(refused)
    assert content(refused).endswith(" ok\nlivez check failed\n"), "in full, though nobody asked for it"
    assert content(ask(handler, "/livez?exclude=etcd")) == "ok"
    assert "[+]etcd excluded: ok\n" in content(ask(handler, "/livez?verbose&exclude=etcd"))
    assert (ask(handler, "/livez/etcd").status, content(ask(handler, "/livez/etcd"))) == (
        500,
        "internal server error: etcd failed\n",
    )
    assert content(ask(NonResourceHandler(), "/healthz")) == "ok"
    assert content(ask(NonResourceHandler(), "/livez?exclude=x")) == "ok"
    shown = content(ask(NonResourceHandler(), "/livez?verbose=true&exclude=x&exclude=a,etcd&exclude=ping"))
    assert "[+]ping excluded: ok\n" in shown
    assert shown.endswith(
        'ok\nwarn: some health checks cannot be excluded: no matches for "a,etcd","x"\nlivez check passed\n'
    )


def test_old_clients_get_v2_definitions_for_every_v3_schema() -> None:
    definitions = openapi_v2()["definitions"]
    spec = definitions["io.k8s.api.apps.v1.DeploymentSpec"]
    assert spec["properties"]["template"]["$ref"] == "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"
    int_or_string = definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    assert (int_or_string["type"], int_or_string["format"]) == ("string", "int-or-string")
    references = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            references.update(v for k, v in value.items() if k == "$ref" and isinstance(v, str))
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    collect(definitions)
    assert {reference.removeprefix("#/definitions/") for reference in references} <= set(definitions)


def test_a_reference_with_a_description_stays_a_reference() -> None:
    schema = {"description": "d", "default": {}, "allOf": [{"$ref": "#/components/schemas/x"}]}
    assert to_v2_schema(schema) == {"$ref": "#/definitions/x", "description": "d"}


def test_the_v2_document_is_served_as_protobuf_under_a_name_that_go_can_parse() -> None:
    found = ask(NonResourceHandler(), "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    assert found.headers["Content-Type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert (found.body or b"").startswith(b"\x0a\x032.0")
    assert ask(NonResourceHandler(), "/openapi/v2", "text/html").status == 406
