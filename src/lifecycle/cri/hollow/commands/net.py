"""`nc`, `nslookup`, `dig` and `getent` in hollow containers: whether somebody listens,
what they say, and where a name leads.

Ours, after OpenBSD's nc, busybox' nslookup, BIND's dig and glibc's getent. Left out:
listening, UDP without `-w`, other name servers than the pod's, all of a DNS answer but
its records.
"""

from __future__ import annotations

from math import inf

from lifecycle.cri.hollow.commands.basic import not_modelled
from lifecycle.cri.hollow.process.process import NoSuchHost, Process, Program

_NC_QUIET = frozenset("tnN")
"""Letters of flags that change nothing here."""
_DIG_FLAGS = frozenset(
    {"+answer", "+noall", "+notcp", "+search", "+short", "+tcp", "+nosearch"}
)


async def nc(process: Process) -> int:
    """`nc [-u] [-v] [-z] [-w SECONDS] HOST PORT`; without `-z` the input is sent."""
    words, places = list(process.argv[1:]), list[str]()
    verbose = scans = udp = False
    patience = inf
    while words:
        word = words.pop(0)
        if word == "-w" and words:
            seconds = words.pop(0)
            patience = float(seconds) if seconds.isdigit() else inf
        elif not word.startswith("-"):
            places.append(word)
        elif not set(word[1:]) - _NC_QUIET - {"u", "v", "z"}:
            verbose = verbose or "v" in word
            scans = scans or "z" in word
            udp = udp or "u" in word
        else:
            raise not_modelled(process)
    if len(places) != 2 or not places[1].isdigit():
        raise not_modelled(process)
    host, port = places[0], int(places[1])
    if udp and (scans or patience == inf):
        raise not_modelled(process)
    data = b"" if scans else await process.stdin.read_all()
    network = process.machine.network
    try:
        if udp and verbose:
            await _knock(process, host, port, patience)
        said = await (network.datagram if udp else network.talk)(host, port, data)
    except NoSuchHost:
        why = "Name or service not known"
        process.complain(f'nc: getaddrinfo for host "{host}" port {port}: {why}')
        return 1
    except KeyError:
        raise not_modelled(process) from None
    except OSError as error:
        if udp and not verbose:  # it does not look
            await process.sleep(patience)
            return 0
        if verbose and not udp:
            failed = f"nc: connect to {host} port {port} (tcp) failed"
            process.complain(f"{failed}: {error.strerror}")
        return 1
    if verbose:
        protocol = "udp" if udp else "tcp"
        connected = f"Connection to {host} {port} port [{protocol}/*] succeeded!"
        process.complain(connected)
    if not scans:
        process.stdout(said)
    if udp:
        await process.sleep(patience)  # for what might still come
    return 0


async def _knock(process: Process, host: str, port: int, seconds: float) -> None:
    """Over UDP nothing says that somebody listens. It sends letters, and sees whether
    one is refused. Raises OSError.
    """
    knocks = [0.0, 0.0, *[1.0] * int(seconds)]
    for wait in knocks:
        await process.sleep(wait)
        await process.machine.network.datagram(host, port, b"X")


async def nslookup(process: Process) -> int:
    """`nslookup NAME`, and nothing else."""
    names = process.argv[1:]
    if len(names) != 1 or names[0].startswith("-"):
        raise not_modelled(process)
    try:
        address = await process.machine.network.lookup(names[0])
    except NoSuchHost:
        process.print(f"** server can't find {names[0]}: NXDOMAIN\n")
        return 1
    except KeyError:
        raise not_modelled(process) from None
    process.print(f"Name:\t{names[0]}\nAddress: {address}\n")
    return 0


async def dig(process: Process) -> int:
    """`dig +noall +answer [+search] NAME [TYPE]`, or with `+short`. Over TCP and over
    UDP the same comes back.
    """
    flags = {word for word in process.argv[1:] if word.startswith("+")}
    words = [word for word in process.argv[1:] if word not in flags]
    only_answers = "+short" in flags or {"+noall", "+answer"} <= flags
    if (
        flags - _DIG_FLAGS
        or not only_answers
        or not 1 <= len(words) <= 2
        or words[0].startswith(("-", "@"))
    ):
        raise not_modelled(process)
    kind = words[1].upper() if len(words) == 2 else "A"
    try:
        found = await process.machine.network.ask(
            words[0], kind, search="+search" in flags
        )
    except KeyError:
        raise not_modelled(process) from None
    for name, ttl, type_, data in found:
        line = data if "+short" in flags else f"{name}\t{ttl}\tIN\t{type_}\t{data}"
        process.print(line)
    return 0


async def getent(process: Process) -> int:
    """`getent hosts NAME`: by `/etc/hosts`, or else by DNS."""
    if len(process.argv) != 3 or process.argv[1] != "hosts":
        raise not_modelled(process)
    wanted = process.argv[2]
    text = (await process.files.read("/etc/hosts")).decode()
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if wanted in names:
            process.print(f"{address:<15} {' '.join(names)}")
            return 0
    try:
        address = await process.machine.network.lookup(wanted)
    except NoSuchHost:
        return 2
    except KeyError:
        raise not_modelled(process) from None
    process.print(f"{address:<15} {wanted}")
    return 0


NET_COMMANDS: dict[str, Program] = {
    "dig": dig,
    "getent": getent,
    "nc": nc,
    "nslookup": nslookup,
}
