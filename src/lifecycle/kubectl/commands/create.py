"""`kubectl create …`: one subcommand for each generator, and `create -f`.

Upstream: `kubectl/pkg/cmd/create/create.go` (`NameFromCommandArgs`, `CreateSubcommandOptions.Run`) and its `create_*.go`, v1.36.
`create deployment` and `create service` never look at discovery: they are compiled against typed clients, and say so in their errors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lifecycle.api.go_format import go_quote
from lifecycle.api.resources import resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.commands.create_rbac import CLUSTER_ROLE_FLAGS, ROLE_FLAGS, role_object
from lifecycle.kubectl.failures import CommandError, ConnectionFailed, UsageError
from lifecycle.kubectl.flags import DRY_RUN, OUTPUT, Flag, Parsed, dry_run_strategy, flag, parse, word_positions
from lifecycle.kubectl.generators import (
    create_configmap,
    create_deployment,
    create_ingress,
    create_job,
    create_namespace,
    create_rbac,
)
from lifecycle.kubectl.generators.create_service import create_service
from lifecycle.kubectl.printers import check_format, print_object, typed
from lifecycle.kubectl.resource_args import load_sources, source_named
from lifecycle.kubectl.session import Session

Make = Callable[[str, Parsed, Session], Awaitable[Object]]
COMMON = (
    OUTPUT,
    DRY_RUN,
    flag("save-config", "bool"),
    flag("validate", default="strict", bare="strict"),
    flag("field-manager"),
)


@dataclass(slots=True, frozen=True)
class Subcommand:
    """A subcommand: its flags and how it makes its object. `wraps` words the error of a refused request (typed clients only)."""

    flags: Sequence[Flag]
    make: Make
    wraps: str = ""


def _plain(make: Callable[[str, Parsed], Object]) -> Make:
    async def made(name: str, p: Parsed, session: Session) -> Object:
        return make(name, p)

    return made


def _deployment(name: str, p: Parsed) -> Object:
    command = p.args[1:]
    if len(p["image"]) > 1 and command:
        raise CommandError("cannot specify multiple --image options and command")
    return create_deployment.create_deployment(
        name, p["image"], command=command, replicas=p["replicas"], port=p["port"]
    )


def _job(name: str, p: Parsed) -> Object:
    if not p["image"] and not p["from"]:
        raise CommandError("either --image or --from must be specified")
    return create_job.create_job(name, p["image"], p.args[1:])


def _cronjob(name: str, p: Parsed) -> Object:
    return create_job.create_cronjob(name, p["image"], p["schedule"], p.args[1:], p["restart"] or "OnFailure")


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
    if p["from-file"]:
        return create_configmap.create_secret_generic(
            name, files=p["from-file"], type_="kubernetes.io/dockerconfigjson"
        )
    for wanted in ("docker-username", "docker-password", "docker-server"):
        if not p[wanted]:
            raise CommandError(
                "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required"
            )
    return create_configmap.create_secret_docker(
        name, p["docker-server"], p["docker-username"], p["docker-password"], p["docker-email"]
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
SOURCES = (
    flag("from-literal", "array"),
    flag("from-file", "slice"),
    flag("from-env-file", "slice"),
    flag("append-hash", "bool"),
)
SUBJECTS = (flag("user", "array"), flag("group", "array"), flag("serviceaccount", "array"))
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
        "failed to create deployment",
    ),
    "service clusterip": Subcommand(
        (TCP, flag("clusterip")), _service("ClusterIP"), "failed to create ClusterIP service"
    ),
    "service nodeport": Subcommand(
        (TCP, flag("node-port", "int")), _service("NodePort"), "failed to create NodePort service"
    ),
    "service loadbalancer": Subcommand((TCP,), _service("LoadBalancer"), "failed to create LoadBalancer service"),
    "service externalname": Subcommand(
        (TCP, flag("external-name", required=True)), _service("ExternalName"), "failed to create ExternalName service"
    ),
    "configmap": Subcommand(
        SOURCES,
        _plain(
            lambda n, p: create_configmap.create_configmap(n, p["from-literal"], p["from-file"], p["from-env-file"])
        ),
        "failed to create configmap",
    ),
    "secret generic": Subcommand(
        (*SOURCES, flag("type")),
        _plain(
            lambda n, p: create_configmap.create_secret_generic(
                n, p["from-literal"], p["from-file"], p["from-env-file"], p["type"]
            )
        ),
        "failed to create secret",
    ),
    "secret docker-registry": Subcommand(
        (*DOCKER, flag("docker-server", default="https://index.docker.io/v1/"), flag("from-file", "slice")),
        _plain(_docker),
        "failed to create secret",
    ),
    "secret tls": Subcommand(
        (flag("cert"), flag("key")),
        _plain(lambda n, p: create_configmap.create_secret_tls(n, p["cert"], p["key"])),
        "failed to create secret",
    ),
    "namespace": Subcommand((), _plain(lambda n, p: create_namespace.create_namespace(n))),
    "serviceaccount": Subcommand(
        (), _plain(lambda n, p: create_namespace.create_serviceaccount(n)), "failed to create serviceaccount"
    ),
    "quota": Subcommand(
        (flag("hard"), flag("scopes")),
        _plain(lambda n, p: create_namespace.create_quota(n, p["hard"], p["scopes"])),
        "failed to create quota",
    ),
    "priorityclass": Subcommand(
        (
            flag("value", "int32"),
            flag("global-default", "bool"),
            flag("description"),
            flag("preemption-policy", default="PreemptLowerPriority"),
        ),
        _plain(
            lambda n, p: create_namespace.create_priorityclass(
                n,
                p["value"],
                global_default=p["global-default"],
                description=p["description"],
                preemption_policy=p["preemption-policy"],
            )
        ),
        "failed to create priorityclass",
    ),
    "poddisruptionbudget": Subcommand(
        (flag("selector"), flag("min-available"), flag("max-unavailable")),
        _plain(lambda n, p: create_namespace.create_pdb(n, p["selector"], p["min-available"], p["max-unavailable"])),
        "failed to create poddisruptionbudgets",
    ),
    "job": Subcommand((flag("image"), flag("from")), _plain(_job), "failed to create job"),
    "cronjob": Subcommand(
        (IMAGE, flag("schedule", required=True), flag("restart")), _plain(_cronjob), "failed to create cronjob"
    ),
    "ingress": Subcommand(
        (flag("rule", "array"), flag("class"), flag("default-backend"), flag("annotation", "array")),
        _plain(
            lambda n, p: create_ingress.create_ingress(
                n, p["rule"], class_name=p["class"], default_backend=p["default-backend"], annotations=p["annotation"]
            )
        ),
        "failed to create ingress",
    ),
    "role": Subcommand(ROLE_FLAGS, lambda n, p, s: role_object(n, p, s, cluster=False)),
    "clusterrole": Subcommand(CLUSTER_ROLE_FLAGS, lambda n, p, s: role_object(n, p, s, cluster=True)),
    "rolebinding": Subcommand(
        (flag("role"), flag("clusterrole"), *SUBJECTS),
        _plain(lambda n, p: _binding(n, p, False)),
        "failed to create rolebinding",
    ),
    "clusterrolebinding": Subcommand(
        (flag("clusterrole", required=True), *SUBJECTS),
        _plain(lambda n, p: _binding(n, p, True)),
        "failed to create clusterrolebinding",
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
    """(the subcommand, what follows it), or None if the words name none. Flags may stand before the subcommand's words."""
    words = word_positions(argv)
    for count in (2, 1):
        if len(words) >= count:
            name = " ".join([ALIASES.get(argv[words[0]], argv[words[0]]), *(argv[i] for i in words[1:count])])
            if name in SUBCOMMANDS:
                return name, [word for i, word in enumerate(argv) if i not in words[:count]]
    return None


async def create(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl create ARGV`."""
    found = find(argv)
    if found is None:
        words = [argv[i] for i in word_positions(argv)]
        parent = ALIASES.get(words[0], words[0]) if words else ""
        if parent in ("service", "secret"):
            raise UsageError(f"unknown command {go_quote(' '.join(words[1:]))}", f"create {parent}")
        await _create_from_files(argv, session)
        return
    name, rest = found
    subcommand = SUBCOMMANDS[name]
    p = parse(rest, [*subcommand.flags, *COMMON], f"create {name}")
    arguments = p.args if p.dash < 0 else p.args[: p.dash]
    takes_command = name in ("deployment", "job", "cronjob")
    if len(arguments) != 1 or not (takes_command or len(p.args) == 1):
        raise UsageError(f"exactly one NAME is required, got {len(arguments)}", f"create {name}")
    dry_run = dry_run_strategy(p)
    check_format(p["output"])
    obj = await subcommand.make(arguments[0], p, session)
    resource = resource_for_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    if session.explicit_namespace and resource.namespaced:
        obj["metadata"] = {**obj["metadata"], "namespace": session.namespace}
    obj = typed(obj)
    if dry_run != "client":
        try:
            obj = await session.create_typed(
                resource,
                obj,
                manager=p["field-manager"] or "kubectl-create",
                dry_run=dry_run,
                validation=_validation(p),
            )
        except StatusError as refused:
            if not subcommand.wraps:
                raise
            raise CommandError(f"{subcommand.wraps}: {refused.message}") from None
        except ConnectionFailed as silent:
            raise CommandError(f"{subcommand.wraps}: {silent}" if subcommand.wraps else str(silent)) from None
    session.print(print_object(obj, p["output"], "created", dry_run))


def _validation(p: Parsed) -> str:
    return {"true": "Strict", "strict": "Strict", "warn": "Warn", "false": "Ignore", "ignore": "Ignore"}.get(
        p["validate"], "Strict"
    )


async def _create_from_files(argv: Sequence[str], session: Session) -> None:
    p = parse(argv, [*COMMON, flag("filename", "slice", short="f"), flag("recursive", "bool", short="R")], "create")
    if p.args:
        raise UsageError(f"Unexpected args: [{' '.join(p.args)}]", "create")
    if not p["filename"]:
        raise CommandError("must specify one of -f and -k")
    dry_run = dry_run_strategy(p)
    for source, obj in load_sources(p["filename"]):
        resource = await session.resource_for_kind(obj["apiVersion"], obj["kind"])
        namespace = obj.get("metadata", {}).get("namespace", "")
        if dry_run != "client":
            with source_named(source, "creating"):
                obj = await session.create(
                    resource,
                    obj,
                    manager="kubectl-create",
                    dry_run=dry_run,
                    validation=_validation(p),
                    namespace=namespace,
                )
        session.print(print_object(obj, p["output"], "created", dry_run))
