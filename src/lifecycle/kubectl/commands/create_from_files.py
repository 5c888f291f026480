"""`kubectl create -f FILE`: objects as they stand in files.

Upstream: `kubectl/pkg/cmd/create/create.go` (`RunCreate`, `CreateOptions.Validate`),
v1.36. Left out: `--edit`, `-k`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.raw import check_raw, send_raw
from lifecycle.kubectl.failures import CommandError, UsageError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    RECORD,
    SELECTOR,
    VALIDATE,
    dry_run_strategy,
    flag,
    parse,
    validation_directive,
)
from lifecycle.kubectl.last_applied import modified_configuration
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import record
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, add_source_to_err, visit_by_paths

FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    VALIDATE,
    RECORD,
    flag("save-config", "bool"),
    SELECTOR,
    flag("field-manager", default="kubectl-create"),
    flag("raw"),
    flag("edit", "bool"),
    flag("windows-line-endings", "bool"),
)


async def create_from_files(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl create -f …`. What can be created is, whatever happens to the
    rest.
    """
    p = parse(argv, FLAGS, "create", session.warn)
    if p.args:
        raise UsageError(f"Unexpected args: [{' '.join(p.args)}]", "create")
    if not p["filename"] and not p["kustomize"]:
        raise CommandError("must specify one of -f and -k")
    if p["raw"]:
        check_raw(p, needs_file=True)
    dry_run = dry_run_strategy(p, session.warn)
    directive = validation_directive(p)
    printer = Printer(p, dry_run)
    if p["raw"]:
        await send_raw("POST", p, session)
        return
    errs: list[CommandError | StatusError] = []
    count = 0
    for info in await visit_by_paths(session, p, validate=directive != "Ignore"):
        if isinstance(info, CommandError):
            errs.append(info)
            continue
        obj = modified_configuration(info.obj) if p["save-config"] else info.obj
        obj = in_key_order(record(obj, "create", p))
        try:
            if dry_run != "client":
                with add_source_to_err(info.source, "creating"):
                    obj = await session.create(
                        info.resource,
                        obj,
                        manager=p["field-manager"],
                        dry_run=dry_run,
                        validation=directive,
                        namespace=info.namespace,
                    )
        except StatusError as error:
            errs.append(error)
            continue
        count += 1
        session.print(printer.text(in_key_order(obj), "created"))
    if errs:
        raise several(errs)
    if not count:
        raise CommandError("no objects passed to create")
