"""host-local's configuration: ranges from three places, wishes for addresses from three
others.

Upstream: `containernetworking/plugins`,
`plugins/ipam/host-local/backend/allocator/config.go` (`LoadIPAMConfig`), v1.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.cni.addresses import Address, parse_cidr, parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.go_structs import (
    IP,
    ROUTES,
    STRING,
    Scalar,
    Shape,
    Slice,
    Struct,
)
from lifecycle.cni.plugins.host_local.ranges import RangeSet
from lifecycle.cni.plugins.netconf import plugin_config
from lifecycle.cni.plugins.skel import load_args
from lifecycle.cni.versions import greater_than_or_equal_to

_RANGE: dict[str, Shape] = {
    "rangeStart": IP,
    "rangeEnd": IP,
    "subnet": STRING,
    "gateway": IP,
}
_RANGE_SET = Slice(Struct(_RANGE, "allocator.Range"), "allocator.RangeSet")
_RANGES = Slice(_RANGE_SET, "[]allocator.RangeSet")
_WISHES = Slice(Scalar("string", "*ip.IP"), "[]*ip.IP")
_IPAM: dict[str, Shape] = {
    **_RANGE,
    "type": STRING,
    "routes": ROUTES,
    "dataDir": STRING,
    "resolvConf": STRING,
    "ranges": _RANGES,
}
_RUNTIME = (
    'struct { IPRanges []allocator.RangeSet "json:\\"ipRanges,omitempty\\""; IPs'
    ' []*ip.IP "json:\\"ips,omitempty\\"" }'
)
_ARGS = 'struct { A *allocator.IPAMArgs "json:\\"cni\\"" }'
_NET = Struct(
    {
        "name": STRING,
        "cniVersion": STRING,
        "ipam": Struct(_IPAM, "allocator.IPAMConfig"),
        "runtimeConfig": Struct({"ipRanges": _RANGES, "ips": _WISHES}, _RUNTIME),
        "args": Struct({"cni": Struct({"ips": _WISHES}, "allocator.IPAMArgs")}, _ARGS),
    },
    "allocator.Net",
)


@dataclass(slots=True)
class IPAMConfig:
    """What to allocate from, and what was wished for."""

    name: str
    ranges: list[RangeSet]
    routes: list[dict[str, Any]] = field(default_factory=list)
    data_dir: str = ""
    resolv_conf: str = ""
    requested: list[Address] = field(default_factory=list)


def load_ipam_config(conf: Mapping[str, Any], env_args: str = "") -> IPAMConfig:
    """Read and check a network's configuration. Raises CNIError."""
    conf = plugin_config(conf, _NET, "")
    ipam = conf.get("ipam")
    if ipam is None:
        raise CNIError("IPAM config missing 'ipam' key")
    runtime = conf.get("runtimeConfig") or {}
    from_env = load_args(env_args, ("IP",)).get("IP", "")
    try:
        requested = [_requested_ip(from_env)] if from_env else []
    except CNIError as error:
        raise error.wrapped(
            f'ARGS: error parsing value of pair "IP={from_env}"'
        ) from None
    wishes = ((conf.get("args") or {}).get("cni") or {}).get("ips") or ()
    wishes = [*wishes, *(runtime.get("ips") or ())]
    requested += [_requested_ip(wish) for wish in wishes if wish]
    raw_sets: list[Any] = list(runtime.get("ipRanges") or ())
    if ipam.get("subnet"):  # one range, spelled out in place: the oldest form
        raw_sets.append([ipam])
    raw_sets += ipam.get("ranges") or ()
    if not raw_sets:
        raise CNIError("no IP ranges specified")
    ranges = []
    for index, raw in enumerate(raw_sets):
        for one in raw:
            _decodable(one)
        try:
            ranges.append(RangeSet(raw))
        except CNIError as error:
            raise CNIError(f"invalid range set {index}: {error}") from None
    versions = [one.version for one in ranges]
    cni_version = conf.get("cniVersion") or ""
    if max(versions.count(4), versions.count(6)) > 1 and not greater_than_or_equal_to(
        cni_version, "0.3.0"
    ):
        raise CNIError(
            f"CNI version {cni_version} does not support more than 1 address per family"
        )
    for index, one in enumerate(ranges):
        for offset, other in enumerate(ranges[index + 1 :]):
            if one.overlaps(other):
                raise CNIError(f"range set {index} overlaps with {index + offset + 1}")
    routes = [_route(route) for route in ipam.get("routes") or ()]
    return IPAMConfig(
        conf.get("name", ""),
        ranges,
        routes,
        ipam.get("dataDir", ""),
        ipam.get("resolvConf", ""),
        requested,
    )


def _decodable(raw: Mapping[str, Any]) -> None:
    """Go's decoder refuses what is no address before anything is looked at."""
    if raw.get("subnet"):
        parse_cidr(raw["subnet"])
    for key in ("rangeStart", "rangeEnd", "gateway"):
        if raw.get(key):
            parse_ip(raw[key])


def _route(route: Mapping[str, Any]) -> dict[str, Any]:
    if route.get("dst") is None:
        route = {**route, "dst": "<nil>"}  # upstream lets it pass, and prints this
    else:
        parse_cidr(route["dst"])
    if route.get("gw"):
        parse_ip(route["gw"])
    return dict(route)


def _requested_ip(text: str) -> Address:
    try:
        return parse_cidr(text).ip if "/" in text else parse_ip(text)
    except CNIError:
        raise CNIError(f"invalid IP address {text}") from None
