"""`kubectl create service clusterip|nodeport|loadbalancer|externalname NAME`: a Service
that selects `app=NAME`.

Upstream: `kubectl/pkg/cmd/create/create_service.go` (`ServiceOptions.Validate`,
`createService`, `parsePorts`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go.strconv import atoi, parse_uint
from lifecycle.api.http.wire import Object
from lifecycle.api.labels.requirements import validate_label_key
from lifecycle.kubectl.failures import CommandError


def create_service(
    name: str,
    type_: str,
    tcp: Sequence[str] = (),
    *,
    cluster_ip: str = "",
    node_port: int = 0,
    external_name: str = "",
) -> Object:
    """The Service. `tcp`: `80` or `80:8080` each. Raises CommandError for combinations
    that make no sense.
    """
    if cluster_ip == "None" and type_ != "ClusterIP":
        raise CommandError(
            "ClusterIP=None can only be used with ClusterIP service type"
        )
    if cluster_ip != "None" and not tcp and type_ != "ExternalName":
        raise CommandError("at least one tcp port specifier must be provided")
    if type_ == "ExternalName" and (
        validate_label_key(f"{external_name}/x") or len(external_name) > 253
    ):
        raise CommandError(f"invalid service external name {external_name}")
    ports = []
    for text in tcp:
        port, target = _ports(text)
        row: Object = {
            "name": text.replace(":", "-"),
            "protocol": "TCP",
            "port": port,
            "targetPort": target,
        }
        if node_port:
            row["nodePort"] = node_port
        ports.append(row)
    spec: Object = {"selector": {"app": name}, "type": type_}
    if ports:
        spec["ports"] = ports
    if cluster_ip:
        spec["clusterIP"] = cluster_ip
    if external_name:
        spec["externalName"] = external_name
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": spec,
    }


def _ports(text: str) -> tuple[int, int | str]:
    parts = text.split(":")
    try:
        port = parse_uint(parts[0], 16)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if len(parts) == 1:
        return port, port
    try:
        target = atoi(parts[1])
    except ValueError:
        return port, _port_name(parts[1])
    if not 1 <= target <= 65535:
        raise CommandError("must be between 1 and 65535, inclusive")
    return port, target


def _port_name(text: str) -> str:
    errs = []
    if len(text) > 15:
        errs.append("must be no more than 15 characters")
    if not text or not all(c in "abcdefghijklmnopqrstuvwxyz0123456789-" for c in text):
        errs.append(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        )
    if not any("a" <= c <= "z" for c in text):
        errs.append("must contain at least one letter (a-z)")
    if "--" in text:
        errs.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        errs.append("must not begin or end with a hyphen")
    if errs:
        raise CommandError(",".join(errs))
    return text
