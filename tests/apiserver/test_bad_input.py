"""What the server says to requests that are wrong, over a real connection.

Messages come from the recordings where they hold the case, otherwise from upstream's sources; they are part of the API.
"""

# ruff: noqa: E501 – messages stand unbroken, one case a line, so that they can be searched for

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, NamedTuple

import pytest

from lifecycle.api import fast_json, protobuf
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from tests.apiserver.https_site import CONFIG_MAPS, Answer, Site, config_map, message_of, read_answer, request_bytes
from tests.apiserver.recorded_exchanges import exchanges

YAML, PROTOBUF = "application/yaml", "application/vnd.kubernetes.protobuf"
STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
UNREADABLE = f"{UNRECOGNIZED}couldn't get version/kind; json parse error: "
NO_RESOURCE = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"
NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


class Case(NamedTuple):
    """A request, and the beginning of the message it is refused with (or `...` anywhere in it)."""

    code: int
    message: str
    method: str
    path: str
    body: Any = b""
    headers: dict[str, str] = {}  # noqa: RUF012


def created(code: int, message: str, body: Any, query: str = "", **headers: str) -> Case:
    return Case(code, message, "POST", CONFIG_MAPS + query, body, headers)


def read(code: int, message: str, path: str, **headers: str) -> Case:
    return Case(code, message, "GET", path, b"", headers)


def named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


BODIES = [
    created(400, f"{UNREADABLE}unexpected end of JSON input (<empty>)", b""),
    created(400, f"{UNREADABLE}unexpected end of JSON input ({{)", b"{"),
    created(400, f"{UNREADABLE}invalid character 'n' looking for beginning of object key string ({{not json)", b"{not json"),
    created(400, f"{UNREADABLE}invalid character 'N' looking for beginning of value ({{\"data\":NaN}})", b'{"data":NaN}'),
    created(400, f"{UNREADABLE}json: cannot unmarshal array into Go value of type {STRUCT} (5b5d)", b"[]"),
    created(400, f"{UNREADABLE}json: cannot unmarshal string into Go value of type {STRUCT} (2278", b'"x"'),
    created(400, f"{UNREADABLE}json: cannot unmarshal number into Go value of type {STRUCT} (37)", b"7"),
    created(400, f"{UNREADABLE}invalid character", b"\xff\xfe\xfd"),
    created(400, f"{UNREADABLE}invalid character '{{' exceeded max depth ({{\"a\":{{\"a\":", b'{"a":' * 10_001),
    Case(400, "exceeded max depth", "POST", "/apis/apps/v1/namespaces/default/controllerrevisions", b'{"metadata":{"name":"x"},"revision":1,"data":' + b'{"a":' * 300 + b"1" + b"}" * 301),
    created(400, 'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion', {"apiVersion": "v1", "kind": "ConfigMapList"}),
    created(400, f'{UNRECOGNIZED}unexpected GroupVersion string: a/b/c ({{"apiVersion": "a/b/c"', b'{"apiVersion": "a/b/c"}'),
    created(400, f'{UNREADABLE}json: cannot unmarshal number into Go struct field .apiVersion of type string ({{"apiVersion": 1}})', b'{"apiVersion": 1}'),
    created(415, "the body of the request was in an unknown format", {}, Content_Type="application/json; charset"),
    created(400, 'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion', {"apiVersion": "v1", "kind": "Pod"}),
    created(400, 'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"', {"apiVersion": "v2", "kind": "ConfigMap"}),
    created(400, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.metadata of type', {"metadata": []}),
    created(400, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string', {"metadata": {"name": 5}}),
    created(400, "the namespace of the provided object does not match the namespace sent on the request", {"metadata": {"name": "a", "namespace": "x"}}),
    created(500, "resourceVersion should not be set on objects to be created", {"metadata": {"name": "a", "resourceVersion": "7"}}),
    created(400, f"{UNRECOGNIZED}yaml: line 1: did not find expected node content (613a205b)", b"a: [", Content_Type=YAML),
    created(400, f"{UNRECOGNIZED}yaml: anchor value contains itself", b"a: &x [*x]", Content_Type=YAML),
    created(400, f"{UNRECOGNIZED}yaml: document contains excessive aliasing", b"".join(b"k%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1) if n else b"x"] * 10)) for n in range(9)), Content_Type=YAML),
    created(400, f"{UNRECOGNIZED}yaml: exceeded max depth", b"- " * 90_000, Content_Type=YAML),
    created(400, f"{UNREADABLE}json: cannot unmarshal array into Go value of type {STRUCT} (2d2061)", b"- a", Content_Type=YAML),
    created(400, f"{UNRECOGNIZED}provided data does not appear to be a protobuf message, expected prefix [107", b"garbage", Content_Type=PROTOBUF),
    created(400, f"{UNRECOGNIZED}proto: ", b"k8s\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", Content_Type=PROTOBUF),
    created(415, "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf", b"x", Content_Type="text/plain"),
]  # fmt: skip

NAMES = [
    created(422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required', {}),
    created(422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required', b"null"),
    *(
        created(422, f'ConfigMap "{name}" is invalid: metadata.name: Invalid value: "{name}": {NAME}', named(name))
        for name in ("..", "a/b", "Upper", "é", "a_b", "-a", "%41", "a b")
    ),
    created(422, f'ConfigMap "{"x" * 300}" is invalid: metadata.name: Invalid value: "{"x" * 300}": must be no more than 253 characters', named("x" * 300)),
    Case(400, "the name of the object (b) does not match the name on the URL (a)", "PUT", f"{CONFIG_MAPS}/a", named("b")),
    Case(400, "the name of the object (a based on URL) was undeterminable: name must be provided", "PUT", f"{CONFIG_MAPS}/a", {}),
    Case(404, 'configmaps "absent" not found', "PUT", f"{CONFIG_MAPS}/absent", named("absent")),
    read(400, "Name parameter invalid: \"..\": may not be '..'", f"{CONFIG_MAPS}/.."),
    read(400, "Name parameter invalid: \"..\": may not be '..'", f"{CONFIG_MAPS}/%2e%2e"),
    read(400, "Name parameter invalid: \"a%b\": may not contain '%'", f"{CONFIG_MAPS}/a%25b"),
    read(404, 'configmaps "\\x00" not found', f"{CONFIG_MAPS}/%00"),
]  # fmt: skip

PATHS = [
    read(404, "404 page not found\n", "/nope"),
    read(404, "404 page not found\n", "//api/v1/namespaces"),
    read(404, "404 page not found\n", "/apis/nope.io/v1/things"),
    read(404, NO_RESOURCE, "/apis/apps/v9/deployments"),
    read(404, NO_RESOURCE, "/api/v1/namespaces/default/../default/configmaps"),
    read(404, NO_RESOURCE, "/api/v1/namespaces/default/nodes"),
    read(404, NO_RESOURCE, "/api/v1/configmaps/a"),
    read(404, NO_RESOURCE, f"{CONFIG_MAPS}/a%2fb"),
    read(404, NO_RESOURCE, f"{CONFIG_MAPS}/a/b/c"),
    read(404, NO_RESOURCE, "/api/v1/" + "x" * 100_000),
    read(400, "Namespace parameter required.", "/api/v1/namespaces//configmaps/a"),
    read(400, "400 Bad Request", "/api/v1/name%spaces"),
    read(200, "ConfigMapList", "/api/v1/namespaces//configmaps"),
    read(200, "ConfigMapList", f"{CONFIG_MAPS}/"),
    read(200, "ConfigMapList", "/api/v1/namespaces/%2e%2e/configmaps"),
    read(500, "failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch", "/api/v1/watch"),
    Case(405, NO_METHOD, "POST", "/api/v1/configmaps", named("a")),
    Case(405, NO_METHOD, "DELETE", "/api/v1/configmaps"),
    Case(405, NO_METHOD, "PATCH", "/api/v1/namespaces", {}),
    Case(405, NO_METHOD, "PUT", CONFIG_MAPS, named("a")),
    Case(405, NO_METHOD, "POST", f"{CONFIG_MAPS}/a", named("a")),
    *(Case(405, NO_METHOD, method, CONFIG_MAPS) for method in ("OPTIONS", "TRACE", "PROPFIND")),
]  # fmt: skip

QUERIES = [
    read(400, 'strconv.ParseInt: parsing "x": invalid syntax', f"{CONFIG_MAPS}?limit=x"),
    read(400, 'strconv.ParseInt: parsing "": invalid syntax', f"{CONFIG_MAPS}?limit="),
    read(400, 'strconv.ParseInt: parsing "99999999999999999999": value out of range', f"{CONFIG_MAPS}?limit=99999999999999999999"),
    read(400, 'strconv.ParseInt: parsing "1.5": invalid syntax', f"{CONFIG_MAPS}?watch=true&timeoutSeconds=1.5"),
    read(200, "ConfigMapList", f"{CONFIG_MAPS}?limit=-3"),
    read(400, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0", f"{CONFIG_MAPS}?continue=%25"),
    read(400, "invalid continue token: continue key is not valid: invalid character '\\u0081' looking for beginning of value", f"{CONFIG_MAPS}?continue=garbage"),
    read(400, "invalid continue token: continue key is not valid: json: cannot unmarshal string into Go struct field continueToken.rv of type int64", f"{CONFIG_MAPS}?continue=eyJydiI6IngifQ"),
    read(400, "invalid continue token: continue key is not valid: ../../secrets", f"{CONFIG_MAPS}?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi8uLi9zZWNyZXRzIn0"),
    read(400, 'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax', f"{CONFIG_MAPS}?resourceVersion=abc"),
    read(500, 'resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax', f"{CONFIG_MAPS}?watch=true&resourceVersion=-1"),
    read(500, 'resourceVersion: Invalid value: "x": strconv.ParseUint', f"{CONFIG_MAPS}/a?resourceVersion=x"),
    read(504, "Timeout: Too large resource version: 99999999, current: ", f"{CONFIG_MAPS}/a?resourceVersion=99999999"),
    read(422, 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided', f"{CONFIG_MAPS}?resourceVersionMatch=Exact"),
    read(422, 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list', f"{CONFIG_MAPS}?sendInitialEvents=true"),
    read(400, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt", f"{CONFIG_MAPS}?labelSelector=a%20b"),
    read(400, '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"', f"{CONFIG_MAPS}?fieldSelector=data.k%3D1"),
    read(400, "invalid timeout specified in the request URL", f"{CONFIG_MAPS}?timeout=soon"),
    read(200, "ConfigMapList", f"{CONFIG_MAPS}?%zz=1&;&&=&%ff=%fe"),
    created(422, 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"', {}, "?dryRun=x"),
    created(422, 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes', {}, f"?fieldManager={'m' * 129}"),
    created(422, 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "\\x01": invalid character U+0001 (at position 0)', {}, "?fieldManager=%01"),
    created(422, 'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Harsh": supported values: "", "Ignore", "Strict", "Warn"', {}, "?fieldValidation=Harsh"),
    Case(422, 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"', "DELETE", f"{CONFIG_MAPS}/a?propagationPolicy=x"),
    Case(400, 'no kind "Pod" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"', "DELETE", f"{CONFIG_MAPS}/a", {"apiVersion": "v1", "kind": "Pod"}),
]  # fmt: skip


def patched(code: int, message: str, kind: str, body: Any, query: str = "") -> Case:
    media_type = {"apply": "apply-patch+yaml"}.get(kind, f"{kind}-patch+json")
    return Case(code, message, "PATCH", f"{CONFIG_MAPS}/a{query}", body, {"Content_Type": f"application/{media_type}"})


PATCHES = [
    Case(415, "415: Unsupported Media Type", "PATCH", f"{CONFIG_MAPS}/a", {}),
    patched(400, "error decoding patch: unexpected end of JSON input", "json", b""),
    patched(400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp", "json", {}),
    patched(422, "the server rejected our request due to an error in our request", "json", [{"op": "remove", "path": "/nope"}]),
    patched(422, "the server rejected our request due to an error in our request", "json", [{"op": "explode", "path": "/a"}]),
    patched(413, "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001", "json", [{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10_001),
    patched(400, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}", "merge", []),
    patched(422, ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":5,', "merge", {"data": 5}),
    patched(422, ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"k\\":\\"\\\\u00e4\\\\/\\"},\\"immutable\\":1.50,', "merge", b'{"data": {"k": "\\u00e4\\/"}, "immutable": 1.50}'),
    patched(422, ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"\\\\u006b\\":1e2,\\"a\\":[\\"\\\\u003c\\"]},', "json", b'[{"op": "add", "path": "/data", "value": {"\\u006b": 1e2, "a": ["<"]}}]'),
    patched(422, "the server rejected our request due to an error in our request", "json", b'[{"op": "test", "path": "/metadata/name", "value": "\\u0061"}]'),
    patched(400, "the name of the object (b) does not match the name on the URL (a)", "merge", named("b")),
    patched(400, "the name of the object (a based on URL) was undeterminable: name must be provided", "merge", {"metadata": None}),
    patched(400, "Invalid JSON Patch", "merge", b"null"),
    patched(400, "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string", "json", [{"op": 1}]),
    patched(422, ' "" is invalid: patch: Invalid value: "{', "json", [{"op": "add", "path": "/data", "value": {}, "why": "not"}], "?fieldValidation=Strict"),
    patched(400, 'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 4: key "k" already set in map', "apply", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: a, k: b}", "?fieldManager=m&force=true&fieldValidation=Strict"),
    Case(404, 'configmaps "absent" not found', "PATCH", f"{CONFIG_MAPS}/absent", b"{", {"Content_Type": "application/merge-patch+json"}),
    patched(400, "unexpected end of JSON input", "strategic-merge", b"{"),
    patched(422, ' "" is invalid: patch: Invalid value: "map[data:5]": cannot restore map from int64', "strategic-merge", {"data": 5}),
    patched(422, ' "" is invalid: patch: Invalid value: "map[nope:1]": strict decoding error: unknown field "nope"', "strategic-merge", {"nope": 1}, "?fieldValidation=Strict"),
    patched(422, 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch', "merge", {}, "?force=true"),
    patched(422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch', "apply", config_map("a")),
    patched(400, "error decoding YAML: error converting YAML to JSON: yaml: found invalid Unicode character escape code", "apply",
            b'{"a": "\\ud83d\\ude00"}', "?fieldManager=m"),
    patched(400, "error decoding YAML: error converting YAML to JSON: yaml: line 2: did not find expected node content", "apply", b"\na: [", "?fieldManager=m"),
    patched(400, "invalid object type: /, Kind=", "apply", {}, "?fieldManager=m"),
    patched(500, "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata: expected map, got &{x}", "apply", {**config_map("a"), "metadata": "x"}, "?fieldManager=m"),
    patched(500, "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata: expected map, got &{[1]}", "apply", {**config_map("a"), "metadata": [1]}, "?fieldManager=m"),
    patched(409, 'Operation cannot be fulfilled on configmaps "a": the object has been modified', "merge", {"metadata": {"resourceVersion": "1"}}),
    Case(409, 'Operation cannot be fulfilled on configmaps "a": the object has been modified', "PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "resourceVersion": "1"}}),
    Case(409, 'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ', "PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "uid": "x"}}),
    Case(500, 'strconv.ParseUint: parsing "abc": invalid syntax', "PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "resourceVersion": "abc"}}),
]  # fmt: skip

ALL_FORMS = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
AS_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REVIEW = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
FORMS = [
    read(406, f"406: Not Acceptable\n\nAvailable representations: {ALL_FORMS}, {STREAMS}", CONFIG_MAPS, Accept="text/html"),
    read(406, f"406: Not Acceptable\n\nAvailable representations: {ALL_FORMS}", f"{CONFIG_MAPS}/a", Accept="text/html"),
    read(406, f"only the following media types are accepted: {ALL_FORMS}", f"{CONFIG_MAPS}/a", Accept="application/json;as=Poem;g=meta.k8s.io;v=v1"),
    read(406, f"only the following media types are accepted: {ALL_FORMS}", CONFIG_MAPS, Accept=f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"),
    read(406, "406: Not Acceptable", CONFIG_MAPS, Accept="application/*"),
    read(406, "406: Not Acceptable", CONFIG_MAPS, Accept=";"),
    read(406, "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)", CONFIG_MAPS, Accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
    read(406, "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)", f"{CONFIG_MAPS}/a", Accept="application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
    read(400, "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty", f"{CONFIG_MAPS}?includeObject=x", Accept="application/json;as=Table;g=meta.k8s.io;v=v1"),
    Case(406, f"only the following media types are accepted: {ALL_FORMS}", "POST", REVIEWS, REVIEW, {"Accept": AS_TABLE}),
    Case(201, "SelfSubjectAccessReview", "POST", REVIEWS, REVIEW, {"Accept": f"{AS_TABLE}, application/json"}),
    read(406, f"only the following media types are accepted: {STREAMS}", f"{CONFIG_MAPS}?watch=true", Accept="application/yaml, text/html;q=0.5"),
    read(200, "ConfigMap", f"{CONFIG_MAPS}/a", Accept="application/poetry, */*;q=0.1"),
]  # fmt: skip

CREDENTIALS = [
    read(401, "Unauthorized", CONFIG_MAPS, Authorization="Bearer wrong"),
    read(401, "Unauthorized", CONFIG_MAPS, Authorization="Bearer eyJhbGciOiJSUzI1NiJ9.e30.x"),
    read(403, 'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"', CONFIG_MAPS, Authorization="Basic YTpi"),
    read(403, 'configmaps is forbidden: User "system:anonymous" cannot list', CONFIG_MAPS, Authorization=""),
]  # fmt: skip


@pytest.mark.parametrize(
    "cases",
    [BODIES, NAMES, PATHS, QUERIES, PATCHES, FORMS, CREDENTIALS],
    ids=["bodies", "names", "paths", "queries", "patches", "forms", "credentials"],
)
def test_refusals_say_what_the_real_server_says(cases: list[Case]) -> None:
    async def main() -> list[str]:
        wrong = []
        async with Site() as site:
            assert (await site.ask("POST", CONFIG_MAPS, config_map("a", k="v")))[0] == 201
            for case in cases:
                answer = await site.ask(case.method, case.path, case.body, **case.headers)
                message = text_of(answer)
                if answer[0] != case.code or not message.startswith(case.message):
                    wrong.append(f"{case.method} {case.path[:120]} {str(case.body)[:80]}: {answer[0]} {message[:300]}")
        return wrong

    assert asyncio.run(main()) == []


def test_headers_that_are_not_utf8_are_answered_as_any_other() -> None:
    """The real server's codes. It shows the byte of the user's name where ours shows what JSON has for it."""
    token = b"base64url.bearer.authorization.k8s.io.\xff"
    cases = [
        (403, 'User "\ufffd" cannot list', b"Authorization: Bearer letmein\r\nImpersonate-User: \xff"),
        (
            403,
            'User "x" cannot list',
            b"Authorization: Bearer letmein\r\nImpersonate-User: x\r\nImpersonate-Group: \xff",
        ),
        (403, 'User "system:anonymous" cannot list', b"Audit-ID: \xff"),
        (
            403,
            'User "system:anonymous" cannot list',
            b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: \xff",
        ),
        (401, "Unauthorized", b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: " + token),
        (401, "Unauthorized", b"Authorization: Bearer \xff"),
    ]

    async def main() -> None:
        async with Site() as site:
            for code, message, lines in cases:
                answer = await site.raw(b"GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n\r\n")
                assert answer[0] == code, (lines, answer)
                assert message in message_of(answer)

    asyncio.run(main())


def text_of(answer: Answer) -> str:
    """The message, whatever form it comes in."""
    if "yaml" in answer[1].get("content-type", ""):
        return str(read_yaml(answer[2])[0]["message"])
    return message_of(answer)


STATELESS = (3, 9, 10, 11, 12, 13, 40, 43, 71, 72, 73, 74)


def test_recorded_refusals_come_word_for_word() -> None:
    """Those of the *storage* scenario that do not depend on what was asked before."""

    async def main() -> dict[int, tuple[Any, Any]]:
        different = {}
        async with Site() as site:
            for exchange in exchanges("storage"):
                if exchange["n"] not in STATELESS:
                    continue
                body = exchange["body"]
                data = b"" if body is None else body.encode() if isinstance(body, str) else fast_json.dumps(body)
                headers = {"Content_Type": exchange["content_type"] or "application/json", "Accept": exchange["accept"]}
                code, _, answer = await site.ask(exchange["method"], exchange["path"], data, **headers)
                if (code, json.loads(answer)) != (exchange["status"], exchange["response"]):
                    different[exchange["n"]] = (json.loads(answer), exchange["response"])
        return different

    assert asyncio.run(main()) == {}


def test_unknown_and_duplicate_fields_are_ignored_reported_or_refused() -> None:
    body = b'{"metadata":{"name":"a","name":"b"},"data":{"k":"1","k":"2"},"nope":1}'
    text = b"metadata:\n  name: b\nnope: 1\ndata:\n  k: a\n  k: b\n"
    strict = 'duplicate field "metadata.name", duplicate field "data.k", unknown field "nope"'

    async def main() -> None:
        async with Site() as site:
            ignored = await site.ask("POST", f"{CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore", body)
            assert (ignored[0], "warning" in ignored[1]) == (201, False)
            for validation in ("", "&fieldValidation=Warn"):
                warned = await site.ask("POST", f"{CONFIG_MAPS}?dryRun=All{validation}", body)
                assert warned[0] == 201
                assert warned[1]["warning"].replace('\\"', '"') == ", ".join(
                    f'299 - "{complaint}"' for complaint in strict.split(", ")
                )
            refused = await site.ask("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", body)
            assert refused[0] == 400
            assert message_of(refused) == (
                f'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: {strict}'
            )
            yaml = await site.ask("POST", f"{CONFIG_MAPS}?dryRun=All", text, Content_Type=YAML)
            assert yaml[0] == 201
            assert 'line 6: key \\"k\\" already set in map' in yaml[1]["warning"]
            assert 'unknown field \\"nope\\"' in yaml[1]["warning"]

    asyncio.run(main())


def test_yaml_means_what_it_means_upstream() -> None:
    text = b"metadata: {name: why}\ndata:\n  a: 12:30\n  b: 2026-01-01\n  c: '1'\n---\nsecond: document\n"

    async def main() -> None:
        async with Site() as site:
            code, _, body = await site.ask("POST", CONFIG_MAPS, text, Content_Type=YAML, Accept=YAML)
            assert code == 201
            assert b'  a: "12:30"\n  b: "2026-01-01"\n  c: "1"\n' in body.replace(b"a: 12:30", b'a: "12:30"')
            assert b"&id001" not in body  # no aliases
            typed = await site.ask("POST", CONFIG_MAPS, b"metadata: {name: z}\ndata: {a: yes}", Content_Type=YAML)
            assert typed[0] == 400

    asyncio.run(main())


def test_a_client_certificate_has_to_be_one_of_ours() -> None:
    async def main() -> None:
        async with Site() as site:
            ours = site.with_certificate(site.server.certificates, "jane", "system:masters")
            theirs = site.with_certificate(CertificateAuthority(), "jane", "system:masters")
            request = request_bytes("GET", CONFIG_MAPS, token="")
            assert (await site.raw(request, tls=ours))[0] == 200
            try:
                answer = await site.raw(request, tls=theirs)
            except (OSError, asyncio.IncompleteReadError):
                return  # the handshake failed: the connection is refused before anything is asked
            assert answer[0] == 401

    asyncio.run(main())


def test_protobuf_of_another_kind_is_refused_as_json_is() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}

    async def main() -> None:
        async with Site() as site:
            answer = await site.ask("POST", CONFIG_MAPS, protobuf.encode(secret), Content_Type=PROTOBUF)
            assert message_of(answer).startswith('Secret in version "v1" cannot be handled as a ConfigMap: converting')

    asyncio.run(main())


# -- HTTP itself ----------------------------------------------------------------------------------------------------------


def test_three_mebibytes_are_the_limit() -> None:
    """Announced, sent in pieces without a length, or with a length that is a lie: nothing more than 3 MiB is taken."""
    limit = 3 * 1024 * 1024
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"

    async def main() -> None:
        async with Site() as site:
            start = json.dumps(config_map("large", k="v")).encode()
            fits = await site.ask("POST", CONFIG_MAPS, start + b" " * (limit - len(start)))
            assert fits[0] == 201
            announced = await site.raw(request_bytes("POST", CONFIG_MAPS, Content_Length=str(limit + 1)))
            pieces = request_bytes("POST", CONFIG_MAPS, Transfer_Encoding="chunked") + chunk * (limit // 0x10000 + 1)
            streamed = await site.raw(pieces)
            for answer in (announced, streamed):
                assert answer[0] == 413
                assert message_of(answer) == f"Request entity too large: limit is {limit}"
                assert json.loads(answer[2])["reason"] == "RequestEntityTooLarge"
            both = await site.raw(
                request_bytes("POST", CONFIG_MAPS, Content_Length="5", Transfer_Encoding="chunked") + b"0\r\n\r\n"
            )
            assert both[0] == 400  # a length and pieces: how requests are smuggled
            short = request_bytes("POST", CONFIG_MAPS, Content_Length="4") + b'{"a":1}'
            assert (await site.raw(short))[0] == 400  # the length counts, and what follows is no request

    asyncio.run(main())


def test_head_options_and_old_http() -> None:
    async def main() -> None:
        async with Site() as site:
            reader, writer = await site.connect()
            writer.write(request_bytes("HEAD", CONFIG_MAPS))
            code, headers, _ = await read_answer(reader, method="HEAD")
            assert (code, headers["content-type"]) == (405, "application/json")
            writer.write(request_bytes("GET", "/livez"))  # the body was left out indeed
            assert (await read_answer(reader))[2] == b"ok"
            writer.close()
            old = await site.raw(request_bytes("GET", "/livez").replace(b"HTTP/1.1", b"HTTP/1.0"))
            assert (old[0], old[1].get("connection")) == (200, "close")
            assert (await site.raw(request_bytes("GET", "/livez", Host="a" * 2000)))[0] == 200

    asyncio.run(main())


def test_requests_in_a_row_are_answered_in_order() -> None:
    async def main() -> None:
        async with Site() as site:
            reader, writer = await site.connect()
            bodies = [json.dumps(config_map(f"p{n}", k=str(n))).encode() for n in range(50)]
            writer.write(b"".join(request_bytes("POST", CONFIG_MAPS, body) for body in bodies))
            for number in range(50):
                code, _, body = await read_answer(reader)
                assert (code, json.loads(body)["metadata"]["name"]) == (201, f"p{number}")
            writer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 64 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/7.3\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer letmein\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_bad_request(data: bytes) -> None:
    async def main() -> None:
        async with Site() as site:
            assert (await site.raw(data))[0] in (400, 404)
            assert (await site.ask("GET", "/livez"))[2] == b"ok"

    asyncio.run(main())


def test_floods_of_headers_are_refused() -> None:
    """Many or large headers: an answer in the 4xx or a closed connection, and nobody else notices."""
    many = request_bytes("GET", "/livez", b"", **{f"X_H{n}": "v" for n in range(20_000)})
    large = request_bytes("GET", "/livez", X_Large="v" * (2 << 20))

    async def main() -> None:
        async with Site() as site:
            for bomb in (many, large):
                with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                    assert (await site.raw(bomb))[0] in (200, 400, 431)
                assert (await site.ask("GET", "/livez"))[2] == b"ok"

    asyncio.run(main())


# -- bodies that mean harm ------------------------------------------------------------------------------------------------


def bombs() -> dict[str, tuple[str, bytes]]:
    """Media type and body, by name."""
    laughs = b"a: &a0 [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"b%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 9)
    )
    json_head = b'{"metadata":{"name":"bomb"},"data":'
    return {
        "a billion laughs": (YAML, laughs),
        "an anchor in itself": (YAML, b"metadata: &m\n  labels: *m\n"),
        "an anchor that nobody gave": (YAML, b"metadata: *nowhere\n"),
        "400 kB of numbers": (YAML, b"data: [" + b"1," * 200_000 + b"1]"),
        "3 MB of numbers": (YAML, b"data: [" + b"1," * 1_500_000 + b"1]"),
        "a key of 1 MB": (YAML, b"metadata: {name: bomb}\ndata: {" + b"k" * 1_000_000 + b": v}"),
        "deep flow": (YAML, b"[" * 100_000),
        "deep blocks": (YAML, b"\n".join(b" " * n + b"a:" for n in range(1200))),
        "a key that is a list": (YAML, b"? [a]\n: b\n"),
        "deep JSON": ("application/json", json_head + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "NaN": ("application/json", json_head + b'{"a":NaN}}'),
        "a huge number": ("application/json", json_head + b'{"a":1e999}}'),
        "a nul": ("application/json", json_head + b'{"a\x00":"b"}}'),
        "a JSON key of 1 MB": ("application/json", json_head + b'{"' + b"k" * 1_000_000 + b'":"v"}}'),
        "nothing": ("application/json", b""),
        "protobuf of lengths that lie": (PROTOBUF, b"k8s\x00\x0a\xff\xff\xff\xff\x0f"),
        "not a protobuf": (PROTOBUF, b"k8s\x00" + b"\xff" * 1000),
        "two charsets": ("application/json; charset=utf-16; charset=utf-7", b"\xff\xfe{\x00}\x00"),
    }


def test_hostile_bodies_are_refused_by_create_update_and_apply() -> None:
    async def main() -> list[str]:
        wrong = []
        async with Site() as site:
            assert (await site.ask("POST", CONFIG_MAPS, config_map("bomb", k="v")))[0] == 201
            for name, (media_type, body) in bombs().items():
                for method in ("POST", "PUT"):
                    path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/bomb"
                    code, _, answer = await site.ask(method, path, body, Content_Type=media_type)
                    if code not in (400, 413, 415, 422) or b'"kind":"Status"' not in answer:
                        wrong.append(f"{name} {method}: {code} {answer[:200]!r}")
                patch = "application/apply-patch+yaml" if media_type == YAML else "application/merge-patch+json"
                where = f"{CONFIG_MAPS}/bomb" + ("?fieldManager=m" if media_type == YAML else "")
                code, _, answer = await site.ask("PATCH", where, body, Content_Type=patch)
                if code == 500 and b"failed to create typed patch object" in answer:
                    continue  # upstream's answer to an apply whose type is wrong
                if code not in (400, 413, 415, 422):
                    wrong.append(f"{name} PATCH: {code} {answer[:200]!r}")
            found = json.loads((await site.ask("GET", f"{CONFIG_MAPS}/bomb"))[2])
            assert found["data"] == {"k": "v"}
        return wrong

    assert asyncio.run(main()) == []


def test_a_large_yaml_body_is_nobody_elses_business() -> None:
    """It is read beside the loop: others are answered meanwhile, and none of them waits for the whole of it."""
    body = b"metadata: {name: large}\ndata:\n" + b"".join(b"  k%d: v\n" % n for n in range(100_000))

    async def main() -> tuple[int, int, float]:
        async with Site() as site:
            loop = asyncio.get_running_loop()
            began = loop.time()
            large = asyncio.create_task(site.ask("POST", CONFIG_MAPS, body, Content_Type=YAML))
            answered = 0
            while not large.done():
                assert (await site.ask("GET", "/livez"))[2] == b"ok"
                answered += 1
            return (await large)[0], answered, loop.time() - began

    code, answered, seconds = asyncio.run(main())
    assert code == 201, "a hundred thousand keys are unusual, not wrong"
    assert answered >= 3, f"{answered} answers in {seconds:.1f} s"
