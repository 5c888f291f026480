"""`--record`: keep the command on the object it changed, as the annotation that `rollout history` shows. Deprecated since 1.22.

Upstream: `cli-runtime/pkg/genericclioptions/record_flags.go` (`ChangeCauseRecorder`, `parseCommandArguments`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.wire import Object
from lifecycle.kubectl.flags import Flag, Parsed, flag

CHANGE_CAUSE = "kubernetes.io/change-cause"
DEPRECATED = "Flag --record has been deprecated, --record will be removed in the future\n"
CLASSIFIED = ("password", "token")
RECORD: Flag = flag("record", "bool")


def announce(p: Parsed, warn: Callable[[str], object]) -> None:
    """Say that the flag is on its way out, if it was given."""
    if "record" in p.changed:
        warn(DEPRECATED)


def change_cause(command: str, p: Parsed) -> str:
    """The command as it is recorded: words first, then flags in the order they were given, each with its value; secrets left out."""
    flags = []
    for name in p.changed:
        values = p[name] if isinstance(p[name], tuple) else (p[name],)
        for value in values:
            shown = "CLASSIFIED" if name in CLASSIFIED else str(value).lower() if isinstance(value, bool) else value
            flags.append(f"--{name}={shown}")
    return " ".join(["kubectl", command, *p.args, *flags])


def recorded(obj: Object, command: str, p: Parsed) -> Object:
    """The object with the annotation, if `--record` asks for it; else as it is."""
    if not p["record"]:
        return obj
    metadata = obj.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), CHANGE_CAUSE: change_cause(command, p)}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}
