"""Endpoints in canonical form: the same addresses and ports always look the same.

Subsets with equal ports are merged, addresses and ports sorted; an address that is both
ready and not ready is ready.

Upstream: `pkg/api/v1/endpoints/util.go` (`RepackSubsets`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.wire import Object


def _sort_key(value: Any) -> bytes:
    return fast_json.dumps(value, option=fast_json.OPT_SORT_KEYS)


def repack_subsets(endpoints: Object) -> None:
    """Merge and sort `subsets` in place."""
    subsets = endpoints.get("subsets")
    if not subsets:
        return
    by_port: dict[bytes, tuple[Any, dict[tuple[str, str], tuple[bool, Object]]]] = {}
    order: list[bytes] = []
    for subset in subsets:
        for port in subset.get("ports") or [None]:
            key = _sort_key(port)
            if key not in by_port:
                by_port[key] = (port, {})
                order.append(key)
            addresses = by_port[key][1]
            for ready, name in ((True, "addresses"), (False, "notReadyAddresses")):
                for address in subset.get(name) or ():
                    who = (
                        address.get("ip", ""),
                        (address.get("targetRef") or {}).get("uid", ""),
                    )
                    if who not in addresses or (ready and not addresses[who][0]):
                        addresses[who] = (ready, address)
    by_addresses: dict[
        bytes, tuple[list[Any], dict[tuple[str, str], tuple[bool, Object]]]
    ] = {}
    for key in order:
        port, addresses = by_port[key]
        signature = _sort_key(
            sorted((ip, uid, ready) for (ip, uid), (ready, _) in addresses.items())
        )
        ports, _ = by_addresses.setdefault(signature, ([], addresses))
        if port is not None:
            ports.append(port)
    packed = []
    for ports, addresses in by_addresses.values():
        subset = {}
        good = [
            address
            for who, (is_ready, address) in sorted(addresses.items())
            if is_ready
        ]
        waiting = [
            address
            for who, (is_ready, address) in sorted(addresses.items())
            if not is_ready
        ]
        if good:
            subset["addresses"] = good
        if waiting:
            subset["notReadyAddresses"] = waiting
        if ports:
            subset["ports"] = sorted(ports, key=_sort_key)
        packed.append(subset)
    endpoints["subsets"] = sorted(packed, key=_sort_key)
