"""`kubectl create ingress NAME --rule=host/path=service:port[,tls[=secret]]`.

Upstream: `kubectl/pkg/cmd/create/create_ingress.go` (`buildIngressRules`, `buildTLSRules`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.labels_and_env import parse_pairs

_rule = re.compile(r"([\w*\-.]*)(/.*)=([\w\-]+):([\w\-]+)(,(tls)=?([\w\-]+)?)?", re.ASCII)
_backend = re.compile(r"[^:]+:[^:]+")


def create_ingress(
    name: str, rules: Sequence[str], *, class_name: str = "", default_backend: str = "", annotations: Sequence[str] = ()
) -> Object:
    """The Ingress. A path ending in `*` is a prefix. Raises CommandError for a rule that cannot be read."""
    if not rules and not default_backend:
        raise CommandError("not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)")  # fmt: skip # noqa: E501
    if default_backend and not _backend.fullmatch(default_backend):
        raise CommandError("default-backend should be in format servicename:serviceport")
    hosts: dict[str, list[Object]] = {}
    tls: dict[str, list[str]] = {}
    for text in rules:
        match = _rule.match(text)
        if match is None:
            raise CommandError(
                f"rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
        host, path, service, port, _, secure, secret = match.groups()
        kind = "Prefix" if path.endswith("*") else "Exact"
        hosts.setdefault(host, []).append(
            {"path": path.removesuffix("*"), "pathType": kind, "backend": _service(service, port)}
        )
        if secure:
            named = tls.setdefault(secret or "", [])
            if host and host not in named:
                named.append(host)
    spec: Object = {}
    if class_name:
        spec["ingressClassName"] = class_name
    if default_backend:
        spec["defaultBackend"] = _service(*default_backend.split(":"))
    if tls:
        spec["tls"] = [
            {**({"hosts": named} if named else {}), **({"secretName": s} if s else {})} for s, named in tls.items()
        ]
    if hosts:
        spec["rules"] = [
            {**({"host": host} if host else {}), "http": {"paths": paths}} for host, paths in hosts.items()
        ]
    metadata: Object = {"name": name}
    if annotations:
        metadata["annotations"] = parse_pairs(annotations, "annotation")
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}


def _service(name: str, port: str) -> Object:
    shown = {"number": int(port)} if port.isdigit() else {"name": port}
    return {"service": {"name": name, "port": shown}}
