"""`kubectl exec`: one command in a container that runs, its streams here.

Upstream: `kubectl/pkg/cmd/exec/exec.go` (`Complete`, `Validate`, `Run`, `SetupTTY`),
`kubectl/pkg/polymorphichelpers/attachablepodforobject.go`, v1.36.2. Left out: the raw
mode of a terminal, so `-t` at one is refused.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import Parsed, flag, parse
from lifecycle.kubectl.pod_containers import (
    all_container_names,
    container_names,
    find_or_default_container,
)
from lifecycle.kubectl.pods_of import active_first, pods_of
from lifecycle.kubectl.remote_command import LocalStreams, run_remote_command
from lifecycle.kubectl.resource_args import resource_names
from lifecycle.kubectl.session import Session, Writer
from lifecycle.kubectl.standard_input import standard_input
from lifecycle.kubectl.visitor import Info, visit

FLAGS = (
    flag("pod-running-timeout", "duration", 60.0),
    flag("filename", "slice", short="f"),
    flag("container", short="c"),
    flag("stdin", "bool", short="i"),
    flag("tty", "bool", short="t"),
    flag("quiet", "bool", short="q"),
)


async def exec_command(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl exec ARGV`. Raises CodeExitError for a command that fails."""
    p = parse(argv, FLAGS, "exec", session.warn)
    name = p.args[0] if p.args and p.dash != 0 else ""
    command = p.args[p.dash :] if p.dash >= 0 else []
    if p.dash < 0 and len(p.args) > (0 if p["filename"] else 1):
        raise UsageError(
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND]"
            " instead",
            "exec",
        )
    if p["pod-running-timeout"] <= 0:
        raise UsageError("--pod-running-timeout must be higher than zero", "exec")
    if not name and not p["filename"]:
        raise CommandError("pod, type/name or --filename must be specified")
    if not command:
        raise CommandError("you must specify at least one command for the container")
    pod = await _attachable_pod(await _object(p, name, session), p, session)
    phase = (pod.get("status") or {}).get("phase", "")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(
            f"cannot exec into a container in a completed pod; current phase is {phase}"
        )
    await _run(pod, _container(pod, p, session), command, p, session)


async def _object(p: Parsed, name: str, session: Session) -> Object:
    objects = []
    args = resource_names("pods", [name]) if name else []
    async for info in visit(session, p, args, latest=False):
        if not isinstance(info, Info):
            raise info
        objects.append(info.obj)
    if len(objects) != 1:
        raise CommandError("cannot exec into multiple objects at a time")
    return objects[0]


async def _attachable_pod(obj: Object, p: Parsed, session: Session) -> Object:
    """The pod itself, or the best of those behind an object. Raises CommandError."""
    if obj["kind"] == "Pod":
        return obj
    try:
        pods = await pods_of(obj, p["pod-running-timeout"], active_first, session)
    except CommandError as error:
        if "not implemented" not in str(error) and "invalid" not in str(error):
            raise
        version = obj["apiVersion"].rpartition("/")[2]
        raise CommandError(
            f"cannot attach to *{version}.{obj['kind']}: {error}"
        ) from None
    return pods[0]


def _container(pod: Object, p: Parsed, session: Session) -> str:
    container = str(p["container"])
    if not container:
        return find_or_default_container(pod, "", session, quiet=p["quiet"])
    if container not in container_names(pod):
        raise CommandError(
            f"container {container} is not valid for pod {pod['metadata']['name']} out"
            f" of: {all_container_names(pod)}"
        )
    return container


async def _run(
    pod: Object, container: str, command: list[str], p: Parsed, session: Session
) -> None:
    if p["stdin"] and p["tty"]:
        if session.stdin.isatty():
            raise CommandError("-t is not built into this kubectl; -i is")
        if not p["quiet"]:
            session.warn(
                "Unable to use a TTY - input is not a terminal or the right kind of"
                " file\n"
            )
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    stdout, stderr = _Text(session.out), _Text(session.err)
    try:
        await run_remote_command(
            session,
            f"/api/v1/namespaces/{namespace}/pods/{name}/exec",
            {
                "command": command,
                "container": container,
                "stderr": "true",
                "stdin": "true" if p["stdin"] else "",
                "stdout": "true",
            },
            LocalStreams(
                standard_input(session.stdin) if p["stdin"] else None,
                stdout.write,
                stderr.write,
            ),
        )
    finally:
        stdout.end()
        stderr.end()


class _Text:
    """Bytes to where text goes; as they are, if that is a file. A letter may come in
    two pieces.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._file = getattr(writer, "buffer", None)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def write(self, data: bytes) -> None:
        if self._file is not None:
            self._flush()
            self._file.write(data)
            self._file.flush()
            return
        self._write(self._decode(data))

    def end(self) -> None:
        self._write(self._decode(b"", True))

    def _write(self, text: str) -> None:
        if text:
            self._writer.write(text)
            self._flush()

    def _flush(self) -> None:
        flush: Callable[[], object] | None = getattr(self._writer, "flush", None)
        if flush is not None:
            flush()
