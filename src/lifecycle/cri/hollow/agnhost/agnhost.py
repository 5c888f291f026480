"""The program itself: which of its parts are played, and with which flags.

Of its other parts the servers run and say nothing, as every server does that nobody has
written a function for; the others say that they are not run.

Upstream: `test/images/agnhost/agnhost.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from lifecycle.cri.hollow.agnhost import (
    crd_conversion_webhook,
    mounttest,
    netexec,
    porter,
    said,
    servers,
    webhook,
)
from lifecycle.cri.hollow.agnhost.flags import Default, FlagError, Flags, parse
from lifecycle.cri.hollow.agnhost.tls_files import CertificateError
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.process import Process

Play = Callable[[Process, Flags], Awaitable[int]]


@dataclass(frozen=True)
class Part:
    """A subcommand. `short`: flags by their letter; `takes`: arguments beside flags."""

    play: Play
    flags: Mapping[str, Default] = field(default_factory=dict)
    short: Mapping[str, str] = field(default_factory=dict)
    takes: bool = False


_HOSTNAME_FLAGS: dict[str, Default] = {
    "port": 9376,
    "http": True,
    "tcp": False,
    "udp": False,
    "close": False,
}
_LOGGING: dict[str, Default] = {"v": 0, "alsologtostderr": False, "logtostderr": True}
"""What every part takes of klog; it changes nothing here."""
PARTS: Mapping[str, Part] = {
    "crd-conversion-webhook": Part(
        crd_conversion_webhook.crd_conversion_webhook, crd_conversion_webhook.FLAGS
    ),
    "dns-server-list": Part(said.dns_server_list),
    "dns-suffix": Part(said.dns_suffix),
    "entrypoint-tester": Part(said.entrypoint_tester, takes=True),
    "etc-hosts": Part(said.etc_hosts),
    "liveness": Part(servers.liveness),
    "logs-generator": Part(
        said.logs_generator,
        {"log-lines-total": 0, "run-duration": "0s"},
        {"t": "log-lines-total", "d": "run-duration"},
    ),
    "mounttest": Part(mounttest.mounttest, mounttest.FLAGS),
    "netexec": Part(netexec.netexec, netexec.FLAGS),
    "pause": Part(servers.pause),
    "porter": Part(porter.porter, {"json-response": False}),
    "serve-hostname": Part(servers.serve_hostname, _HOSTNAME_FLAGS),
    "test-webserver": Part(servers.test_webserver, {"port": 80}),
    "webhook": Part(webhook.webhook, webhook.FLAGS),
}
RUN_ON = frozenset(
    {
        "audit-proxy",
        "external-metrics",
        "fake-gitserver",
        "fake-registry-server",
        "grpc-health-checking",
        "guestbook",
        "inclusterclient",
        "mtlsserver",
        "net",
        "nettest",
        "no-snat-test",
        "no-snat-test-proxy",
        "podcertificatesigner",
        "port-forward-tester",
        "resource-consumer-controller",
        "tcp-reset",
    }
)
"""Servers that nobody plays."""


async def agnhost(process: Process) -> int:
    """Without a subcommand it pauses, as the image says."""
    words = process.argv[1:] or ("pause",)
    name = words[0]
    part = PARTS.get(name)
    if part is None and name in RUN_ON:
        await process.sleep(float("inf"))
    if part is None:
        raise NotModelled(f"agnhost {' '.join(words)}"[:100])
    try:
        if part.takes:
            flags = Flags({}, words[1:])
        else:
            short = {"v": "v", **part.short}
            flags = parse(words[1:], {**_LOGGING, **part.flags}, short)
            if flags.rest:
                count = len(flags.rest)
                raise FlagError(f"accepts at most 0 arg(s), received {count}")
        return await part.play(process, flags)
    except FlagError as error:
        process.complain(f"Error: {error}")
        return 1
    except CertificateError as error:
        process.complain(f"panic: {error}")
        return 2
