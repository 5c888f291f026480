"""`kubectl apply -f FILE`: create what is not there, patch what is.

Client-side, kubectl remembers what it applied last in an annotation, and sends the difference of three: what it applied, what it should be,
what it is. Server-side, it sends the configuration as it is, and the server knows the rest.

Upstream: `kubectl/pkg/cmd/apply/apply.go` (`applyOneObject`), `patcher.go` (`buildStrategicMergePatch`), `kubectl/pkg/util/apply.go`
(`GetModifiedConfiguration`), v1.36. Left out: `--prune`, `-k`, retries on conflict, recreating with `--force`.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from lifecycle.api.resources import Resource
from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.rest import APPLY_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import DRY_RUN, OUTPUT, Parsed, dry_run_strategy, flag, parse
from lifecycle.kubectl.printers import check_format, print_object
from lifecycle.kubectl.resource_args import load_files
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.three_way_merge import three_way_merge_patch

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
FLAGS = (
    OUTPUT,
    DRY_RUN,
    flag("filename", "slice", short="f"),
    flag("recursive", "bool", short="R"),
    flag("server-side", "bool"),
    flag("force-conflicts", "bool"),
    flag("force", "bool"),
    flag("field-manager"),
    flag("validate", default="strict", bare="strict"),
    flag("overwrite", "bool", True),
)


async def apply(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl apply ARGV`."""
    p = parse(argv, FLAGS, "apply")
    if p.args:
        raise UsageError(f"Unexpected args: [{' '.join(p.args)}]", "apply")
    dry_run = dry_run_strategy(p)
    if p["force-conflicts"] and not p["server-side"]:
        raise CommandError("--force-conflicts only works with --server-side")
    if dry_run == "client" and p["server-side"]:
        raise CommandError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
    if not p["filename"]:
        raise CommandError("must specify one of -f and -k")
    check_format(p["output"])
    for obj in load_files(p["filename"]):
        resource = await session.resource_for_kind(obj["apiVersion"], obj["kind"])
        if resource.namespaced:
            obj = {**obj, "metadata": {"namespace": session.namespace, **(obj.get("metadata") or {})}}
        how = _server_side if p["server-side"] else _client_side
        done, operation = await how(obj, resource, p, dry_run, session)
        session.print(print_object(done, p["output"], operation, dry_run))


def _query(p: Parsed, dry_run: str, manager: str) -> dict[str, str]:
    directive = {"true": "Strict", "strict": "Strict", "warn": "Warn"}.get(p["validate"], "Ignore")
    return {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": p["field-manager"] or manager,
        "fieldValidation": directive,
    }


async def _server_side(
    obj: Object, resource: Resource, p: Parsed, dry_run: str, session: Session
) -> tuple[Object, str]:
    query = {**_query(p, dry_run, "kubectl"), "force": "true" if p["force-conflicts"] else "false"}
    path = resource.path(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    try:
        return await session.send("PATCH", path, query, obj, APPLY_PATCH), "serverside-applied"
    except StatusError as refused:
        if refused.code != 409:
            raise
        raise CommandError(
            f"{refused.message}\nPlease review the fields above--they currently have other managers. Here\n"
            "are the ways you can resolve this warning:\n"
            "* If you intend to manage all of these fields, please re-run the apply\n  command with the `--force-conflicts` flag.\n"
            "* If you do not intend to manage all of the fields, please edit your\n"
            "  manifest to remove references to the fields that should keep their\n  current managers.\n"
            "* You may co-own fields by updating your manifest to match the existing\n"
            "  value; in this case, you'll become the manager if the other manager(s)\n"
            "  stop managing the field (remove it from their configuration).\n"
            "See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
        ) from None


def modified_configuration(obj: Object) -> Object:
    """The object with the annotation that remembers it."""
    metadata = dict(obj["metadata"])
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    plain = {**obj, "metadata": {**metadata, "annotations": annotations}}
    text = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    return {**plain, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: text}}}


async def _client_side(
    obj: Object, resource: Resource, p: Parsed, dry_run: str, session: Session
) -> tuple[Object, str]:
    namespace, name = obj["metadata"].get("namespace", ""), obj["metadata"].get("name", "")
    modified = modified_configuration(obj)
    query = _query(p, dry_run, "kubectl-client-side-apply")
    try:
        current = await session.client.get(resource, name, namespace)
    except StatusError as refused:
        if refused.code != 404:
            raise
        made = (
            modified if dry_run == "client" else await session.send("POST", resource.path(namespace), query, modified)
        )
        return made, "created"
    last = (current["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    if last is None:
        session.warn(_NO_ANNOTATION.format(resource.plural, name))
    try:
        schema = schema_for(obj["apiVersion"], obj["kind"])
        content_type = STRATEGIC_MERGE_PATCH
    except KeyError:
        schema = None
        content_type = MERGE_PATCH
    patch = three_way_merge_patch(orjson.loads(last) if last else {}, modified, current, schema)
    if not patch:
        return current, "unchanged"
    if dry_run == "client":
        return current, "configured"
    return await session.send("PATCH", resource.path(namespace, name), query, patch, content_type), "configured"


_NO_ANNOTATION = (
    "Warning: resource {}/{} is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is required by "
    "kubectl apply. "
    "kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically.\n"
)
