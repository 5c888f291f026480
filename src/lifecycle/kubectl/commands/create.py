"""`kubectl create …`: one subcommand for each generator, and `create -f`.

Upstream: `kubectl/pkg/cmd/create/create.go` (`NameFromCommandArgs`,
`CreateSubcommandOptions.Run`) and its `create_*.go`, v1.36. `create deployment` and
`create service` never look at discovery: they are compiled against typed clients, and
say so in their errors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.create_from_files import create_from_files
from lifecycle.kubectl.commands.create_rbac import (
    CLUSTER_ROLE_FLAGS,
    ROLE_FLAGS,
    role_object,
)
from lifecycle.kubectl.commands.create_token import create_token
from lifecycle.kubectl.failures import CommandError, ConnectionFailed, UsageError
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    VALIDATE,
    Flag,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
    validation_directive,
    word_positions,
)
from lifecycle.kubectl.generators import (
    create_configmap,
    create_deployment,
    create_ingress,
    create_job,
    create_namespace,
    create_pdb,
    create_priorityclass,
    create_quota,
    create_rbac,
    create_secret,
)
from lifecycle.kubectl.generators.create_service import create_service
from lifecycle.kubectl.last_applied import create_apply_annotation
from lifecycle.kubectl.printers import Printer, typed
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

Make = Callable[[str, Parsed, Session], Awaitable[Object]]
COMMON = (
    *PRINT,
    DRY_RUN,
    flag("save-config", "bool"),
    VALIDATE,
    flag("field-manager", default="kubectl-create"),
)


@dataclass(slots=True, frozen=True)
class Subcommand:
    """A subcommand: its flags and how it makes its object. `wraps` goes before the
    error of a refused request (typed clients only).

    `nameless`: an empty name is refused by the server only.
    """

    flags: Sequence[Flag]
    make: Make
    wraps: str = ""
    nameless: bool = False


def _plain(make: Callable[[str, Parsed], Object]) -> Make:
    async def make_object(name: str, p: Parsed, session: Session) -> Object:
        return make(name, p)

    return make_object


def _deployment(name: str, p: Parsed) -> Object:
    command = p.args[1:]
    if len(p["image"]) > 1 and command:
        raise CommandError("cannot specify multiple --image options and command")
    return create_deployment.create_deployment(
        name, p["image"], command=command, replicas=p["replicas"], port=p["port"]
    )


async def _job(name: str, p: Parsed, session: Session) -> Object:
    if bool(p["image"]) == bool(p["from"]):
        raise CommandError("either --image or --from must be specified")
    if not p["from"]:
        return create_job.create_job(name, p["image"], p.args[1:])
    if p.args[1:]:
        raise CommandError("cannot specify --from and command")
    [target, *more] = await session.targets([p["from"]])
    if not target.name:
        raise CommandError("resource(s) were provided, but no name was specified")
    if more:
        raise CommandError("from must be an existing cronjob")
    cron_job = await session.get(
        target.resource.path(session.namespace, target.name), accept=JSON_OR_ANYTHING
    )
    if cron_job.get("kind") != "CronJob":
        raise CommandError(
            f"unknown object type *{target.resource.version}.{cron_job.get('kind')}"
        )
    return create_job.create_job_from_cronjob(name, cron_job)


def _cronjob(name: str, p: Parsed) -> Object:
    return create_job.create_cronjob(
        name, p["image"], p["schedule"], p.args[1:], p["restart"] or "OnFailure"
    )


def _binding(name: str, p: Parsed, cluster: bool) -> Object:
    role = "" if cluster else p["role"]
    if not cluster and bool(role) == bool(p["clusterrole"]):
        raise CommandError("exactly one of clusterrole or role must be specified")
    return create_rbac.create_rolebinding(
        name,
        role=role,
        cluster_role=p["clusterrole"],
        users=p["user"],
        groups=p["group"],
        service_accounts=p["serviceaccount"],
        cluster=cluster,
    )


def _docker(name: str, p: Parsed) -> Object:
    if not p["from-file"] and not all(
        p[part] for part in ("docker-username", "docker-password", "docker-server")
    ):
        raise CommandError(
            "either --from-file or the combination of --docker-username,"
            " --docker-password and --docker-server is required"
        )
    return create_secret.create_secret_docker(
        name,
        p["docker-server"],
        p["docker-username"],
        p["docker-password"],
        p["docker-email"],
        files=p["from-file"],
        append_hash=p["append-hash"],
    )


def _service(type_: str) -> Make:
    return _plain(
        lambda name, p: create_service(
            name,
            type_,
            p["tcp"],
            cluster_ip=p.values.get("clusterip", ""),
            node_port=p.values.get("node-port", 0),
            external_name=p.values.get("external-name", ""),
        )
    )


TCP = flag("tcp", "slice")
HASH = flag("append-hash", "bool")
SOURCES = (
    flag("from-literal", "array"),
    flag("from-file", "slice"),
    flag("from-env-file", "slice"),
    HASH,
)
SUBJECTS = (
    flag("user", "array"),
    flag("group", "array"),
    flag("serviceaccount", "array"),
)
IMAGE = flag("image", required=True)
DOCKER = tuple(flag(f"docker-{part}") for part in ("username", "password", "email"))

SUBCOMMANDS: dict[str, Subcommand] = {
    "deployment": Subcommand(
        (
            flag("image", "slice", required=True),
            flag("port", "int32", -1),
            flag("replicas", "int32", 1, short="r"),
        ),
        _plain(_deployment),
        "failed to create deployment: ",
        nameless=True,
    ),
    "service clusterip": Subcommand(
        (TCP, flag("clusterip")),
        _service("ClusterIP"),
        "failed to create ClusterIP service: ",
        nameless=True,
    ),
    "service nodeport": Subcommand(
        (TCP, flag("node-port", "int")),
        _service("NodePort"),
        "failed to create NodePort service: ",
        nameless=True,
    ),
    "service loadbalancer": Subcommand(
        (TCP,),
        _service("LoadBalancer"),
        "failed to create LoadBalancer service: ",
        nameless=True,
    ),
    "service externalname": Subcommand(
        (TCP, flag("external-name", required=True)),
        _service("ExternalName"),
        "failed to create ExternalName service: ",
        nameless=True,
    ),
    "configmap": Subcommand(
        SOURCES,
        _plain(
            lambda n, p: create_configmap.create_configmap(
                n,
                p["from-literal"],
                p["from-file"],
                p["from-env-file"],
                append_hash=p["append-hash"],
            )
        ),
        "failed to create configmap: ",
    ),
    "secret generic": Subcommand(
        (*SOURCES, flag("type")),
        _plain(
            lambda n, p: create_secret.create_secret_generic(
                n,
                p["from-literal"],
                p["from-file"],
                p["from-env-file"],
                p["type"],
                append_hash=p["append-hash"],
            )
        ),
        "failed to create secret ",
    ),
    "secret docker-registry": Subcommand(
        (
            *DOCKER,
            flag("docker-server", default="https://index.docker.io/v1/"),
            flag("from-file", "slice"),
            HASH,
        ),
        _plain(_docker),
        "failed to create secret ",
    ),
    "secret tls": Subcommand(
        (flag("cert"), flag("key"), HASH),
        _plain(
            lambda n, p: create_secret.create_secret_tls(
                n, p["cert"], p["key"], append_hash=p["append-hash"]
            )
        ),
        "failed to create secret ",
        nameless=True,
    ),
    "namespace": Subcommand(
        (), _plain(lambda n, p: create_namespace.create_namespace(n))
    ),
    "serviceaccount": Subcommand(
        (),
        _plain(lambda n, p: create_namespace.create_serviceaccount(n)),
        "failed to create serviceaccount: ",
    ),
    "quota": Subcommand(
        (flag("hard"), flag("scopes")),
        _plain(lambda n, p: create_quota.create_quota(n, p["hard"], p["scopes"])),
        "failed to create quota: ",
    ),
    "priorityclass": Subcommand(
        (
            flag("value", "int32"),
            flag("global-default", "bool"),
            flag("description"),
            flag("preemption-policy", default="PreemptLowerPriority"),
        ),
        _plain(
            lambda n, p: create_priorityclass.create_priorityclass(
                n,
                p["value"],
                global_default=p["global-default"],
                description=p["description"],
                preemption_policy=p["preemption-policy"],
            )
        ),
        "failed to create priorityclass: ",
    ),
    "poddisruptionbudget": Subcommand(
        (flag("selector"), flag("min-available"), flag("max-unavailable")),
        _plain(
            lambda n, p: create_pdb.create_pdb(
                n, p["selector"], p["min-available"], p["max-unavailable"]
            )
        ),
        "failed to create poddisruptionbudgets: ",
    ),
    "job": Subcommand(
        (flag("image"), flag("from")), _job, "failed to create job: ", nameless=True
    ),
    "cronjob": Subcommand(
        (IMAGE, flag("schedule", required=True), flag("restart")),
        _plain(_cronjob),
        "failed to create cronjob: ",
        nameless=True,
    ),
    "ingress": Subcommand(
        (
            flag("rule", "array"),
            flag("class"),
            flag("default-backend"),
            flag("annotation", "array"),
        ),
        _plain(
            lambda n, p: create_ingress.create_ingress(
                n,
                p["rule"],
                class_name=p["class"],
                default_backend=p["default-backend"],
                annotations=p["annotation"],
            )
        ),
        "failed to create ingress: ",
    ),
    "role": Subcommand(ROLE_FLAGS, lambda n, p, s: role_object(n, p, s, cluster=False)),
    "clusterrole": Subcommand(
        CLUSTER_ROLE_FLAGS, lambda n, p, s: role_object(n, p, s, cluster=True)
    ),
    "rolebinding": Subcommand(
        (flag("role"), flag("clusterrole"), *SUBJECTS),
        _plain(lambda n, p: _binding(n, p, False)),
        "failed to create rolebinding: ",
    ),
    "clusterrolebinding": Subcommand(
        (flag("clusterrole", required=True), *SUBJECTS),
        _plain(lambda n, p: _binding(n, p, True)),
        "failed to create clusterrolebinding: ",
    ),
}
ALIASES = {
    "deploy": "deployment",
    "ns": "namespace",
    "cm": "configmap",
    "sa": "serviceaccount",
    "svc": "service",
    "pdb": "poddisruptionbudget",
    "pc": "priorityclass",
    "resourcequota": "quota",
    "cj": "cronjob",
    "ing": "ingress",
}


def find(argv: Sequence[str]) -> tuple[str, list[str]] | None:
    """(the subcommand, what follows it), or None if the words name none. Flags may
    stand before the subcommand's words.
    """
    words = word_positions(argv)
    for count in (2, 1):
        if len(words) >= count:
            name = " ".join(
                [
                    ALIASES.get(argv[words[0]], argv[words[0]]),
                    *(argv[i] for i in words[1:count]),
                ]
            )
            if name in SUBCOMMANDS:
                return name, [
                    word for i, word in enumerate(argv) if i not in words[:count]
                ]
    return None


async def create(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl create ARGV`."""
    match = find(argv)
    if match is None:
        words = [argv[i] for i in word_positions(argv)]
        parent = ALIASES.get(words[0], words[0]) if words else ""
        if parent == "token":
            await create_token(
                [word for i, word in enumerate(argv) if i != word_positions(argv)[0]],
                session,
            )
            return
        if parent in ("service", "secret"):
            rest = parse(
                [word for word in argv if word != words[0]], (), f"create {parent}"
            ).args
            raise UsageError(
                f"unknown command {go_quote(' '.join(rest))}", f"create {parent}"
            )
        await create_from_files(argv, session)
        return
    name, rest = match
    subcommand = SUBCOMMANDS[name]
    p = parse(rest, [*subcommand.flags, *COMMON], f"create {name}")
    arguments = p.args if p.dash < 0 else p.args[: p.dash]
    takes_command = name in ("deployment", "job", "cronjob")
    if len(arguments) != 1 or not (takes_command or len(p.args) == 1):
        raise UsageError(
            f"exactly one NAME is required, got {len(arguments)}", f"create {name}"
        )
    dry_run = dry_run_strategy(p, session.warn)
    printer = Printer(p, dry_run)
    validation = validation_directive(p)
    if not arguments[0] and not subcommand.nameless:
        raise CommandError("name must be specified")
    obj = await subcommand.make(arguments[0], p, session)
    resource = resource_for_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    if session.explicit_namespace and resource.namespaced:
        obj["metadata"] = {**obj["metadata"], "namespace": session.namespace}
    obj = typed(obj)
    if p["save-config"]:
        obj = typed(create_apply_annotation(obj))
    if dry_run != "client":
        obj = typed(
            await _send(
                resource,
                obj,
                subcommand.wraps,
                p["field-manager"],
                dry_run,
                validation,
                session,
            )
        )
    session.print(printer.text(obj, "created"))


async def _send(
    resource: Resource,
    obj: Object,
    wraps: str,
    manager: str,
    dry_run: str,
    validation: str,
    session: Session,
) -> Object:
    try:
        return await session.create_typed(
            resource, obj, manager=manager, dry_run=dry_run, validation=validation
        )
    except StatusError as error:
        if not wraps:
            raise
        raise CommandError(f"{wraps}{error.message}") from None
    except ConnectionFailed as silent:
        raise CommandError(f"{wraps}{silent}") from None
