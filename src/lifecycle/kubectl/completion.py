"""What a word that is being typed could become.

Commands and flags are known; types and names the server is asked for. What the server
does not want to say is simply not offered.

Upstream: `spf13/cobra/completions.go` (`getCompletions`),
`kubectl/pkg/util/completion/completion.go` (`ResourceTypeAndNameCompletionFunc`,
`CompGetResource`), v1.36.2. Left out: names from files, contexts of a kubeconfig.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from io import StringIO

from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.kubectl.command import COMMANDS, GROUPS, namespace_override
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import COMMON, ErrHelp, Flag, word_positions
from lifecycle.kubectl.help import words_below
from lifecycle.kubectl.pod_containers import container_names
from lifecycle.kubectl.session import Session

TYPE_THEN_NAMES = frozenset({"get", "describe", "delete", "label", "annotate", "taint"})
TYPE_THEN_NAME = frozenset({"expose", "scale", "set image", "explain", "patch"})
POD_RESOURCES = (
    *("daemonsets", "deployments", "pods", "jobs", "replicasets"),
    *("replicationcontrollers", "services", "statefulsets"),
)
"""What has pods, for commands that are about a pod. Upstream:
`completion.PodResourceNameCompletionFunc`.
"""
ABOUT_A_POD = frozenset({"exec", "logs"})
NAMES_OF = {"cordon": "nodes", "drain": "nodes", "uncordon": "nodes"}
"""Commands that are about objects of one type, which is not named."""
ROLLING = ("deployment", "daemonset", "statefulset")
"""What `rollout` is about."""

FORMATS = (
    *("custom-columns", "custom-columns-file", "go-template", "go-template-file"),
    *("json", "jsonpath", "jsonpath-as-json", "jsonpath-file", "kyaml", "name"),
    *("template", "wide", "yaml"),
)


async def complete(words: Sequence[str], last: str, client: Client) -> list[str]:
    """Whole words that may stand for `last`, after `words` (without the program's
    name), in order. Nothing is raised: what is unknown has no completion.
    """
    session = Session(client, StringIO(), StringIO(), namespace_override(words))
    with contextlib.suppress(CommandError, StatusError, ConnectionError):
        found = await _candidates(list(words), last, session)
        return sorted({word for word in found if word.startswith(last)})
    return []


async def _candidates(words: list[str], last: str, session: Session) -> list[str]:
    if words and words[-1] in ("-n", "--namespace"):
        return await _names("namespaces", session)
    if words and words[-1] in ("-o", "--output"):
        return list(FORMATS)
    typed = [words[i] for i in word_positions(words)]
    if not typed:
        return [*words_below(""), "help"]
    path, args = _command(typed)
    if path in GROUPS or (path == "create" and not args):
        return words_below(path)
    if last.startswith("-"):
        return await _flags(path, session)
    return await _arguments(path, args, last, session)


def _command(typed: list[str]) -> tuple[str, list[str]]:
    """The longest command that begins a line, and what comes after it."""
    path = typed[0]
    rest = typed[1:]
    while rest and rest[0] in words_below(path):
        path, rest = f"{path} {rest[0]}", rest[1:]
    return path, rest


async def _flags(path: str, session: Session) -> list[str]:
    """All flags of a command, as it says itself when it is asked for help."""
    command, *below = path.split(" ")
    flags: tuple[Flag, ...] = ()
    if command in COMMANDS:
        try:
            await COMMANDS[command]([*below, "--help"], session)
        except ErrHelp as asked:
            flags = asked.flags
    return [f"--{flag.name}" for flag in (*flags, *COMMON) if not flag.deprecated]


async def _arguments(
    path: str, args: list[str], last: str, session: Session
) -> list[str]:
    if path.startswith("rollout "):
        if not args and "/" not in last:
            return list(ROLLING)
    elif path == "taint" and not args:
        return ["node"]
    elif path in NAMES_OF and "/" not in last:
        names = await _names(NAMES_OF[path], session)
        return [name for name in names if name not in args]
    elif path in ABOUT_A_POD:
        return await _pod_resources(path, args, last, session)
    elif path not in TYPE_THEN_NAMES | TYPE_THEN_NAME:
        return []
    if "/" in last:
        kind = last.partition("/")[0]
        return [f"{kind}/{name}" for name in await _names(kind, session)]
    if not args:
        return await _types(session)
    if "/" in args[0] or (path in TYPE_THEN_NAME and len(args) > 1):
        return []
    return [name for name in await _names(args[0], session) if name not in args[1:]]


async def _pod_resources(
    path: str, args: list[str], last: str, session: Session
) -> list[str]:
    """A pod, or what has pods; after it, one of the pod's containers for `logs`."""
    if not args and "/" in last:
        kind = last.partition("/")[0]
        if kind not in POD_RESOURCES:
            return []
        return [f"{kind}/{name}" for name in await _names(kind, session)]
    if not args:
        return [
            *await _names("pods", session),
            *(f"{kind}/" for kind in POD_RESOURCES),
        ]
    if path == "logs" and len(args) == 1 and "/" not in args[0]:
        pods = await session.resource_for("pods")
        pod = await session.send("GET", pods.path(session.namespace, args[0]))
        return container_names(pod)
    return []


async def _types(session: Session) -> list[str]:
    """Every type that can be had, as `kubectl api-resources -o name` prints it."""
    mapper = await session.mapper()
    return [
        f"{each.plural}.{each.group}" if each.group else each.plural
        for each in mapper.resources
        if "get" in each.verbs
    ]


async def _names(kind: str, session: Session) -> list[str]:
    resource = await session.resource_for(kind)
    namespace = session.namespace if resource.namespaced else ""
    answer = await session.client.list(resource, namespace)
    return [each["metadata"]["name"] for each in answer.get("items") or ()]
