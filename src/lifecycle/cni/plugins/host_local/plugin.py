"""host-local: an address from each range set, kept track of in files.

Upstream: `containernetworking/plugins`, `plugins/ipam/host-local/main.go`, `dns.go`,
v1.9. As upstream, it has neither GC nor STATUS.
"""

from __future__ import annotations

from typing import Any

from lifecycle.cni import results
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.host_local.allocator import IPAllocator
from lifecycle.cni.plugins.host_local.config import load_ipam_config
from lifecycle.cni.plugins.host_local.disk_store import DiskStore
from lifecycle.cni.plugins.skel import CmdArgs, plugin_main


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD: all or nothing. Raises CNIError."""
    conf = load_ipam_config(args.conf, args.args)
    result: results.Result = {"cniVersion": "1.1.0", "ips": []}
    if conf.resolv_conf:
        result["dns"] = parse_resolv_conf(conf.resolv_conf)
    requested = list(dict.fromkeys(conf.requested))
    with DiskStore(conf.name, conf.data_dir) as store:
        done: list[IPAllocator] = []
        for index, ranges in enumerate(conf.ranges):
            allocator = IPAllocator(ranges, store, index)
            wish = next((address for address in requested if address in ranges), None)
            if wish is not None:
                requested.remove(wish)
            try:
                result["ips"].append(
                    allocator.get(args.container_id, args.if_name, wish)
                )
            except CNIError as error:
                for earlier in done:
                    earlier.release(args.container_id, args.if_name)
                raise CNIError(
                    f"failed to allocate for range {index}: {error}"
                ) from None
            done.append(allocator)
        if requested:
            for allocator in done:
                allocator.release(args.container_id, args.if_name)
            raise CNIError(
                f"failed to allocate all requested IPs: {' '.join(map(str, requested))}"
            )
    result["routes"] = conf.routes
    return results.create("1.1.0", result)


def cmd_del(args: CmdArgs) -> None:
    """DEL: give back. Unknown containers are no error. Raises CNIError."""
    conf = load_ipam_config(args.conf, args.args)
    with DiskStore(conf.name, conf.data_dir) as store:
        for index, ranges in enumerate(conf.ranges):
            IPAllocator(ranges, store, index).release(args.container_id, args.if_name)


def cmd_check(args: CmdArgs) -> None:
    """CHECK: has the container any address? Which one does not matter. Raises
    CNIError.
    """
    conf = load_ipam_config(args.conf, args.args)
    with DiskStore(conf.name, conf.data_dir) as store:
        if not store.find_by_id(args.container_id, args.if_name):
            raise CNIError(
                "host-local: Failed to find address added by container"
                f" {args.container_id}"
            )


def parse_resolv_conf(path: str) -> dict[str, Any]:
    """DNS settings from a resolver's file. Raises CNIError."""
    dns: dict[str, Any] = {"nameservers": [], "domain": "", "search": [], "options": []}
    try:
        with open(path) as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise CNIError(f"open {path}: {(error.strerror or '').lower()}") from None
    for line in lines:
        word, *rest = line.split() or [""]
        if not rest or word[0] in "#;":
            continue
        if word == "nameserver":
            dns["nameservers"].append(rest[0])
        elif word == "domain":
            dns["domain"] = rest[0]
        elif word in ("search", "options"):
            dns[word] += rest
    return {key: value for key, value in dns.items() if value}


def main() -> int:
    """The executable."""
    return plugin_main(
        "host-local", {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check}
    )
