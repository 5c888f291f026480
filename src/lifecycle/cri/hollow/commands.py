"""Single commands of hollow containers: how long they take, how they end and what they
say.

A command that an image is known not to have cannot be run; one of an image that nobody
knows runs for ever.

Ours. The lists are busybox' applets, and of nginx' Debian image the commands that pods
are seen to use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lifecycle.cri.hollow.files import FileChange, is_there
from lifecycle.cri.hollow.process import FOREVER

SHELLS = ("sh", "ash", "bash", "/bin/sh", "/bin/ash", "/bin/bash")

_APPLETS = """
[ [[ ash awk base64 basename bc bunzip2 busybox bzcat bzip2 cat chgrp chmod chown
chroot cksum clear cmp comm cp cpio crond cut date dd df diff dirname dmesg
dnsdomainname du echo ed egrep env expand expr factor false fgrep find flock fold free
fsync ftpget getopt grep groups gunzip gzip head hexdump hostid hostname httpd id
ifconfig install ionice ip kill killall less ln logger ls lsof md5sum mkdir mkfifo
mknod mktemp more mount mv nc netstat nice nl nohup nproc nslookup od paste patch
pgrep pidof ping ping6 pkill pmap printenv printf ps pstree pwd readlink realpath
renice reset rm rmdir route sed seq setsid sh sha1sum sha256sum sha512sum shred shuf
sleep sort split stat strings stty sum sync sysctl tac tail tar tee telnet test time
timeout top touch tr traceroute true truncate tty umount uname uniq unlink uptime
usleep vi watch wc wget which whoami xargs xz yes zcat
"""
BUSYBOX_COMMANDS = frozenset(_APPLETS.split())
DEBIAN_COMMANDS = frozenset(
    {"bash", "curl", "nginx", "openssl", "perl", "dpkg", "apt-get", "ldd", "getent"}
)
_NOT_IN_DEBIAN = frozenset(
    {
        "ash",
        "busybox",
        "wget",
        "nc",
        "vi",
        "ping",
        "nslookup",
        "telnet",
        "top",
        "ps",
        "ip",
    }
)
COMMANDS_OF_IMAGES: Mapping[str, frozenset[str]] = {
    "busybox": BUSYBOX_COMMANDS,
    "alpine": BUSYBOX_COMMANDS,
    "nginx": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS,
    "debian": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS - {"nginx", "curl"},
    "ubuntu": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS - {"nginx", "curl"},
}
BUILTINS = frozenset(
    {
        ":",
        ".",
        "cd",
        "eval",
        "exec",
        "export",
        "jobs",
        "local",
        "read",
        "return",
        "set",
        "shift",
        "source",
        "trap",
    }
    | {
        "type",
        "ulimit",
        "umask",
        "unset",
        "wait",
        "exit",
        "break",
        "continue",
        "true",
        "false",
        "echo",
        "printf",
        "test",
    }
)
"""What a shell does itself."""

_ENDING = re.compile(
    r"\bnginx\s+-s\s+(?:quit|stop)\b|\bkill\s+(?:(?:-s\s+|-)(?:SIG)?(?:TERM|QUIT|INT|15|3|2)\s+)?1\b"
)
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_ENDLESS = ("httpd", "top", "yes", "watch")


def base_name(command: str) -> str:
    """`/bin/sleep` → `sleep`."""
    return command.rsplit("/", 1)[-1]


def commands_of(image: str) -> frozenset[str] | None:
    """What an image is known to have; None: nobody knows."""
    name = image.partition("@")[0].rsplit("/", 1)[-1].split(":")[0]
    return COMMANDS_OF_IMAGES.get(name)


def missing(command: str, known: frozenset[str] | None) -> str:
    """Why a runtime cannot execute it; empty if it can."""
    name = base_name(command)
    if command.startswith("/"):
        there = (
            BUSYBOX_COMMANDS | DEBIAN_COMMANDS | {"pause"}
            if known is None
            else known | {"pause"}
        )
        return (
            ""
            if name in there
            else f'exec: "{command}": stat {command}: no such file or directory'
        )
    if known is None or name in known:
        return ""
    return f'exec: "{command}": executable file not found in $PATH'


def asks_to_end(command: Sequence[str]) -> bool:
    """Whether it asks process 1 to end: `kill 1`, `nginx -s quit`. What cannot be
    caught does not reach process 1 from inside.
    """
    return any(_ENDING.search(word) for word in (" ".join(command), *command))


def sleep_seconds(words: list[str]) -> float:
    """How long `sleep` takes."""
    total = 0.0
    for word in words[1:]:
        if word == "infinity":
            return FOREVER
        found = _SECONDS.fullmatch(word)
        if found is None:
            return 0.0
        total += float(found[1]) * _UNITS[found[2]]
    return total


def run(
    words: list[str],
    known: frozenset[str] | None,
    files: tuple[FileChange, ...] = (),
    age: float = 0.0,
) -> tuple[float, int]:
    """Seconds (`FOREVER`: it does not end) and exit code of one command. `files`: what
    the script did to files so far.
    """
    name = base_name(words[0])
    if name == "sleep" and len(words) > 1:
        return sleep_seconds(words), 0
    if name == "usleep" and len(words) > 1 and words[1].isdigit():
        return int(words[1]) / 1_000_000, 0
    if name == "timeout" and len(words) > 2:
        seconds, code = run(words[2:], known, files, age)
        limit = sleep_seconds(["sleep", words[1]])
        return (limit, 143) if seconds > limit else (seconds, code)
    if name in ("false", "exit") or (name == "test" and len(words) == 1):
        return 0.0, 1
    if name in ("test", "[", "[["):
        return 0.0, (
            0
            if holds([w for w in words[1:] if w not in ("]", "]]")], files, age)
            else 1
        )
    if name in ("cat", "ls", "stat") and len(words) > 1:
        paths = [word for word in words[1:] if word.startswith("/")]
        return 0.0, 0 if all(is_there(files, path, age) for path in paths) else 1
    if name in _ENDLESS or (
        name == "tail" and ({"-f", "-F"} & set(words) or "/dev/zero" in words)
    ):
        return FOREVER, 0
    if name in BUSYBOX_COMMANDS or name in BUILTINS or name in SHELLS:
        return 0.0, 0
    if known is not None and name not in known:
        return 0.0, 127
    quick = name in DEBIAN_COMMANDS and (name != "nginx" or "-s" in words)
    return (0.0, 0) if quick else (FOREVER, 0)


def holds(words: list[str], files: tuple[FileChange, ...], age: float) -> bool:
    """What `test` says."""
    if words[:1] == ["!"]:
        return not holds(words[1:], files, age)
    for operator in ("-o", "-a"):
        if operator in words[1:-1] and len(words) > 3:
            i = words.index(operator)
            sides = holds(words[:i], files, age), holds(words[i + 1 :], files, age)
            return any(sides) if operator == "-o" else all(sides)
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2:
        if words[0] in ("-z", "-n"):
            return bool(words[1]) == (words[0] == "-n")
        return is_there(files, words[1], age)
    if len(words) == 3:
        left, operator, right = words
        if operator in ("=", "==", "!="):
            return (left == right) == (operator != "!=")
        if re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right):
            return _compared(int(left) - int(right), operator)
    return False


def _compared(difference: int, operator: str) -> bool:
    return {
        "-eq": difference == 0,
        "-ne": difference != 0,
        "-lt": difference < 0,
        "-le": difference <= 0,
        "-gt": difference > 0,
        "-ge": difference >= 0,
    }.get(operator, False)
