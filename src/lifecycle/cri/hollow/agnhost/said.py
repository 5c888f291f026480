"""The parts of `agnhost` that say something and end: `entrypoint-tester`, `etc-hosts`,
`dns-suffix`, `dns-server-list`, `logs-generator`.

Upstream: `test/images/agnhost/{entrypoint-tester,dns,logs-generator}`, v1.36.
"""

from __future__ import annotations

import random

from lifecycle.api.go.duration import parse_duration
from lifecycle.cri.hollow.agnhost.flags import FlagError, Flags
from lifecycle.cri.hollow.agnhost.log import log
from lifecycle.cri.hollow.process.process import Process

_VERBS = ("GET", "POST", "PUT")
_NAMESPACES = ("kube-system", "default", "ns")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


async def entrypoint_tester(process: Process, flags: Flags) -> int:
    """Its command line, as Go prints a list."""
    process.print(f"[{' '.join(process.argv)}]")
    return 0


async def etc_hosts(process: Process, flags: Flags) -> int:
    """The pod's `/etc/hosts`."""
    process.print((await process.files.read("/etc/hosts")).decode())
    return 0


async def _resolv_conf(process: Process, keyword: str) -> list[str]:
    """The words behind a keyword."""
    lines = (await process.files.read("/etc/resolv.conf")).decode().splitlines()
    words = [line.split() for line in lines]
    return [word for line in words if line[:1] == [keyword] for word in line[1:]]


async def dns_suffix(process: Process, flags: Flags) -> int:
    """What is appended to names that are looked up."""
    suffixes = await _resolv_conf(process, "search")
    if not suffixes:
        process.complain("panic: Could not find DNS search list!")
        return 2
    process.print(",".join(suffixes), "")
    return 0


async def dns_server_list(process: Process, flags: Flags) -> int:
    """Who is asked."""
    process.print(",".join(await _resolv_conf(process, "nameserver")))
    return 0


async def logs_generator(process: Process, flags: Flags) -> int:
    """Lines as a busy API server might write, spread over a time. A pod writes the same
    ones each time.
    """
    total = flags.number("log-lines-total")
    try:
        seconds = parse_duration(flags.text("run-duration"))
    except ValueError as error:
        raise FlagError(str(error)) from None
    if total <= 0:
        process.complain(f"Invalid total number of lines: {total}")
        return 1
    drawn = random.Random(process.machine.hostname)
    for number in range(total):
        name = "".join(drawn.choices(_LETTERS, k=drawn.randint(3, 5)))
        path = f"/api/v1/namespaces/{drawn.choice(_NAMESPACES)}/pods/{name}"
        text = f"{number} {drawn.choice(_VERBS)} {path} {drawn.randint(200, 599)}"
        log(process, text, "logs_generator.go:76")
        await process.sleep(seconds / total)
    return 0
