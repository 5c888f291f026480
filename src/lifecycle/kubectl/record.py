"""`--record`: keep the command on the object it changed, as the annotation that
`rollout history` shows. Deprecated since 1.22.

Upstream: `cli-runtime/pkg/genericclioptions/record_flags.go` (`ChangeCauseRecorder`,
`parseCommandArguments`), v1.36.2.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.flags import Parsed

CHANGE_CAUSE = "kubernetes.io/change-cause"
CLASSIFIED = ("password", "token")


def change_cause(command: str, p: Parsed) -> str:
    """The command as it is recorded: words first, then flags in the order they were
    given, each with its value; secrets left out.
    """
    flags = [
        f"--{name}={'CLASSIFIED' if name in CLASSIFIED else value}"
        for name, value in p.actual
    ]
    return " ".join(["kubectl", command, *p.args, *flags])


def record(obj: Object, command: str, p: Parsed) -> Object:
    """The object with the annotation, if `--record` asks for it; else as it is."""
    if not p["record"]:
        return obj
    metadata = obj.get("metadata") or {}
    annotations = {
        **(metadata.get("annotations") or {}),
        CHANGE_CAUSE: change_cause(command, p),
    }
    return {**obj, "metadata": {**metadata, "annotations": annotations}}
