"""`kubectl set image TYPE/NAME CONTAINER=IMAGE…`: a strategic merge patch that names
one container by its key.

Upstream: `kubectl/pkg/cmd/set/set_image.go`, `helper.go` (`CalculatePatches`),
`kubectl/pkg/polymorphichelpers/updatepodspec.go` (`updatePodSpecForObject`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    RECORD,
    SELECTOR,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.generators.labels_and_env import parse_pairs, resources_and_pairs
from lifecycle.kubectl.manifests import check_paths
from lifecycle.kubectl.printers import Printer, typed
from lifecycle.kubectl.record import CHANGE_CAUSE, change_cause, record
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Info, local_objects, visit

FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    RECORD,
    flag("field-manager", default="kubectl-set"),
    flag("all", "bool"),
    flag("local", "bool"),
    SELECTOR,
)
LOCAL_ONLY = (
    "error: you must specify resources by --filename when --local is set.\nExample"
    " resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'"
)


async def set_image(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl set image ARGV`."""
    p = parse(argv, FLAGS, "set image", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    printer = Printer(p, dry_run)
    resources, pairs = resources_and_pairs(p.args, "image")
    images = parse_pairs(pairs, "image")
    infos = await _infos(p, resources, session)
    _validate(p, resources, images, dry_run)
    errs: list[CommandError | StatusError] = []
    for info in infos:
        try:
            patch, unknown = image_patch(info.obj, images)
        except CommandError as error:
            errs.append(
                CommandError(f"error: {info.resource.plural}/{info.name} {error}\n")
            )
            continue
        errs += [
            CommandError(f"error: unable to find container named {go_quote(name)}")
            for name in unknown
        ]
        if not patch and not p["record"]:
            continue
        if p["local"] or dry_run == "client":
            actual = typed(record(with_images(info.obj, images), "set image", p))
        else:
            try:
                actual = await _send(info, patch, p, dry_run, session)
            except StatusError as error:
                errs.append(
                    CommandError(
                        f"failed to patch image update to pod template: {error.message}"
                    )
                )
                continue
        session.print(printer.text(actual, "image updated"))
    if errs:
        raise several(errs)


async def _infos(p: Parsed, resources: Sequence[str], session: Session) -> list[Info]:
    """The objects; if one of them cannot be had, none is changed."""
    if p["local"]:
        if resources:
            raise CommandError(LOCAL_ONLY)
        return local_objects(p, session.stdin)
    check_paths(p["filename"], recursive=p["recursive"])
    infos: list[Info] = []
    errs: list[CommandError | StatusError] = []
    async for info in visit(
        session, p, resources, accept=JSON_OR_ANYTHING, every=p["all"]
    ):
        if isinstance(info, Info):
            infos.append(info)
        else:
            errs.append(info)
    if errs:
        raise several(errs)
    return infos


def _validate(
    p: Parsed, resources: Sequence[str], images: dict[str, str], dry_run: str
) -> None:
    errs: list[CommandError | StatusError] = []
    if p["all"] and p["selector"]:
        errs.append(CommandError("cannot set --all and --selector at the same time"))
    if not resources and not p["filename"] and not p["kustomize"]:
        message = (
            "one or more resources must be specified as <resource> <name> or"
            " <resource>/<name>"
        )
        errs.append(CommandError(message))
    if not images:
        errs.append(CommandError("at least one image update is required"))
    elif len(images) > 1 and "*" in images:
        message = (
            "all containers are already specified by *, but saw more than one"
            " container_name=container_image pairs"
        )
        errs.append(CommandError(message))
    if p["local"] and dry_run == "server":
        errs.append(
            CommandError(
                "cannot specify --local and --dry-run=server - did you mean"
                " --dry-run=client?"
            )
        )
    if errs:
        raise several(errs)


async def _send(
    info: Info, patch: Object, p: Parsed, dry_run: str, session: Session
) -> Object:
    if p["record"]:
        patch = {
            "metadata": {"annotations": {CHANGE_CAUSE: change_cause("set image", p)}},
            **patch,
        }
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": p["field-manager"],
    }
    return typed(
        await session.send(
            "PATCH",
            info.path,
            query,
            patch,
            STRATEGIC_MERGE_PATCH,
            accept=JSON_OR_ANYTHING,
        )
    )


def _way_to_pod_spec(obj: Object) -> tuple[str, ...]:
    """Where the pod's spec is in an object. Raises CommandError for an object that has
    none.
    """
    if obj["kind"] == "Pod":
        return ("spec",)
    if obj["kind"] == "CronJob":
        return ("spec", "jobTemplate", "spec", "template", "spec")
    if ((obj.get("spec") or {}).get("template") or {}).get("spec") is not None:
        return ("spec", "template", "spec")
    version = obj["apiVersion"].rpartition("/")[2]
    raise CommandError(
        "the object is not a pod or does not have a pod template:"
        f" *{version}.{obj['kind']}"
    )


def _resolved_image(container: Object, images: dict[str, str]) -> str:
    return str(
        images.get(container["name"], images.get("*", container.get("image", "")))
    )


def image_patch(obj: Object, images: dict[str, str]) -> tuple[Object, list[str]]:
    """(the patch that gives containers (`*`: all) their new images, empty if they have
    them; names that no container has).
    """
    way = _way_to_pod_spec(obj)
    pod: Any = obj
    for key in way:
        pod = pod[key]
    part: dict[str, Any] = {}
    unknown = sorted(name for name in images if name != "*")
    for field in ("containers", "initContainers"):
        containers = pod.get(field) or []
        unknown = [
            name for name in unknown if name not in {c["name"] for c in containers}
        ]
        changed = [
            {"image": _resolved_image(c, images), "name": c["name"]}
            for c in containers
            if _resolved_image(c, images) != c.get("image")
        ]
        if changed:
            part[f"$setElementOrder/{field}"] = [
                {"name": c["name"]} for c in containers
            ]
            part[field] = changed
    if not part:
        return {}, unknown
    for key in reversed(way):
        part = {key: part}
    return part, unknown


def with_images(obj: Object, images: dict[str, str]) -> Object:
    """The object as it would be."""
    return _inside(obj, _way_to_pod_spec(obj), images)


def _inside(value: Object, way: Sequence[str], images: dict[str, str]) -> Object:
    if way:
        return {**value, way[0]: _inside(value[way[0]], way[1:], images)}
    changed = {
        field: [{**c, "image": _resolved_image(c, images)} for c in value[field]]
        for field in ("containers", "initContainers")
        if value.get(field)
    }
    return {**value, **changed}
