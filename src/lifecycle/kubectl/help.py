"""`--help`: what a command takes. The text is this kubectl's own; the real one's is longer.

Upstream: `kubectl/pkg/util/templates/templater.go`, v1.36.2. Left out: examples, long descriptions.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.kubectl.flags import COMMON, Flag

ABOUT = {
    "annotate": "Change the annotations of objects: KEY=VALUE sets, KEY- removes",
    "api-resources": "List the types of objects that the server knows",
    "api-versions": "List the groups and versions that the server knows",
    "apply": "Make objects be what a file says",
    "config": "Look at kubeconfig files, and change them",
    "create": "Make an object from a file or from flags",
    "delete": "Delete objects",
    "expose": "Put a Service in front of a workload, a pod or another Service",
    "get": "Show objects",
    "label": "Change the labels of objects: KEY=VALUE sets, KEY- removes",
    "rollout": "Watch, undo, restart, pause and resume what a workload rolls out",
    "run": "Run an image in a pod",
    "scale": "Change how many replicas a workload has",
    "set": "Change one thing in an object: set image",
    "version": "Show the versions of client and server",
}


def general_help() -> str:
    """All commands, a line each."""
    width = max(map(len, ABOUT)) + 2
    lines = [f"  {name:{width}}{text}\n" for name, text in sorted(ABOUT.items())]
    return (
        "This kubectl is part of a book about Kubernetes. It knows these commands:\n\n"
        + "".join(lines)
        + '\nUse "kubectl <command> --help" for what a command takes.\n'
    )


def command_help(command: str, flags: Iterable[Flag]) -> str:
    """What one command takes."""
    lines = [f"{ABOUT.get(command.split()[0], command)}.\n\nUsage:\n  kubectl {command} [NAME …] [flags]\n\nFlags:\n"]
    lines += [_flag(each) for each in sorted(flags, key=lambda each: each.name)]
    lines.append("\nFlags of every command:\n")
    lines += [_flag(each) for each in sorted(COMMON, key=lambda each: each.name)]
    return "".join(lines)


def _flag(spec: Flag) -> str:
    short = f"-{spec.short}, " if spec.short else "    "
    default = {"string": f"'{spec.default}'", "bool": str(spec.default).lower(), "slice": "[]", "array": "[]"}
    many = " (may be repeated)" if spec.kind in ("slice", "array") else ""
    return f"    {short}--{spec.name}={default.get(spec.kind, spec.default)}{many}\n"
