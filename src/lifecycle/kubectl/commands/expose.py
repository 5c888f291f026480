"""`kubectl expose TYPE NAME --port=PORT`.

Upstream: `kubectl/pkg/cmd/expose/expose.go` (`RunExpose`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    Parsed,
    dry_run_strategy,
    flag,
    generated,
    parse,
)
from lifecycle.kubectl.generators.expose import (
    EXPOSABLE,
    map_based_selector_for_object,
    multi_protocols_for_object,
    service,
)
from lifecycle.kubectl.generators.labels_and_env import parse_labels
from lifecycle.kubectl.generators.overrides import overridden
from lifecycle.kubectl.last_applied import create_apply_annotation
from lifecycle.kubectl.printers import Printer, typed
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import record
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Info, visit

FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    *(
        flag(n)
        for n in (
            "protocol",
            "port",
            "type",
            "load-balancer-ip",
            "selector",
            "target-port",
            "external-ip",
            "name",
        )
    ),
    flag("labels", short="l"),
    flag("session-affinity"),
    flag("cluster-ip"),
    *generated("expose"),
)


async def expose(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl expose ARGV`."""
    p = parse(argv, FLAGS, "expose", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    printer = Printer(p, dry_run)
    errs: list[CommandError | StatusError] = []
    async for info in visit(
        session, p, p.args, accept=JSON_OR_ANYTHING, latest=False, selecting=False
    ):
        if not isinstance(info, Info):
            errs.append(info)
            continue
        try:
            service = await _exposed(info, p, dry_run, session)
        except (CommandError, StatusError) as error:
            errs.append(error)
            continue
        session.print(printer.text(service, "exposed"))
    if errs:
        raise several(errs)


async def _exposed(info: Info, p: Parsed, dry_run: str, session: Session) -> Object:
    resource = info.resource
    if (resource.group, resource.kind) not in EXPOSABLE:
        group_kind = (
            f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        )
        raise CommandError(f"cannot expose a {group_kind}")
    generated_service = overridden(
        typed(_service_for(info.obj, p)), p["overrides"], p["override-type"]
    )
    service = record(typed(generated_service), "expose", p)
    if dry_run == "client":
        if session.explicit_namespace:
            service = {
                **service,
                "metadata": {**service["metadata"], "namespace": session.namespace},
            }
        return typed(service)
    if p["save-config"]:
        service = create_apply_annotation(service)
    services: Resource = await session.resource_for_kind("v1", "Service")
    return typed(
        await session.create(
            services,
            in_key_order(service),
            manager=p["field-manager"],
            dry_run=dry_run,
            accept=JSON_OR_ANYTHING,
        )
    )


def _service_for(obj: Object, p: Parsed) -> Object:
    selector = (
        parse_labels(p["selector"])
        if p["selector"]
        else map_based_selector_for_object(obj)
    )
    known = multi_protocols_for_object(obj)
    ports = p["port"].split(",") if p["port"] else list(known)
    if not ports and p["cluster-ip"] != "None":
        raise CommandError("couldn't find port via --port flag or introspection")
    labels = parse_labels(p["labels"]) if p["labels"] else obj["metadata"].get("labels")
    return service(
        p["name"] or obj["metadata"]["name"][:63],
        selector,
        ports,
        labels=labels,
        protocol=p["protocol"],
        protocols=known,
        target_port=p["target-port"],
        type_=p["type"],
        external_ip=p["external-ip"],
        load_balancer_ip=p["load-balancer-ip"],
        session_affinity=p["session-affinity"],
        cluster_ip=p["cluster-ip"],
    )
