"""Endpoints in canonical form: the same addresses and ports always look the same.

Subsets with equal ports are merged; an address that is both ready and not ready is not
ready. Addresses are sorted, ports and subsets come in the order of the hashes of their
printed forms.

Upstream: `pkg/api/v1/endpoints/util.go` (`RepackSubsets`, `SortSubsets`), v1.36.
"""

from __future__ import annotations

from hashlib import md5
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.controllers.go_dump import dump_for_hash


def _sort_key(value: Any) -> bytes:
    return fast_json.dumps(value, option=fast_json.OPT_SORT_KEYS)


def _by_hash(go_type: str, values: list[Object]) -> list[Object]:
    """In the order of the hashes, as `portsByHash` and `subsetsByHash` sort."""

    def key(value: Object) -> bytes:
        text = dump_for_hash(go_type, value)
        return md5(text.encode(), usedforsecurity=False).digest()

    return sorted(values, key=key) if len(values) > 1 else values


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
                    was_ready, first = addresses.get(who, (True, address))
                    addresses[who] = (was_ready and ready, first)
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
            subset["ports"] = _by_hash("core/v1.EndpointPort", ports)
        packed.append(subset)
    endpoints["subsets"] = _by_hash("core/v1.EndpointSubset", packed)
