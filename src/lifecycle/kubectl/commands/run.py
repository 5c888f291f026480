"""`kubectl run NAME --image=IMAGE [--expose --port=PORT]`.

Upstream: `kubectl/pkg/cmd/run/run.go` (`RunOptions.Run`, `createGeneratedObject`,
`generateService`), v1.36. Left out: attaching, which is
refused before anything is created.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.commands.delete import PROPAGATION, bad_cascade
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    Parsed,
    dry_run_strategy,
    flag,
    generated,
    parse,
)
from lifecycle.kubectl.generators.labels_and_env import (
    parse_envs,
    parse_labels,
    parse_pairs,
)
from lifecycle.kubectl.generators.overrides import overridden
from lifecycle.kubectl.generators.run import (
    PULL_POLICIES,
    RESTART_POLICIES,
    check_image,
    run_pod,
    run_service,
)
from lifecycle.kubectl.last_applied import create_apply_annotation
from lifecycle.kubectl.printers import Printer, typed
from lifecycle.kubectl.record import record
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES

FLAGS = (
    *PRINT,
    DRY_RUN,
    flag("annotations", "array"),
    flag("image", required=True),
    flag("image-pull-policy"),
    flag("rm", "bool"),
    flag("env", "array"),
    flag("port"),
    flag("labels", short="l"),
    flag("stdin", "bool", short="i"),
    flag("tty", "bool", short="t"),
    flag("attach", "bool"),
    flag("detach-keys", default="ctrl-p,ctrl-q"),
    flag("pod-running-timeout", "duration", 60.0),
    flag("leave-stdin-open", "bool"),
    flag("restart", default="Always"),
    flag("command", "bool"),
    flag("expose", "bool"),
    flag("quiet", "bool", short="q"),
    flag("privileged", "bool"),
    *generated("run"),
    *FILES,
    flag("grace-period", "int", -1),
    flag("cascade", default="background", bare="background"),
    flag("force", "bool"),
    flag("wait", "bool"),
    flag("timeout", "duration"),
)


async def run(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl run ARGV`. Everything that can be refused locally is, before the
    first request.
    """
    p = parse(argv, FLAGS, "run", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    printer = Printer(p, dry_run)
    _validate(p, dry_run)
    name = p.args[0]
    if not name:
        raise CommandError("Parameter: name is required")
    if _attaches(p):
        raise CommandError(
            "this kubectl cannot attach to a container, so nothing was created;"
            " without --attach, --stdin and --rm it creates the pod"
        )
    labels = parse_labels(p["labels"]) if p["labels"] else None
    pod = run_pod(
        name,
        p["image"],
        args=p.args[1:],
        command=p["command"],
        labels=labels,
        annotations=parse_pairs(p["annotations"], "annotations"),
        env=parse_envs(p["env"]),
        port=p["port"],
        restart=p["restart"],
        image_pull_policy=p["image-pull-policy"],
        stdin=p["stdin"],
        leave_stdin_open=p["leave-stdin-open"],
        tty=p["tty"],
        privileged=p["privileged"],
    )
    pod = record(pod, "run", p)
    pod = await _create(
        overridden(typed(pod), p["overrides"], p["override-type"]), session, p, dry_run
    )
    if p["expose"]:
        service = await _create(
            typed(run_service(name, p["port"], labels)), session, p, dry_run
        )
        session.print(printer.text(service, "created"))
        if printer.format == "yaml":
            session.print("---\n")
    session.print(printer.text(pod, "created"))


def _validate(p: Parsed, dry_run: str) -> None:
    if not p.args:
        raise UsageError("NAME is required for run", "run")
    if p["cascade"] not in PROPAGATION:
        raise bad_cascade(p["cascade"])
    if not p["image"]:
        raise CommandError("--image is required")
    check_image(p["image"])
    if p["pod-running-timeout"] <= 0:
        raise UsageError("--pod-running-timeout must be higher than zero", "run")
    if p["tty"] and not p["stdin"]:
        raise UsageError(
            "-i/--stdin is required for containers with -t/--tty=true", "run"
        )
    if p["expose"] and not p["port"]:
        raise UsageError("--port must be set when exposing a service", "run")
    if p["restart"] and p["restart"] not in RESTART_POLICIES:
        raise UsageError(f"invalid restart policy: {p['restart']}", "run")
    if p["rm"] and not _attaches(p):
        raise UsageError("--rm should only be used for attached containers", "run")
    if _attaches(p) and dry_run != "none":
        message = (
            "--dry-run=[server|client] can't be used with attached containers options"
            " (--attach, --stdin, or --tty)"
        )
        raise UsageError(message, "run")
    if p["image-pull-policy"] and p["image-pull-policy"] not in PULL_POLICIES:
        raise UsageError(f"invalid image pull policy: {p['image-pull-policy']}", "run")


def _attaches(p: Parsed) -> bool:
    """Whether the new container's streams are asked for."""
    return bool(p["attach"] or (p["stdin"] and "attach" not in p.changed))


async def _create(obj: Object, session: Session, p: Parsed, dry_run: str) -> Object:
    resource = await session.resource_for_kind(obj["apiVersion"], obj["kind"])
    if dry_run == "client":
        if session.explicit_namespace:
            obj = {
                **obj,
                "metadata": {**obj["metadata"], "namespace": session.namespace},
            }
        return typed(obj)
    if p["save-config"]:
        obj = create_apply_annotation(obj)
    actual_object = await session.create(
        resource,
        obj,
        manager=p["field-manager"],
        dry_run=dry_run,
        accept=JSON_OR_ANYTHING,
    )
    return typed(actual_object)
