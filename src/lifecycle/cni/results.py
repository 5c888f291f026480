"""The result of ADD: interfaces, addresses, routes, DNS – and what it looked like in
each version of the protocol.

| versions | shape | |---|---| | 0.1.0, 0.2.0 | one `ip4`, one `ip6`, each with its own
routes; no interfaces | | 0.3.0 – 0.4.0 | lists of `interfaces`, `ips` (with a
`version`: "4" or "6") and `routes`; `dns` even if empty | | 1.0.0, 1.1.0 | the same
without the `version`; `dns` only if there is any |

A result is a plain dict with the fields of its version. Converting down loses what the
older version cannot say.

Upstream: `containernetworking/cni`, `pkg/types/{020,040,100}/types.go`,
`pkg/types/internal/convert.go`, CNI v1.3.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.json.encode import marshal_indent
from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.errors import CNIError

Result = dict[str, Any]

V02X, V04X, V1XX = ("0.1.0", "0.2.0"), ("0.3.0", "0.3.1", "0.4.0"), ("1.0.0", "1.1.0")
_FAMILIES = (V02X, V04X, V1XX)
_DNS_FIELDS = ("nameservers", "domain", "search", "options")
_ROUTE_FIELDS = ("dst", "gw", "mtu", "advmss", "priority", "table", "scope")
_INTERFACE_FIELDS = {
    V04X: ("name", "mac", "sandbox"),
    V1XX: ("name", "mac", "mtu", "sandbox", "socketPath", "pciID"),
}
_IP_FIELDS = {
    V04X: ("version", "interface", "address", "gateway"),
    V1XX: ("interface", "address", "gateway"),
}
# pointers upstream, so that a zero is written and only "not there" is left out
_KEPT_ZEROS = {"interface", "table", "scope", "name", "address", "dst", "version", "ip"}


def create(version: str, raw: dict[str, Any]) -> Result:
    """Read a result that should be of `version`: its known fields, in order. Raises
    CNIError if it says to be of another.
    """
    family = _family(version or "0.1.0")
    if family is None:
        raise CNIError(f'unsupported CNI result version "{version}"')
    says = raw.get("cniVersion", "")
    if says not in family and not (family is V02X and not says):
        listed = " ".join(("", *family) if family is V02X else family)
        raise CNIError(
            f'result type supports [{listed}] but unmarshalled CNIVersion is "{says}"'
        )
    return _fields_of(family, {**raw, "cniVersion": says or "0.1.0"})


def convert(result: Result, to_version: str) -> Result:
    """The result as another version would say it. Raises CNIError where there is no
    way.
    """
    to_version, from_version = to_version or "0.1.0", result["cniVersion"]
    if to_version == from_version:
        return result
    source, target = _family(from_version), _family(to_version)
    if source is None or target is None:
        raise CNIError(
            f"no converter for CNI result version {from_version} to {to_version}"
        )
    if source is target:
        return _fields_of(target, {**result, "cniVersion": to_version})
    middle = (
        result
        if source is V04X
        else _to_04x_from_02x(result)
        if source is V02X
        else _to_04x(result)
    )
    if target is V02X:
        return _to_02x(middle, to_version)
    if target is V1XX:
        ips = [
            {k: v for k, v in ip.items() if k != "version"}
            for ip in middle.get("ips", ())
        ]
        return _fields_of(V1XX, {**middle, "ips": ips, "cniVersion": to_version})
    return _fields_of(V04X, {**middle, "cniVersion": to_version})


def marshal(result: Result) -> str:
    """The text that a plugin prints: structs in the order of their fields up to 0.4.0,
    sorted keys from 1.0.0 on.
    """
    return marshal_indent(result, sort_keys=result["cniVersion"] in V1XX)


def ip_addresses(result: Result) -> list[str]:
    """All addresses with their masks, whatever the version."""
    if _family(result["cniVersion"]) is V02X:
        return [result[key]["ip"] for key in ("ip4", "ip6") if key in result]
    return [ip["address"] for ip in result.get("ips", ())]


def _family(version: str) -> tuple[str, ...] | None:
    return next((family for family in _FAMILIES if version in family), None)


def _picked(raw: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        key: raw[key]
        for key in fields
        if key in raw and (raw[key] or (key in _KEPT_ZEROS and raw[key] is not None))
    }


def _fields_of(family: tuple[str, ...], raw: dict[str, Any]) -> Result:
    result: Result = {"cniVersion": raw["cniVersion"]}
    if family is V02X:
        for key in ("ip4", "ip6"):
            if raw.get(key):
                config = _picked(raw[key], ("ip", "gateway", "routes"))
                if "routes" in config:
                    config["routes"] = [
                        _picked(route, _ROUTE_FIELDS) for route in config["routes"]
                    ]
                result[key] = config
    else:
        lists = {
            "interfaces": _INTERFACE_FIELDS[family],
            "ips": _IP_FIELDS[family],
            "routes": _ROUTE_FIELDS,
        }
        for key, fields in lists.items():
            if raw.get(key):
                result[key] = [
                    _picked(
                        {"version": "", **one} if "version" in fields else one, fields
                    )
                    for one in raw[key]
                ]
    dns = _picked(raw.get("dns") or {}, _DNS_FIELDS)
    if dns or family is not V1XX:
        result["dns"] = dns
    return result


def _version_of(address: str) -> str:
    return str(parse_cidr(address).version)


def _to_04x(result: Result) -> Result:
    ips = [
        {**ip, "version": _version_of(ip["address"])} for ip in result.get("ips", ())
    ]
    return _fields_of(V04X, {**result, "ips": ips, "cniVersion": "0.4.0"})


def _to_04x_from_02x(result: Result) -> Result:
    ips, routes = [], []
    for version in ("4", "6"):
        config = result.get(f"ip{version}")
        if config:
            ips.append(
                {
                    "version": version,
                    "address": config["ip"],
                    "gateway": config.get("gateway"),
                }
            )
            routes += config.get("routes", ())
    return _fields_of(
        V04X,
        {"cniVersion": "0.4.0", "ips": ips, "routes": routes, "dns": result.get("dns")},
    )


def _to_02x(result: Result, version: str) -> Result:
    """Of several addresses of a family the first survives; routes go to the address of
    their family.
    """
    converted: dict[str, Any] = {"cniVersion": version, "dns": result.get("dns")}
    for ip in result.get("ips", ()):
        if ip["version"] in ("4", "6"):
            converted.setdefault(
                f"ip{ip['version']}",
                {"ip": ip["address"], "gateway": ip.get("gateway"), "routes": []},
            )
    for route in result.get("routes", ()):
        config = converted.get(f"ip{_version_of(route['dst'])}")
        if config is not None:
            config["routes"].append(_picked(route, ("dst", "gw")))
    if "ip4" not in converted and "ip6" not in converted:
        raise CNIError("cannot convert: no valid IP addresses")
    return _fields_of(V02X, converted)
