"""`kubectl create ingress NAME --rule=host/path=service:port[,tls[=secret]]`.

A rule is first held against a pattern, loosely (what follows the match does not
matter), and then simply split: at commas, at the first `/`, at `=` and `:`. So a comma
and any one word make a rule a TLS rule.

Upstream: `kubectl/pkg/cmd/create/create_ingress.go` (`Validate`, `buildIngressRules`,
`buildTLSRules`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifecycle.api.go.strconv import atoi
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError

_rule = re.compile(r"[\w*\-.]*/.*=[\w\-]+:[\w\-]+", re.ASCII)


def create_ingress(
    name: str,
    rules: Sequence[str],
    *,
    class_name: str = "",
    default_backend: str = "",
    annotations: Sequence[str] = (),
) -> Object:
    """The Ingress. A path ending in `*` is a prefix. Raises CommandError for a rule
    that cannot be read.
    """
    _check(rules, default_backend, annotations)
    spec: Object = {}
    if class_name:
        spec["ingressClassName"] = class_name
    if default_backend:
        spec["defaultBackend"] = _service(default_backend)
    tls = _tls(rules)
    if tls:
        spec["tls"] = tls
    hosts: dict[str, list[Object]] = {}
    for rule in rules:
        host, _, rest = rule.split(",")[0].partition("/")
        hosts.setdefault(host, []).append(_path(rest, rule))
    if hosts:
        spec["rules"] = [
            {**({"host": host} if host else {}), "http": {"paths": paths}}
            for host, paths in hosts.items()
        ]
    metadata: Object = {"name": name}
    if annotations:
        metadata["annotations"] = dict(text.split("=", 1) for text in annotations)
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": spec,
    }


def _check(
    rules: Sequence[str], default_backend: str, annotations: Sequence[str]
) -> None:
    if not rules and not default_backend:
        raise CommandError(
            "not enough information provided: every ingress has to either specify a "
            "default-backend (which catches all traffic) or a list of rules (which "
            "catch specific paths)"
        )
    for rule in rules:
        if _rule.match(rule) is None:
            raise _unreadable(rule)
    for text in annotations:
        if "=" not in text:
            raise CommandError(
                f"annotation {text} is invalid and should be in format key=[value]"
            )
    if default_backend and default_backend.count(":") != 1:
        raise CommandError(
            "default-backend should be in format servicename:serviceport"
        )


def _unreadable(rule: str) -> CommandError:
    return CommandError(
        f"rule {rule} is invalid and should be in format"
        " host/path=svcname:svcport[,tls[=secret]]"
    )


def _tls(rules: Sequence[str]) -> list[Object]:
    """One entry for each secret, with its hosts; a host counts once, with the first
    secret it comes with.
    """
    tls: list[Object] = []
    seen: set[str] = set()
    for rule in rules:
        parts = rule.split(",")
        host = rule.partition("/")[0]
        if len(parts) != 2 or host in seen:
            continue
        seen.add(host)
        words = parts[1].split("=")
        secret = words[1] if len(words) > 1 else ""
        same = next(
            (entry for entry in tls if entry.get("secretName", "") == secret), None
        )
        if same is not None:
            same["hosts"] = [*same.get("hosts", ()), host]
            continue
        entry: Object = {"hosts": [host]} if host else {}
        if secret:
            entry["secretName"] = secret
        if entry:
            tls.append(entry)
    return tls


def _path(text: str, rule: str) -> Object:
    """One path. The real kubectl ends in a panic where a path holds `=`; here that is
    refused.
    """
    parts = text.split("=")
    if len(parts) < 2 or ":" not in parts[1]:
        raise _unreadable(rule)
    kind = "Prefix" if parts[0].endswith("*") else "Exact"
    return {
        "path": "/" + parts[0].removesuffix("*"),
        "pathType": kind,
        "backend": _service(parts[1]),
    }


def _service(text: str) -> Object:
    name, port = text.split(":")[:2]
    try:
        service_port: Object = {"number": atoi(port)}
    except ValueError:
        service_port = {"name": port} if port else {}
    return {"service": {"name": name, "port": service_port}}
