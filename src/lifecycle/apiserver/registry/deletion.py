"""Deleting: at once, after a grace period, or when the last finalizer lets go.

A delete is often only the wish to delete. A pod with a kubelet gets a deadline and
lives on until the kubelet confirms; an object with finalizers is marked and lives on
until the last is taken off; a namespace waits until it is empty. Only when nothing
holds it any more does the key go.

Upstream: `apiserver/pkg/registry/generic/registry/store.go` (`Store.Delete`,
`deletionFinalizersForGarbageCollection`, `updateForGracefulDeletionAndFinalizers`),
`registry/rest/delete.go` (`BeforeDelete`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api import status
from lifecycle.api.field_errors import invalid, not_supported
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.apiserver.registry.admission import Validate
from lifecycle.apiserver.registry.metadata import in_go_order
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import MAX_CONFLICTS, ResourceStore
from lifecycle.apiserver.storage.cacher.cached_object import Cached

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(slots=True)
class DeleteOptions:
    """What a delete asks for. `grace` in seconds, None: the object's own."""

    grace: int | None = None
    propagation: str = ""
    orphan_dependents: bool | None = None
    uid: str = ""
    resource_version: str = ""


POLICIES = ("Foreground", "Background", "Orphan")


def check_delete_options(options: Object) -> None:
    """Raises StatusError 422. Upstream: `ValidateDeleteOptions`."""
    policy, errors = options.get("propagationPolicy"), []
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported("propagationPolicy", policy, [*POLICIES, "nil"]))
    if policy is not None and options.get("orphanDependents") is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, detail))
    dry_run = options.get("dryRun") or []
    if any(value != "All" for value in dry_run):
        errors.append(not_supported("dryRun", dry_run, ["All"]))
    if errors:
        raise status.invalid(
            "DeleteOptions", "", [error.cause() for error in errors], "meta.k8s.io"
        )


async def delete(
    store: ResourceStore,
    scope: RequestScope,
    options: DeleteOptions,
    validate: Validate,
) -> tuple[Object, bool]:
    """Delete one object, if `validate` has nothing against it: the answer (object or
    Status), and whether it is gone. Raises StatusError 404, 409.
    """
    resource, warning = store.resource, store.strategy.orphaning_warning
    if warning and not options.propagation and options.orphan_dependents is None:
        scope.warnings.append(warning)
    for _ in range(MAX_CONFLICTS):
        stored = store.get(scope.namespace, scope.name)
        store.strategy.check_deletion(stored.obj, options.uid, options.resource_version)
        check_preconditions(stored.obj, scope, options)
        _settle(store, stored.obj, scope, options)
        await validate(None, stored.obj)
        outcome = await _attempt(store, stored, scope, options, validate)
        if outcome is not None:
            return outcome
        if options.resource_version:
            break
    raise status.conflict(resource.plural, scope.name, group=resource.group)


def _settle(
    store: ResourceStore, obj: Object, scope: RequestScope, options: DeleteOptions
) -> None:
    """What admission is told of the options, once the kind has had its say. Upstream:
    `CheckGracefulDelete`; `Delete` of namespaces and of definitions.
    """
    graceful, metadata = store.strategy.check_graceful_delete, obj["metadata"]
    if graceful is not None and "deletionTimestamp" not in metadata:
        grace = graceful(obj, options.grace)
        scope.options = {**scope.options, "gracePeriodSeconds": grace}
    if store.strategy.marks_own_deletion:
        preconditions = scope.options.get("preconditions") or {}
        named = {"uid": metadata["uid"], **preconditions}
        scope.options = {**scope.options, "preconditions": named}


def check_preconditions(
    obj: Object, scope: RequestScope, options: DeleteOptions
) -> None:
    """Whether the object is the one that is meant. Raises StatusError 409. Upstream:
    `rest.BeforeDelete`.
    """
    metadata, kind = obj["metadata"], scope.resource.kind
    if options.uid and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in"
            f" record ({metadata['uid']}). The object might have been deleted and then"
            " recreated"
        )
        raise status.conflict(kind, scope.name, why, scope.resource.group)
    version = options.resource_version
    if version and version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the"
            f" ResourceVersion in record ({metadata['resourceVersion']}). The object"
            " might have been modified"
        )
        raise status.conflict(kind, scope.name, why, scope.resource.group)


async def _attempt(
    store: ResourceStore,
    stored: Cached,
    scope: RequestScope,
    options: DeleteOptions,
    validate: Validate,
) -> tuple[Object, bool] | None:
    """One try; None if somebody wrote in between."""
    obj = stored.obj
    if "deletionTimestamp" not in obj["metadata"]:
        obj = store.marked_for_deletion(obj)
    metadata = obj["metadata"]
    now = store.environment.clock.now()
    graceful = store.strategy.check_graceful_delete
    grace = graceful(obj, options.grace) if graceful is not None else 0
    finalizers = finalizers_for(
        obj,
        options,
        store.strategy.orphans_dependents,
        store.strategy.has_no_dependents,
    )
    held = bool(finalizers) or store.strategy.is_held(obj)
    marked = dict(metadata)
    if finalizers != (metadata.get("finalizers") or []):
        marked["finalizers"] = finalizers
        if not finalizers:
            marked.pop("finalizers", None)
    already = "deletionTimestamp" in metadata
    if grace > 0 or held:
        if already:
            shorter = metadata.get("deletionGracePeriodSeconds", 0)
            if grace < shorter:
                deadline = parse_time(metadata["deletionTimestamp"]) - shorter + grace
                marked["deletionTimestamp"] = format_time(deadline)
                marked["deletionGracePeriodSeconds"] = grace
        else:
            marked["deletionTimestamp"] = format_time(now + grace)
            if not store.strategy.marks_own_deletion:
                marked["deletionGracePeriodSeconds"] = grace
                if metadata.get("generation", 0) > 0:
                    marked["generation"] = metadata["generation"] + 1
        new = {**obj, "metadata": in_go_order(marked)}
        store.strategy.mark_deleted(new)
        if scope.dry_run or new == obj:
            return new, False
        written = await store.write(stored.key, new, stored.revision)
        return None if written is None else (written.obj, False)
    if scope.dry_run:
        obj = _at_once(obj, now) if graceful is not None else obj
    else:
        doomed = (
            await _shortened(store, stored, now) if graceful is not None else stored
        )
        if doomed is None:
            return None
        if doomed is not stored:  # both steps are asked about
            await validate(None, doomed.obj)
        if await store.erase(stored.key, doomed) is None:
            return None
        obj = doomed.obj
    if store.strategy.returns_deleted_object:
        return obj, True
    details = {
        "name": scope.name,
        "group": scope.resource.group,
        "kind": scope.resource.plural,
        "uid": metadata["uid"],
    }
    return status.success({key: value for key, value in details.items() if value}), True


async def _shortened(store: ResourceStore, stored: Cached, now: float) -> Cached | None:
    """What could have lived on and goes at once is first written with a grace period of
    0, so whoever watches sees both steps; None if the race was lost.
    """
    obj = _at_once(stored.obj, now)
    if obj is stored.obj:
        return stored
    return await store.write(stored.key, obj, stored.revision)


def _at_once(obj: Object, now: float) -> Object:
    """The object with no time left; itself if it had none before."""
    metadata = obj["metadata"]
    before = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in metadata and not before:
        return obj
    marked = {
        **metadata,
        "deletionGracePeriodSeconds": 0,
        "deletionTimestamp": format_time(now),
    }
    if before:
        marked["deletionTimestamp"] = format_time(
            parse_time(metadata["deletionTimestamp"]) - before
        )
    elif metadata.get("generation", 0) > 0:
        marked["generation"] = metadata["generation"] + 1
    return {**obj, "metadata": in_go_order(marked)}


def finalizers_for(
    obj: Object,
    options: DeleteOptions,
    orphans_dependents: bool = False,
    has_no_dependents: bool = False,
) -> list[str]:
    """The object's finalizers once the wish about its dependents is added: `orphan`,
    `foregroundDeletion` or neither. `orphans_dependents`: what the kind does if nobody
    says, and no such finalizer is there; `has_no_dependents`: neither is ever added.
    """
    finalizers: list[str] = list(obj["metadata"].get("finalizers") or ())
    policy = options.propagation
    if options.orphan_dependents is not None:
        policy = "Orphan" if options.orphan_dependents else "Background"
    if not policy and orphans_dependents and not {ORPHAN, FOREGROUND} & {*finalizers}:
        policy = "Orphan"
    if has_no_dependents:
        policy = "Background"
    if not policy:
        return finalizers
    kept = [name for name in finalizers if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        kept.append(ORPHAN)
    elif policy == "Foreground":
        kept.append(FOREGROUND)
    return finalizers if sorted(kept) == sorted(finalizers) else kept
