"""What all main plugins need of their configuration and their namespace.

Upstream: `containernetworking/cni`, `pkg/types/types.go` (`PluginConf`);
`plugins/pkg/ns/ns_linux.go` (`GetNS`), v1.9.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from lifecycle.cni.errors import CNIError
from lifecycle.cni.namespaces import NSPathNotExistError
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.plugins.go_structs import Struct, misfit


def plugin_config(
    conf: Mapping[str, Any], shape: Struct, complaint: str = "failed to load netconf"
) -> dict[str, Any]:
    """The configuration without its nulls, if all of it has the right types. Raises
    CNIError in the words of Go's decoder.
    """
    problem = misfit(conf, shape)
    if problem:
        raise CNIError(f"{complaint}: {problem}" if complaint else problem)
    return {key: value for key, value in conf.items() if value is not None}


def dns_configured(conf: Mapping[str, Any]) -> bool:
    """Whether the plugin's own configuration has DNS settings, which then win over
    IPAM's.
    """
    dns = conf.get("dns") or {}
    return any(
        dns.get(key) is not None for key in ("nameservers", "search", "options")
    ) or bool(dns.get("domain"))


@contextlib.contextmanager
def open_netns(path: str) -> Iterator[Netlink]:
    """The network of the pod's namespace. Raises CNIError."""
    try:
        inside = Netlink(path)
    except NSPathNotExistError as error:
        raise CNIError(f'failed to open netns "{path}": {error}') from None
    except CNIError as error:
        raise CNIError(f'failed to open netns "{path}": {error}') from None
    with inside:
        yield inside
