"""Who plays a hollow container: what images run by themselves, what a command line
does, and what whoever starts the cluster says about both.

1. A program that was registered for the image and the command (`Programs`).
2. A command that is played here: the shell, and those in the room `commands`.
3. As a container's own command, anything else that looks like a server runs on and
   says nothing, as an image's own program does: nginx "runs". A tool that would have
   ended (`wget -c`, `telnet`) does not end well for nothing: it says that it was not
   run, and ends with 126.
4. As a command in a container (a hook, a probe, `kubectl exec`, a line of a script)
   anything else is not run, says so in one line and gives 126; one that the image is
   known not to have is not there, as with a real runtime (in a script: 127).

Ours; upstream's hollow nodes (`pkg/kubemark`) run no programs at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.cri.hollow.agnhost.agnhost import agnhost
from lifecycle.cri.hollow.agnhost.demos import files_of_demo
from lifecycle.cri.hollow.commands.applets import (
    BUSYBOX_COMMANDS,
    DEBIAN_COMMANDS,
    ENDLESS,
    SHELLS,
    base_name,
    commands_of,
    missing,
    short_name,
)
from lifecycle.cri.hollow.commands.basic import COMMANDS, WELCOME
from lifecycle.cri.hollow.commands.files import FILE_COMMANDS
from lifecycle.cri.hollow.commands.filters import FILTERS
from lifecycle.cri.hollow.commands.net import NET_COMMANDS
from lifecycle.cri.hollow.commands.tar import tar
from lifecycle.cri.hollow.commands.web import WEB_COMMANDS
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.process import Process, Program, Service
from lifecycle.cri.hollow.shell.shell import sh
from lifecycle.cri.images.reference import normalized_name, split_reference

Key = str | tuple[str, str]
"""An image, or an image and a command. The image with its tag, or without one for all
tags; `*` is any image. The command without its directory.
"""

PLAYED: Mapping[str, Program] = {
    **COMMANDS,
    **FILE_COMMANDS,
    **FILTERS,
    **NET_COMMANDS,
    **WEB_COMMANDS,
    "agnhost": agnhost,
    "agnhost-2": agnhost,
    "tar": tar,
    **dict.fromkeys(SHELLS, sh),
}

HEALTH = frozenset({"/health", "/ready", "/healthz", "/livez", "/readyz"})
COMPONENTS = {
    name: Service(frozenset(ports), HEALTH)
    for name, ports in {
        "coredns": (53, 8080, 8181, 9153),
        "etcd": (2379, 2380, 2381),
        "kindnetd": (),
        "kube-apiserver": (6443,),
        "kube-controller-manager": (10257,),
        "kube-proxy": (10249, 10256),
        "kube-scheduler": (10259,),
        "local-path-provisioner": (),
    }.items()
}
"""What runs a cluster: the ports that kubeadm and kind have them listen on, for their
probes.
"""
NGINX = Service(frozenset({80}), text=WELCOME, content_type="text/html")
RUNS_ON = Service()
SHELL_IMAGES = frozenset({"alpine", "busybox", "debian", "ubuntu"})
"""Whose own program is a shell."""


class StartError(Exception):
    """The program cannot be started; the text is runc's."""


async def _not_run(process: Process) -> int:
    raise NotModelled(" ".join(process.argv)[:100])


class Programs:
    """What a node knows. `registered`: more programs, which come first."""

    def __init__(self, registered: Mapping[Key, Program] | None = None) -> None:
        self._registered: dict[tuple[str, str], Program] = {}
        for key, program in (registered or {}).items():
            image, command = (key, "") if isinstance(key, str) else key
            if not callable(program):
                raise ValueError(
                    f"the program for {key!r} is {program!r}; it should be an async"
                    " function that takes a Process and returns an exit code"
                )
            self._registered[self._image(image), command] = program

    @staticmethod
    def _image(image: str) -> str:
        if image == "*":
            return image
        _, tag, digest = split_reference(image)
        full = normalized_name(image)
        return full if tag or digest else split_reference(full)[0]

    def is_registered(self, program: Program) -> bool:
        """Or one of ours."""
        return program in self._registered.values()

    def has_image(self, reference: str) -> bool:
        """Whether there is a program for an image, so that there must be the image,
        too.
        """
        repository = split_reference(reference)[0]
        return any(image in (reference, repository) for image, _ in self._registered)

    def _find(self, image: str, command: str) -> Program | None:
        full = normalized_name(image)
        for name in (full, split_reference(full)[0], "*"):
            program = self._registered.get((name, command))
            if program is not None:
                return program
        return None

    def main(
        self, image: str, command: tuple[str, ...], args: tuple[str, ...]
    ) -> tuple[Program, tuple[str, ...]]:
        """What a container does, and with which `argv`. `command` replaces the image's
        program, `args` its arguments. Raises StartError.
        """
        name = short_name(image)
        own = self._find(image, "")
        if command or (
            args and own is None and (name in SHELL_IMAGES or name == "nginx")
        ):
            argv = (*command, *args)  # the entry points of these run their arguments
            return self._main_command(image, argv, own), argv
        if own is None:
            own = NGINX if name == "nginx" else COMPONENTS.get(name)
        if own is None and name == "agnhost":
            return agnhost, ("/agnhost", *args)
        if own is None and files_of_demo(image):
            return agnhost, ("/agnhost", *(args or ("test-webserver",)))
        if own is None:
            own = sh if name in SHELL_IMAGES else RUNS_ON
        return own, (name if own is not sh else "sh", *args)

    def _main_command(
        self, image: str, argv: tuple[str, ...], own: Program | None
    ) -> Program:
        name, known = base_name(argv[0]), commands_of(image)
        registered = self._find(image, name)
        if registered is not None:
            return registered
        if name in COMPONENTS:
            return COMPONENTS[name]
        why = missing(argv[0], known)
        if why and own is None:
            raise StartError(why)
        if name == "nginx" and "-s" not in argv:
            return NGINX
        if name in PLAYED:
            return PLAYED[name]
        if own is not None:
            return own
        if name in (BUSYBOX_COMMANDS | DEBIAN_COMMANDS) - ENDLESS:
            return _not_run
        return RUNS_ON if known is None else Service(deaf=True)

    def command(self, image: str, argv: tuple[str, ...]) -> Program:
        """Who plays a command in a container of an image. Raises NotModelled, and
        StartError if the image is known not to have it.
        """
        name = base_name(argv[0])
        registered = self._find(image, name)
        if registered is not None:
            return registered
        why = missing(argv[0], commands_of(image))
        if why:
            raise StartError(why)
        if name in PLAYED:
            return PLAYED[name]
        raise NotModelled(" ".join(argv)[:100])
