"""What the programs in hollow containers do: nothing, for the right time.

A container without processes must still behave: nginx serves until it is told to stop;
`sh -c "sleep 2"` ends after two seconds; `sh -c "exit 3"` ends at once and badly; a
program that is not there cannot be started; a shell that is process 1 does not hear
SIGTERM and has to be killed. This module knows what images run by themselves; scripts
are gone through by `hollow_shell.py`. Anything unknown runs for ever and ends well when
asked to.

Ours; upstream's hollow nodes (`pkg/kubemark`) run no programs at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.cri.hollow.commands import SHELLS, base_name, commands_of, missing, run
from lifecycle.cri.hollow.files import FileChange
from lifecycle.cri.hollow.process import FOREVER, Output, Program
from lifecycle.cri.hollow.shell import Shell, said_by

NGINX = Program(listens=frozenset({80}))
RUNS_FOREVER = Program()
HEALTH = frozenset({"/health", "/ready", "/healthz", "/livez", "/readyz"})
COMPONENTS = {
    name: Program(listens=frozenset(ports), pages=HEALTH)
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
SHELL = Program(runs_for=0.0, on_term=None)


def program_of_image(image: str) -> Program:
    """What an image runs if the pod does not say."""
    name = image.rpartition("@")[0] or image
    name = name.rsplit("/", 1)[-1].split(":")[0]
    if name == "nginx":
        return NGINX
    if name in COMPONENTS:
        return COMPONENTS[name]
    if name in ("busybox", "alpine", "debian", "ubuntu"):
        return SHELL
    return RUNS_FOREVER


def program_of(
    image: str,
    command: tuple[str, ...],
    args: tuple[str, ...],
    envs: Mapping[str, str] | None = None,
) -> Program:
    """What a container will do. `command` replaces the image's program, `args` its
    arguments.
    """
    default = program_of_image(image)
    known = commands_of(image)
    if not command:
        if args and default in (SHELL, NGINX):  # their entry point runs its arguments
            return program_of_words(list(args), known, envs)
        return default
    return program_of_words([*command, *args], known, envs)


def program_of_words(
    words: list[str],
    known: frozenset[str] | None = None,
    envs: Mapping[str, str] | None = None,
    files: tuple[FileChange, ...] = (),
) -> Program:
    """What a command line does, as process 1. `known`: the commands that there are;
    `files`: what happened to files before.
    """
    if words[0] in SHELLS and "-c" in words[1:-1] and not missing(words[0], known):
        return Shell(known, envs or {}, files=files).program(
            words[words.index("-c") + 1]
        )
    if words[0] in SHELLS and len(words) == 1:
        return SHELL
    name = base_name(words[0])
    if name in COMPONENTS:
        return COMPONENTS[name]
    why = missing(words[0], known)
    if why:
        return Program(start_error=why)
    if name == "nginx" and "-s" not in words:
        return NGINX
    if name == "tail" and "/dev/zero" in words:
        return Program(on_term=None, oom=True)
    seconds, code = run(words, known, files)
    if seconds == FOREVER:
        return RUNS_FOREVER if known is None else Program(on_term=None)
    said = tuple(
        Output(0.0, stream, text.replace("$", "$$"))
        for stream, text in said_by(words, envs or {}, code)
    )
    return Program(runs_for=seconds, exit_code=code, on_term=None, output=said)
