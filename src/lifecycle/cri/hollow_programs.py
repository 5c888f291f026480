"""What the programs in hollow containers do: nothing, for the right time.

A container without processes must still behave: nginx serves until it is told to stop; `sh -c "sleep 2"` ends after
two seconds; `sh -c "exit 3"` ends at once and badly; a program that is not there cannot be started; a shell that is
process 1 does not hear SIGTERM and has to be killed. This module knows just enough of images and shell scripts for
that. Anything unknown runs for ever and ends well when asked to.

Ours; upstream's hollow nodes (`pkg/kubemark`) run no programs at all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lifecycle.cri.hollow_files import FileChange, changes_of

SIGKILLED = 137


@dataclass(slots=True, frozen=True)
class Output:
    """A line on `stdout` or `stderr`, so many seconds after the start. `text` may still name variables (`$NAME`)."""

    after: float
    stream: str
    text: str


@dataclass(slots=True, frozen=True)
class Program:
    """How a process will behave.

    `runs_for`: seconds until it ends by itself, None: never. `on_term`: its exit code when asked to stop, None: it
    does not listen. `start_error`: why it cannot be run. `listens`: ports it accepts connections on. `pages`: paths
    that its HTTP servers answer with 200. `oom`: it uses all memory it can get. `output`: what it writes and when;
    said again every `repeat` seconds if that is not 0. `files`: which it makes and removes, and when.
    """

    runs_for: float | None = None
    exit_code: int = 0
    on_term: int | None = 0
    start_error: str = ""
    listens: frozenset[int] = frozenset()
    pages: frozenset[str] = frozenset({"", "/", "/index.html"})
    oom: bool = False
    output: tuple[Output, ...] = ()
    repeat: float = 0.0
    files: tuple[FileChange, ...] = ()


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
"""What runs a cluster: the ports that kubeadm and kind have them listen on, for their probes."""
SHELL = Program(runs_for=0.0, on_term=None)

SHELLS = ("sh", "ash", "bash", "/bin/sh", "/bin/ash", "/bin/bash")
BUSYBOX_COMMANDS = frozenset(
    [
        "sh",
        "ash",
        "sleep",
        "echo",
        "true",
        "false",
        "ls",
        "cat",
        "env",
        "ps",
        "wget",
        "tail",
        "head",
        "sort",
        "touch",
        "rm",
        "rmdir",
        "mkdir",
        "stat",
        "date",
        "hostname",
        "exit",
        "printf",
        "id",
        "test",
        "[",
    ]
)

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_LOOP = re.compile(r"while\s+(?:true|:)\s*;\s*do\s(.*?)\bdone\b", re.DOTALL)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


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


def program_of(image: str, command: tuple[str, ...], args: tuple[str, ...]) -> Program:
    """What a container will do. `command` replaces the image's program, `args` its arguments."""
    default = program_of_image(image)
    if not command:
        if default is SHELL and args:
            return program_of_words(list(args))
        return default
    return program_of_words([*command, *args])


def program_of_words(words: list[str]) -> Program:
    """What a command line does, as process 1."""
    if words[0] in SHELLS and len(words) >= 3 and words[1] == "-c":
        return _script(words[2])
    if words[0] in SHELLS and len(words) == 1:
        return SHELL
    component = COMPONENTS.get(words[0].rsplit("/", 1)[-1])
    if component is not None:
        return component
    if words[0].startswith("/") and words[0].rsplit("/", 1)[-1] not in BUSYBOX_COMMANDS | {"nginx", "pause"}:
        return Program(start_error=f'exec: "{words[0]}": stat {words[0]}: no such file or directory')
    seconds, code = _command(words)
    if seconds is None:
        return RUNS_FOREVER
    return Program(runs_for=seconds, exit_code=code, on_term=None, output=_output(words, 0.0, literal=True))


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def expand(text: str, envs: Mapping[str, str]) -> str:
    """A shell's `$NAME` and `${NAME}`; unset ones are empty. A doubled dollar is a literal one."""
    parts = text.split("$$")
    return "$".join(_VARIABLE.sub(lambda found: envs.get(found[1] or found[2], ""), part) for part in parts)


def _output(words: list[str], after: float, literal: bool = False) -> tuple[Output, ...]:
    """What a command writes. `literal`: no shell stands before it, so a dollar is a dollar."""
    stream = "stdout"
    if words[-1] in (">&2", "1>&2") and not literal:
        words, stream = words[:-1], "stderr"
    elif not literal and any(word.startswith(">") for word in words):
        return ()  # into a file
    name = words[0].rsplit("/", 1)[-1]
    if name == "echo":
        rest = words[2:] if words[1:2] in (["-n"], ["-e"]) else words[1:]
        text = " ".join(rest)
    elif name == "printf" and len(words) > 1:
        text = words[1].encode().decode("unicode_escape").rstrip("\n")
    elif name == "hostname":
        text = "$HOSTNAME"
        literal = False
    else:
        return ()
    return (Output(after, stream, text.replace("$", "$$") if literal else text),)


def run_to_end(words: tuple[str, ...]) -> tuple[float, int]:
    """How long a command takes that can be run, and its exit code: for probes and hooks."""
    program = program_of_words(list(words))
    return (program.runs_for if program.runs_for is not None else 3600.0), program.exit_code


def _script(script: str) -> Program:
    """Commands in a row; `exit` ends the script, `&&` and `||` depend on the one before."""
    elapsed, code = 0.0, 0
    run = True
    output: tuple[Output, ...] = ()
    files: tuple[FileChange, ...] = ()
    loop = _LOOP.search(script)
    if loop is not None:
        before = _script(script[: loop.start()]) if script[: loop.start()].strip(" ;\n") else SHELL
        body = _script(loop[1].strip(" ;\n"))
        start = before.runs_for or 0.0
        said = tuple(replace(line, after=line.after + start) for line in body.output)
        if body.runs_for is not None and not body.exit_code and body.runs_for > 0:
            return Program(on_term=None, output=before.output + said, repeat=body.runs_for, files=before.files)
        return replace(RUNS_FOREVER, on_term=None, output=before.output, files=before.files)
    for part in re.split(r"(;|&&|\|\||\n)", script):
        text = part.strip()
        if text in (";", ""):
            run = run or part.strip() == ";"
            continue
        if text in ("&&", "||"):
            run = (code == 0) == (text == "&&")
            continue
        if not run:
            continue
        if text.startswith("exit"):
            words = text.split()
            code = int(words[1]) if len(words) > 1 and words[1].isdigit() else code
            return Program(runs_for=elapsed, exit_code=code, on_term=None, output=output, files=files)
        if "/dev/zero" in text and text.startswith("tail"):
            return Program(on_term=None, oom=True)
        if text.startswith("while true") or text.startswith("while :"):
            return replace(RUNS_FOREVER, on_term=None)
        words = _words(text)
        seconds, code = _command(words)
        if seconds is None:
            return replace(RUNS_FOREVER, on_term=None, output=output, files=files)
        files += changes_of(words, elapsed)
        output += _output(words, elapsed)
        elapsed += seconds
    return Program(runs_for=elapsed, exit_code=code, on_term=None, output=output, files=files)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text) or ["true"]
    except ValueError:
        return text.split()


def _command(words: list[str]) -> tuple[float | None, int]:
    """Seconds (None: for ever) and exit code of one command."""
    name = words[0].rsplit("/", 1)[-1]
    if name == "sleep" and len(words) > 1:
        found = _SECONDS.fullmatch(words[1])
        return (float(found[1]) * _UNITS[found[2]], 0) if found else (None, 0)
    if name == "false":
        return 0.0, 1
    if name in BUSYBOX_COMMANDS or name in SHELLS:
        return 0.0, 0
    return None, 0
