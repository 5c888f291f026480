"""static: the IPAM plugin that hands out what its configuration says, without keeping
books.

Upstream: `containernetworking/plugins`, `plugins/ipam/static/main.go`, v1.9.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import parse_cidr, parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.go_structs import (
    DNS,
    IP,
    ROUTES,
    STRING,
    STRINGS,
    Shape,
    Slice,
    Struct,
)
from lifecycle.cni.plugins.netconf import plugin_config
from lifecycle.cni.plugins.skel import CmdArgs, load_args, plugin_main, prev_result
from lifecycle.cni.versions import greater_than_or_equal_to

_ADDRESS = Struct({"address": STRING, "gateway": IP}, "main.Address")
_IPAM_CONFIG: dict[str, Shape] = {
    "type": STRING,
    "routes": ROUTES,
    "addresses": Slice(_ADDRESS, "[]main.Address"),
    "dns": DNS,
}
_NET = Struct(
    {
        "name": STRING,
        "cniVersion": STRING,
        "ipam": Struct(_IPAM_CONFIG, "main.IPAMConfig"),
        "runtimeConfig": Struct(
            {"ips": STRINGS}, 'struct { IPs []string "json:\\"ips,omitempty\\"" }'
        ),
        "args": Struct(
            {"cni": Struct({"ips": STRINGS}, "main.IPAMArgs")},
            'struct { A *main.IPAMArgs "json:\\"cni\\"" }',
        ),
    },
    "main.Net",
)


def load_addresses(conf: Mapping[str, Any], env_args: str) -> list[dict[str, str]]:
    """The addresses, each perhaps with a gateway. `args` and `runtimeConfig` replace
    the configured ones. Raises CNIError.
    """
    conf = plugin_config(conf, _NET, "")
    ipam = conf.get("ipam")
    if ipam is None:
        raise CNIError("IPAM config missing 'ipam' key")
    configured = [
        {
            "address": a.get("address") or "",
            "gateway": str(parse_ip(a["gateway"])) if a.get("gateway") else "",
        }
        for a in ipam.get("addresses") or ()
    ]
    addresses, env = [*configured], load_args(env_args, ("IP", "GATEWAY"))
    for item in env.get("IP", "").split(",") if env.get("IP") else ():
        addresses.append(
            {
                "address": _cidr(item.strip(), "the 'ip' field is expected to be"),
                "gateway": "",
            }
        )
    for item in env.get("GATEWAY", "").split(",") if env.get("GATEWAY") else ():
        try:
            gateway = parse_ip(item.strip())
        except CNIError:
            raise CNIError(f"invalid gateway address: {item}") from None
        for one in addresses[len(configured) :]:  # the others are not read yet
            if gateway in parse_cidr(one["address"]).network:
                one["gateway"] = str(gateway)
    for place in (
        (conf.get("args") or {}).get("cni") or {},
        conf.get("runtimeConfig") or {},
    ):
        if place.get("ips"):
            words = "an entry in the 'ips' field is NOT"
            addresses = [
                {"address": _cidr(item, words), "gateway": ""} for item in place["ips"]
            ]
    for one in addresses:
        one["address"] = _cidr(one["address"], "the 'address' field is expected to be")
    versions = [parse_cidr(one["address"]).version for one in addresses]
    version = conf.get("cniVersion") or ""
    if max(versions.count(4), versions.count(6)) > 1 and not greater_than_or_equal_to(
        version, "0.3.0"
    ):
        raise CNIError(
            f"CNI version {version} does not support more than 1 address per family"
        )
    return addresses


def _cidr(text: str, words: str) -> str:
    try:
        return str(parse_cidr(text))
    except CNIError:
        raise CNIError(f"{words} in CIDR notation, got: '{text}'") from None


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD. Raises CNIError."""
    ips = [
        {key: value for key, value in one.items() if value}
        for one in load_addresses(args.conf, args.args)
    ]
    ipam = args.conf["ipam"]
    result = {
        "cniVersion": "1.1.0",
        "ips": ips,
        "routes": ipam.get("routes"),
        "dns": ipam.get("dns"),
    }
    return results.create("1.1.0", result)


def cmd_del(args: CmdArgs) -> None:
    """DEL: nothing was written down."""


def cmd_check(args: CmdArgs) -> None:
    """CHECK: an address of ours that the result has must have our gateway. Raises
    CNIError.
    """
    addresses = load_addresses(args.conf, args.args)
    result = prev_result(args)
    for one in addresses:
        for ip in result.get("ips", ()):
            same = parse_cidr(ip["address"]).ip == parse_cidr(one["address"]).ip
            if same and one["gateway"] and one["gateway"] != ip.get("gateway"):
                where = f"{parse_cidr(ip['address']).ip} on interface {args.if_name}"
                raise CNIError(f"static: Failed to match addr {where}")


def main() -> int:
    """The executable."""
    return plugin_main("static", {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check})


if __name__ == "__main__":
    sys.exit(main())
