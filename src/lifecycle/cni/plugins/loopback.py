"""The loopback plugin: switches on `lo` in the pod's namespace. Runtimes run it before
any other network.

Upstream: `containernetworking/plugins`, `plugins/main/loopback/loopback.go`, v1.9.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.errors import CNIError
from lifecycle.cni.namespaces import NSPathNotExistError
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import LinkNotFoundError
from lifecycle.cni.plugins.go_structs import PLUGIN_CONF, Struct
from lifecycle.cni.plugins.netconf import plugin_config
from lifecycle.cni.plugins.skel import CmdArgs, parsed_prev_result, plugin_main

NAME = "lo"


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD. A result that came in goes out as it was; else `lo` and its addresses.
    Raises CNIError.
    """
    plugin_config(
        args.conf,
        Struct(PLUGIN_CONF, "types.NetConf"),
        "failed to parse network config",
    )
    try:
        passed_on = parsed_prev_result(args)
    except CNIError as error:
        raise error.wrapped("failed to parse prevResult") from None
    addresses = []
    with Netlink(args.netns) as inside:
        link = inside.link(NAME)
        inside.link_set(link.index, up=True)
        for version in (4, 6):
            addrs = inside.addrs(link.index, version)
            for address in addrs:
                if not address.ip.is_loopback:
                    raise CNIError(
                        "loopback interface found with non-loopback address"
                        f' "{address.ip}"'
                    )
            addresses += addrs[:1]
    if passed_on is not None:
        return passed_on
    interface: dict[str, Any] = {
        "name": NAME,
        "mac": "00:00:00:00:00:00",
        "sandbox": args.netns,
    }
    ips = [{"interface": 0, "address": str(address)} for address in addresses]
    return results.create(
        "1.1.0", {"cniVersion": "1.1.0", "interfaces": [interface], "ips": ips}
    )


def cmd_del(args: CmdArgs) -> None:
    """DEL: switch it off, if the namespace is still there."""
    if args.netns:
        with contextlib.suppress(NSPathNotExistError), Netlink(args.netns) as inside:
            inside.link_set(inside.link(NAME).index, up=False)


def cmd_check(args: CmdArgs) -> None:
    """CHECK: is it on? Raises CNIError."""
    with Netlink(args.netns) as inside:
        try:
            link = inside.link(NAME)
        except LinkNotFoundError:
            raise CNIError("Link not found") from None
        if not link.up:
            raise CNIError("loopback interface is down")


def main() -> int:
    """The executable."""
    return plugin_main("loopback", {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check})


if __name__ == "__main__":
    sys.exit(main())
