"""`kubectl label` and `kubectl annotate`: read the object, change one map of its
metadata, send the difference.

`KEY=VALUE` sets, `KEY-` removes. What has another value already is changed only with
`--overwrite`; that is the client's rule, the server knows nothing of it.

Upstream: `kubectl/pkg/cmd/label/label.go` (`RunLabel`, `labelFunc`),
`kubectl/pkg/cmd/annotate/annotate.go` (`RunAnnotate`),
`kubectl/pkg/cmd/util/helpers.go` (`GetResourcesAndPairs`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.api.validation.content import label_value
from lifecycle.client.rest import MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    ALL_NAMESPACES,
    DRY_RUN,
    PRINT,
    RECORD,
    SELECTOR,
    Flag,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.generators.labels_and_env import resources_and_pairs
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import record
from lifecycle.kubectl.resource_args import single_item_implied
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, Info, local_objects, visit


@dataclass(slots=True, frozen=True)
class Kind:
    """What is changed: the command's name, the field of the metadata, and the words for
    it.
    """

    command: str
    field: str
    one: str


LABEL, ANNOTATE = (
    Kind("label", "labels", "label"),
    Kind("annotate", "annotations", "annotation"),
)


def _flags(kind: Kind) -> tuple[Flag, ...]:
    return (
        *PRINT,
        *FILES,
        ALL_NAMESPACES,
        DRY_RUN,
        RECORD,
        flag("overwrite", "bool"),
        flag("list", "bool"),
        flag("all", "bool"),
        SELECTOR,
        flag("field-selector"),
        flag("resource-version"),
        flag("local", "bool"),
        flag("field-manager", default=f"kubectl-{kind.command}"),
    )


async def label(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl label ARGV`."""
    await _change(argv, session, LABEL)


async def annotate(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl annotate ARGV`."""
    await _change(argv, session, ANNOTATE)


def changes(pairs: Sequence[str], kind: Kind) -> tuple[dict[str, str], list[str]]:
    """(what to set, what to remove). Raises CommandError for what is neither, both, or
    no valid label value.
    """
    new_pairs: dict[str, str] = {}
    remove_pairs = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            remove_pairs.append(pair[:-1])
        elif kind is LABEL and "=" in value:
            raise CommandError(f"invalid label spec: {pair}")
        else:
            errs = label_value(value) if kind is LABEL else ()
            if errs:
                raise CommandError(
                    f"invalid label value: {go_quote(pair)}: {';'.join(errs)}"
                )
            new_pairs[key] = value
    if set(remove_pairs) & set(new_pairs):
        article = "a label" if kind is LABEL else "an annotation"
        raise CommandError(
            f"can not both modify and remove {article} in the same command"
        )
    return new_pairs, remove_pairs


async def _change(argv: Sequence[str], session: Session, kind: Kind) -> None:
    p = parse(argv, _flags(kind), kind.command, session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    if kind is ANNOTATE:
        Printer(
            p, dry_run
        )  # here a format is looked at before anything else; labels are changed first
    resources, pairs = resources_and_pairs(p.args, kind.one)
    new_pairs, remove_pairs = changes(pairs, kind)
    _validate(p, resources, bool(new_pairs or remove_pairs), dry_run, kind)
    alone = len(p["filename"]) == 1 if p["filename"] else single_item_implied(resources)
    if p["resource-version"] and not alone:
        raise CommandError("--resource-version may only be used with a single resource")
    errs: list[CommandError | StatusError] = []
    async for info in _infos(p, resources, session):
        try:
            if not isinstance(info, Info):
                raise info
            await _change_one(
                info, new_pairs, remove_pairs, p, dry_run, session, kind, alone=alone
            )
        except (CommandError, StatusError) as error:
            errs.append(error)
    if errs:
        raise several(errs)


async def _infos(
    p: Parsed, resources: Sequence[str], session: Session
) -> AsyncIterator[Info | CommandError | StatusError]:
    if p["local"]:
        for local in local_objects(p, session.stdin):
            yield local
        return
    async for info in visit(session, p, resources, every=p["all"]):
        yield info


def _validate(
    p: Parsed, resources: Sequence[str], anything: bool, dry_run: str, kind: Kind
) -> None:
    if p["list"] and p["output"] and kind is LABEL:
        raise CommandError("--list and --output may not be specified together")
    if p["all"] and p["selector"]:
        raise CommandError("cannot set --all and --selector at the same time")
    if p["all"] and p["field-selector"]:
        raise CommandError("cannot set --all and --field-selector at the same time")
    files = p["filename"] or p["kustomize"]
    if p["local"]:
        if dry_run == "server":
            raise CommandError(
                "cannot specify --local and --dry-run=server - did you mean"
                " --dry-run=client?"
            )
        if not files:
            example = (
                "-f pod.yaml or --filename=pod.json"
                if kind is LABEL
                else "-f rsrc.yaml or --filename=rsrc.json"
            )
            raise CommandError(
                f"can only use local files by {example} when --local=true is set"
            )
    elif not resources and not files:
        raise CommandError(
            "one or more resources must be specified as <resource> <name> or"
            " <resource>/<name>"
        )
    if not anything and not p["list"]:
        raise CommandError(f"at least one {kind.one} update is required")


async def _change_one(
    info: Info,
    new_pairs: dict[str, str],
    remove_pairs: list[str],
    p: Parsed,
    dry_run: str,
    session: Session,
    kind: Kind,
    *,
    alone: bool,
) -> None:
    obj = info.obj
    now = obj["metadata"].get(kind.field) or {}
    sending = dry_run != "client" and not p["list"] and not p["local"]
    if kind is LABEL and sending:
        for key in remove_pairs:
            if key not in now:
                session.print(f"label {go_quote(key)} not found.\n")
    if not p["overwrite"]:
        _check_overwrites(now, new_pairs, kind)
    after = {
        **{key: value for key, value in now.items() if key not in remove_pairs},
        **new_pairs,
    }
    if p["list"]:
        if not alone:
            group = obj["apiVersion"].rpartition("/")[0]
            session.print(
                f"Listing {kind.field} for {obj['kind']}.{group}/{info.name}:\n"
            )
        session.print(
            "".join(
                f"{'' if alone else ' '}{key}={value}\n" for key, value in after.items()
            )
        )
        return
    added = {key for key, value in new_pairs.items() if now.get(key) != value}
    gone = {key for key in remove_pairs if key in now}
    changed = {**obj, "metadata": {**obj["metadata"], kind.field: after}}
    if sending and (added or gone or kind is ANNOTATE):
        changed = await _send(info, changed, now, p, dry_run, session, kind)
    session.print(
        Printer(p, dry_run).text(in_key_order(changed), _operation(added, gone, kind))
    )


async def _send(
    info: Info,
    changed: Object,
    now: dict[str, str],
    p: Parsed,
    dry_run: str,
    session: Session,
    kind: Kind,
) -> Object:
    after = record(changed, kind.command, p)["metadata"]
    metadata: Object = {}
    for field in dict.fromkeys((kind.field, "annotations")):
        before = now if field == kind.field else info.obj["metadata"].get(field) or {}
        new = after.get(field) or {}
        difference: Object = {
            key: value for key, value in new.items() if before.get(key) != value
        }
        difference |= {key: None for key in before if key not in new}
        if difference:
            metadata[field] = difference
    if p["resource-version"]:
        metadata["resourceVersion"] = p["resource-version"]
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": p["field-manager"],
    }
    patch = {"metadata": metadata} if metadata else {}
    return await session.send("PATCH", info.path, query, patch, MERGE_PATCH)


def _check_overwrites(
    now: dict[str, str], new_pairs: dict[str, str], kind: Kind
) -> None:
    taken = [
        f"'{key}' already has a value ({now[key]})"
        for key, value in new_pairs.items()
        if key in now and now[key] != value
    ]
    if not taken:
        return
    if kind is ANNOTATE:
        raise CommandError(
            "--overwrite is false but found the following declared annotation(s):"
            f" {'; '.join(taken)}"
        )
    raise CommandError(
        aggregate([f"{text}, and --overwrite is false" for text in taken])
    )


def _operation(added: set[str], gone: set[str], kind: Kind) -> str:
    if kind is ANNOTATE:
        return "annotated"
    if added and gone:
        return "modified"
    return "labeled" if added else "unlabeled" if gone else "not labeled"
