"""Files that configure an API server, each with something wrong with it: what the real one says before it gives up.

It reads them before it opens a port or asks etcd, so each is answered in a fifth of a second. An empty answer: it started.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Timer
from typing import Any

import yaml

from tests.loopback import free_port

Object = dict[str, Any]

GROUP = "apiserver.config.k8s.io"
_VENDORS = re.compile('"(MinimumKubeletVersion|Scope|SystemMasters)", ')
"""Authorizers that are none of Kubernetes': the real program here was built from the tree of somebody who has them."""
PATIENCE = 2.0
"""Seconds after which a server that has not given up has taken its file."""
FLAGS = {
    "AuthorizationConfiguration": "authorization-config",
    "AuthenticationConfiguration": "authentication-config",
    "Policy": "audit-policy-file",
}

_WEBHOOK: Object = {
    "timeout": "3s",
    "authorizedTTL": "10s",
    "unauthorizedTTL": "5s",
    "cacheAuthorizedRequests": True,
    "cacheUnauthorizedRequests": True,
    "subjectAccessReviewVersion": "v1",
    "matchConditionSubjectAccessReviewVersion": "v1",
    "failurePolicy": "Deny",
    "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/nowhere/at/all"},
    "matchConditions": [{"expression": "request.user == 'a'"}, {"expression": "has(request.resourceAttributes)"}],
}
BASES: Mapping[str, Object] = {
    "AuthorizationConfiguration": {
        "authorizers": [
            {"type": "Webhook", "name": "w", "webhook": _WEBHOOK},
            {"type": "Node", "name": "node"},
            {"type": "RBAC", "name": "rbac"},
        ]
    },
    "AuthenticationConfiguration": {
        "jwt": [
            {
                "issuer": {
                    "url": "https://a.example",
                    "discoveryURL": "https://b.example/.well-known",
                    "certificateAuthority": "x",
                    "audiences": ["q"],
                    "audienceMatchPolicy": "MatchAny",
                    "egressSelectorType": "cluster",
                },
                "claimValidationRules": [
                    {"claim": "hd", "requiredValue": "x"},
                    {"expression": "claims.a == 'b'", "message": "no"},
                ],
                "claimMappings": {
                    "username": {"claim": "sub", "prefix": ""},
                    "groups": {"expression": "claims.groups"},
                    "uid": {"claim": "uid"},
                    "extra": [{"key": "example.com/a", "valueExpression": "claims.a"}],
                },
                "userValidationRules": [{"expression": "user.username != 'x'", "message": "no"}],
            }
        ],
        "anonymous": {"enabled": True, "conditions": [{"path": "/livez"}]},
    },
    "Policy": {
        "omitStages": ["RequestReceived"],
        "omitManagedFields": True,
        "rules": [
            {
                "level": "Metadata",
                "users": ["a"],
                "userGroups": ["g"],
                "verbs": ["get"],
                "resources": [{"group": "", "resources": ["pods"], "resourceNames": ["x"]}],
                "namespaces": ["n"],
                "omitStages": ["ResponseComplete"],
                "omitManagedFields": False,
            },
            {"level": "None", "nonResourceURLs": ["/x*"]},
        ],
    },
}
VERSIONS = {"Policy": "audit.k8s.io/v1"}
ODD: tuple[Any, ...] = (
    "",
    "x",
    "X Y",
    "-1s",
    3,
    1.5,
    True,
    None,
    [],
    {},
    [3],
    [None],
    ["", ""],
    {"bla": 1},
    "1h",
    "true",
)

TEXTS: Mapping[str, tuple[Any, ...]] = {
    "AuthorizationConfiguration": (
        {"authorizers": [{"type": kind, "name": name} for kind, name in pairs]}
        for pairs in (
            [("RBAC", "rbac"), ("RBAC", "other")],
            [("ABAC", "abac")],
            [("AlwaysAllow", "a")],
            [("AlwaysDeny", "b"), ("AlwaysAllow", "b")],
            [("Node", "r"), ("RBAC", "r")],
            [("Node", "N_1")],
            [("rbac", "rbac")],
            [("RBAC", "a" * 254)],
            [("Webhook", "rbac")],
            [("RBAC", "rbac")],
            [("AlwaysAllow", "alwaysallow")],
            [("Node", "node"), ("RBAC", "rbac")],
        )
    ),
    "AuthenticationConfiguration": (),
    "Policy": (),
}
RULES = (
    "request.user",
    "1",
    "'a'",
    "a ==",
    "request.bla",
    "request.resourceAttributes.verb == 'get'",
    "request.uid == 3",
    "user == 'a'",
    "request.extra['a'][0] == 'b'",
    "request.groups.exists(g, g == 'x')",
    "request.nonResourceAttributes.path",
    " ",
    "true",
    "object == 1",
    "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'a')",
    "authorizer.path('/').check('get').allowed()",
    "request.resourceAttributes.labelSelector.rawSelector == 'x'",
    "'a'.matches('[')",
    "[1][2] == 1",
    "request.user.bla",
)
CLAIMS = (
    "claims",
    "claims.a",
    "'x'",
    "['a']",
    "1",
    "claims.a ==",
    "user.username",
    "claims.email",
    "claims.?a.orValue('')",
    "claims.a + 'b'",
    " ",
    "[claims.a]",
    "has(claims.a) ? claims.a : ''",
    "claims.email_verified",
    "claims.email == '' ? 'x' : claims.email_verified",
    "true",
)
URLS = (
    "http://a",
    "https://",
    "https://a?b",
    "https://a#b",
    "https://u:p@a",
    "a",
    "https://a b",
    "://a",
    "https://own",
    "https://a:80",
    "ftp://a",
    "https://a/b",
    "HTTPS://a",
    "https://a.example",
    "https://a/%zz",
)


def documents(kind: str) -> Iterator[Object]:
    """The base, all of its parts exchanged one at a time, and what else is worth a question."""
    base = BASES[kind]
    yield base
    for path in _paths(base):
        for odd in ODD:
            yield _with(base, path, odd)
        yield _with(base, path, None, gone=True)
    for path in _paths(base):
        if isinstance(_at(base, path), dict):
            yield _with(base, (*path, "bla"), 1)
            yield _with(base, (*path, "Name"), "x")
        if isinstance(_at(base, path), list):
            yield _with(base, path, _at(base, path) * 2)
            yield _with(base, path, _at(base, path) * 70)
    yield from TEXTS[kind]
    yield from {
        "AuthorizationConfiguration": _about_authorization,
        "AuthenticationConfiguration": _about_authentication,
        "Policy": _about_auditing,
    }[kind](base)


def _about_authorization(base: Object) -> Iterator[Object]:
    for rule in RULES:
        yield _with(base, ("authorizers", 0, "webhook", "matchConditions", 0, "expression"), rule)


def _about_authentication(base: Object) -> Iterator[Object]:
    entry = ("jwt", 0)
    for text in CLAIMS:
        for place in (("claimMappings", "username"), ("claimMappings", "groups"), ("claimMappings", "uid")):
            yield _with(base, (*entry, *place), {"expression": text})
        yield _with(base, (*entry, "claimMappings", "extra", 0, "valueExpression"), text)
        yield _with(base, (*entry, "claimValidationRules", 1, "expression"), text)
        yield _with(base, (*entry, "userValidationRules", 0, "expression"), text)
    for url in URLS:
        yield _with(base, (*entry, "issuer", "url"), url)
        yield _with(base, (*entry, "issuer", "discoveryURL"), url)
    for key in (
        "a",
        "A/b",
        "k8s.io/a",
        "x.kubernetes.io/a",
        "example.com/A",
        "example.com/",
        "example.com/a b",
        "/a",
        "example.com/a/b",
    ):
        yield _with(base, (*entry, "claimMappings", "extra", 0, "key"), key)
    yield _with(base, (*entry, "claimMappings", "username"), {"claim": "email", "prefix": "x"})
    yield _with(base, (*entry, "claimMappings", "username"), {"claim": "sub", "expression": "claims.a"})
    yield _with(base, (*entry, "claimMappings", "groups"), {"claim": "g"})
    yield _with(base, (*entry, "claimMappings", "groups"), {"claim": "g", "expression": "claims.g", "prefix": ""})
    yield _with(base, (*entry, "issuer", "audiences"), ["a", "b"])
    yield _with(_with(base, (*entry, "issuer", "audiences"), ["a", "b"]), (*entry, "issuer", "audienceMatchPolicy"), "")
    yield _with(base, ("anonymous",), {"enabled": False, "conditions": [{"path": "/x"}]})
    yield _with(base, ("anonymous",), {"enabled": True})
    yield {"anonymous": {"enabled": False}}
    yield {}


def _about_auditing(base: Object) -> Iterator[Object]:
    yield {}
    yield {"rules": []}
    for stage in ("", "X", "Panic", "ResponseStarted"):
        yield _with(base, ("omitStages",), [stage])
        yield _with(base, ("rules", 0, "omitStages"), [stage])
    for url in ("", "x", "*", "/", "/*", "/a*b", "/**", "/a/*/b", "/a*"):
        yield _with(base, ("rules", 1, "nonResourceURLs"), [url])
    for names in (
        {"resources": ["pods", "x/*"], "resourceNames": ["a"]},
        {"resources": [], "resourceNames": ["a"]},
        {"group": "a b"},
        {"group": "X"},
        {"group": "a.b", "resources": ["*"]},
        {"group": "/"},
    ):
        yield _with(base, ("rules", 0, "resources"), [names])
    yield _with(base, ("rules", 0, "nonResourceURLs"), ["/x"])
    for level in ("none", "Request", "RequestResponse", "All"):
        yield _with(base, ("rules", 0, "level"), level)


def texts(kind: str) -> list[str]:
    """The files of a kind, each once."""
    version = VERSIONS.get(kind, f"{GROUP}/v1")
    files = [
        yaml.safe_dump({"apiVersion": version, "kind": kind, **document}, width=200) for document in documents(kind)
    ]
    body = yaml.safe_dump(BASES[kind], width=200)
    files += [
        "",
        "a",
        "3",
        "[]",
        "{}",
        "a: [",
        "\t",
        "---\n",
        "kind: x",
        f"kind: {kind}",
        f"apiVersion: {version}",
        f"apiVersion: v1\nkind: {kind}\n",
        f"apiVersion: {version}\nkind: Bla\n",
        f"apiVersion: {version}x\nkind: {kind}\n",
        f"apiVersion: [1]\nkind: {kind}\n",
        f"apiVersion: {version}\nkind: 3\n",
        f"apiVersion: {version}\nkind: {kind}\nkind: {kind}\n{body}",
        f"apiVersion: {version}\nkind: {kind}\n---\n{body}",
        json.dumps({"apiVersion": version, "kind": kind, **BASES[kind]}),
        '{"apiVersion": "' + version + '", "kind": "' + kind + '"',
        f"apiVersion: {version.replace('v1', 'v1alpha1')}\nkind: {kind}\n{body}",
        f"apiVersion: {version.replace('v1', 'v1beta1')}\nkind: {kind}\n{body}",
        f"apiVersion: {GROUP}/v1\nkind: EncryptionConfiguration\nresources: []\n",
    ]
    return list(dict.fromkeys(files))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(base: Object, path: tuple[Any, ...], value: Any, *, gone: bool = False) -> Object:
    found = copy.deepcopy(base)
    place = _at(found, path[:-1])
    if gone:
        del place[path[-1]]
    else:
        place[path[-1]] = copy.deepcopy(value)
    return found


def ask(kind: str, text: str, folder: Path, pki: Path) -> str:
    """What a real API server says of a file, with `FILE` for its name."""
    file = folder / "configuration.yaml"
    file.write_text(text)
    program = Path(os.environ["KUBE_BIN"], "kube-apiserver")
    command = [
        str(program),
        "--etcd-servers=http://127.0.0.1:1",
        f"--secure-port={free_port()}",
        "--bind-address=127.0.0.1",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver-key.pem'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--service-account-key-file={pki / 'sa.key'}",
        f"--service-account-signing-key-file={pki / 'sa.key'}",
        "--service-account-issuer=https://own",
        "--service-cluster-ip-range=10.96.0.0/16",
        f"--{FLAGS[kind]}={file}",
        "--audit-log-path=-",
    ]
    said = ""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        patience = Timer(PATIENCE, process.kill)
        patience.start()
        assert process.stderr is not None
        for line in process.stderr:
            if '"command failed" err=' in line:
                said = _message(line.rstrip("\n").partition(" err=")[2], process.stderr)
                break
        patience.cancel()
        process.kill()
    return _VENDORS.sub("", said.replace(str(file), "FILE"))


def _message(written: str, more: Iterable[str]) -> str:
    """What klog has written after `err=`: a quoted line, or several between angles."""
    if written != "<":
        return str(json.loads(re.sub(r"\\x(..)", r"\\u00\1", written.replace("\\'", "'"))))
    lines = itertools.takewhile(lambda line: line != " >\n", more)
    return "".join(line.removeprefix("\t") for line in lines).rstrip("\n")


def answers(pki: Path) -> Iterator[dict[str, str]]:
    """A row for each file of each kind."""
    with tempfile.TemporaryDirectory(prefix="configurations-") as folder:
        for kind in FLAGS:
            for text in texts(kind):
                yield {"kind": kind, "text": text, "said": ask(kind, text, Path(folder), pki)}
