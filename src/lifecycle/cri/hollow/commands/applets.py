"""Which commands images are known to have, played or not.

A command that an image is known not to have cannot be run; what an image has that
nobody knows, nobody can tell.

Ours. The lists are busybox' applets, and of nginx' Debian image the commands that pods
are seen to use.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.cri.images.reference import split_reference

SHELLS = frozenset({"sh", "ash", "bash"})

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
    "agnhost": BUSYBOX_COMMANDS
    | {"agnhost", "agnhost-2", "bash", "curl", "dig", "getent", "iperf", "iptables"},
    "busybox": BUSYBOX_COMMANDS,
    "alpine": BUSYBOX_COMMANDS,
    "nginx": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS,
    "debian": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS - {"nginx", "curl"},
    "ubuntu": (BUSYBOX_COMMANDS - _NOT_IN_DEBIAN) | DEBIAN_COMMANDS - {"nginx", "curl"},
}
ENDLESS = frozenset({"httpd", "top", "watch", "yes", "crond"})
"""Applets that do not end by themselves."""


def base_name(command: str) -> str:
    """`/bin/sleep` → `sleep`."""
    return command.rsplit("/", 1)[-1]


def short_name(image: str) -> str:
    """`docker.io/library/nginx:1.27` → `nginx`."""
    return base_name(split_reference(image)[0])


def commands_of(image: str) -> frozenset[str] | None:
    """What an image is known to have; None: nobody knows."""
    return COMMANDS_OF_IMAGES.get(short_name(image))


def missing(command: str, known: frozenset[str] | None) -> str:
    """Why a runtime cannot execute it; empty if it can, or if nobody knows."""
    if known is None or base_name(command) in known:
        return ""
    if "/" in command:
        return f'exec: "{command}": stat {command}: no such file or directory'
    return f'exec: "{command}": executable file not found in $PATH'
