"""The controllers that run beside the definitions: naming, establishing, cleaning up.

A definition asks for names. Within its group a name is given once: who comes first has
it, who comes second is told so in the condition `NamesAccepted`, and waits. Accepted
names make a definition `Established`. On its way out, a definition keeps a finalizer
until all its objects are gone, so no object is left in the store that nobody could ask
for any more.

Upstream: `apiextensions-apiserver/pkg/controller/status/naming_controller.go`,
`establish/establishing_controller.go`, `finalizer/crd_finalizer.go`,
`nonstructuralschema/nonstructuralschema_controller.go`,
`apiapproval/apiapproval_controller.go`, v1.36. Left out: the pause of five seconds
before establishing, which is for several servers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from lifecycle.api.aggregate import aggregate
from lifecycle.api.conditions import get_condition, is_condition_true
from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.status import StatusError
from lifecycle.apiserver.apiextensions.definitions import FINALIZER, set_crd_condition
from lifecycle.apiserver.apiextensions.structural import validate_structural
from lifecycle.apiserver.apiextensions.validation.approval import get_api_approval_state
from lifecycle.etcd.store import StoreError

log = logging.getLogger(__name__)

NAMES = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
RETRY, FINALIZER_RETRY = 1.0, 5.0


class Definitions(Protocol):
    """What the controllers need of the server."""

    def all(self) -> Iterable[Object]:
        """All definitions, as fresh as the store."""
        ...

    async def update_status(self, definition: Object) -> Object:
        """Write a status. Raises StatusError."""
        ...

    async def remove_finalizer(self, definition: Object) -> None:
        """Write the definition without our finalizer. Raises StatusError."""
        ...

    async def empty(self, definition: Object) -> int:
        """Ask for the deletion of all its objects; how many are left. Raises
        StatusError.
        """
        ...

    async def refresh(self, name: str, definition: Object | None) -> None:
        """A definition has changed."""
        ...


class DefinitionControllers:
    """All controllers in one queue: each definition that changed is looked at by all of
    them, in turn.
    """

    def __init__(self, definitions: Definitions, clock: Clock) -> None:
        self._definitions = definitions
        self._clock = clock
        self._waiting: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, frames: object) -> None:
        """Follow a watch of the definitions."""
        self._tasks = [
            asyncio.create_task(self._follow(frames), name="definitions"),  # type: ignore[arg-type]
            asyncio.create_task(self._work(), name="definition controllers"),
        ]

    async def stop(self) -> None:
        """No more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def add(self, name: str) -> None:
        """Look at a definition."""
        self._waiting[name] = None
        self._wake.set()

    async def _follow(self, watch: Callable[[], object]) -> None:
        while True:
            for definition in self._definitions.all():
                self.add(definition["metadata"]["name"])
            async for frame in watch():  # type: ignore[attr-defined]
                assert isinstance(frame, WatchFrame)
                if frame.type in ("ADDED", "MODIFIED", "DELETED"):
                    self.add(frame.object["metadata"]["name"])
                    if frame.type == "DELETED":
                        self._others_of(frame.object)
            await asyncio.sleep(RETRY)

    def _others_of(self, definition: Object) -> None:
        """Names have become free: perhaps somebody in the group waits for them."""
        group = definition["spec"]["group"]
        for other in self._definitions.all():
            if (
                other["spec"]["group"] == group
                and other["metadata"]["name"] != definition["metadata"]["name"]
            ):
                self.add(other["metadata"]["name"])

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            pauses = Pauses()
            while self._waiting:
                await pauses.pause()
                name = next(iter(self._waiting))
                del self._waiting[name]
                try:
                    delay = await self.sync(name)
                except (StatusError, StoreError) as error:
                    if not (
                        isinstance(error, StatusError) and error.code in (404, 409)
                    ):
                        log.warning("definition %s: %s", name, error)
                    delay = RETRY
                if delay:
                    asyncio.get_running_loop().call_later(delay, self.add, name)

    async def sync(self, name: str) -> float:
        """One look at one definition; in how many seconds to look again, 0: when it
        changes.
        """
        everything = {
            each["metadata"]["name"]: each for each in self._definitions.all()
        }
        definition = everything.get(name)
        await self._definitions.refresh(name, definition)
        if definition is None:
            return 0
        if "deletionTimestamp" in definition["metadata"]:
            return await self._finalize(definition)
        new = self._calculate_names(definition, everything.values())
        new = await beside(size_of(new), self._calculate_conditions, new)
        if new is not definition:
            definition = await self._definitions.update_status(new)
            self._others_of(definition)
        if is_condition_true(definition, "NamesAccepted") and not is_condition_true(
            definition, "Established"
        ):
            now, message = (
                self._clock.timestamp(),
                "the initial names have been accepted",
            )
            established = set_crd_condition(
                definition, now, "Established", "True", "InitialNamesAccepted", message
            )
            await self._definitions.update_status(established)
        return 0

    # -- names -------------------------------------------------------------------------

    def _calculate_names(
        self, definition: Object, everything: Iterable[Object]
    ) -> Object:
        """The definition with the names it has been given. Upstream:
        `calculateNamesAndConditions`.
        """
        requested = definition["spec"]["names"]
        state = definition.get("status") or {}
        accepted = dict(state.get("acceptedNames") or {})
        if get_condition(definition, "NamesAccepted") and all(
            requested.get(key) == accepted.get(key) for key in NAMES
        ):
            return definition
        resources, kinds = names_in_use(definition, everything)
        status, reason, message = "True", "NoConflicts", "no conflicts found"
        for key, used, why in (
            ("plural", resources, "PluralConflict"), ("singular", resources,
            "SingularConflict"),
            ("shortNames", resources, "ShortNamesConflict"), ("kind", kinds,
            "KindConflict"), ("listKind", kinds, "ListKindConflict"),
        ):  # fmt: skip
            requested_name, accepted_name = requested.get(key), accepted.get(key)
            new = (
                [n for n in requested_name or () if n not in (accepted_name or ())]
                if key == "shortNames"
                else [requested_name]
                if requested_name != accepted_name
                else []
            )
            taken = [f'"{name}" is already in use' for name in new if name in used]
            if taken:
                message = aggregate(taken)
                status, reason = "False", why
            elif requested_name:
                accepted[key] = requested_name
            else:
                accepted.pop(key, None)
        if requested.get("categories"):
            accepted["categories"] = requested["categories"]
        else:
            accepted.pop("categories", None)
        now = self._clock.timestamp()
        named = {
            **definition,
            "status": {
                **state,
                "acceptedNames": {k: accepted[k] for k in NAMES if k in accepted},
            },
        }
        named = set_crd_condition(named, now, "NamesAccepted", status, reason, message)
        if not is_condition_true(named, "Established"):
            if status == "True":
                installing = "Installing", "the initial names have been accepted"
            else:
                installing = "NotAccepted", "not all names are accepted"
            if status == "True" or get_condition(named, "Established") is None:
                named = set_crd_condition(
                    named, now, "Established", "False", *installing
                )
        return definition if named["status"] == state else named

    def _calculate_conditions(self, definition: Object) -> Object:
        """With the conditions that only tell: approval of a protected group, a schema
        that is not structural.
        """
        now, updated = self._clock.timestamp(), definition
        group = definition["spec"]["group"]
        if group.endswith((".k8s.io", ".kubernetes.io")):
            verdict, why = get_api_approval_state(definition)
            kind = "KubernetesAPIApprovalPolicyConformant"
            reasons = {
                "approved": ("True", "ApprovedAnnotation"), "bypassed": ("False",
                "UnapprovedAnnotation"),
                "missing": ("False", "MissingAnnotation"), "invalid": ("False",
                "InvalidAnnotation"),
            }  # fmt: skip
            updated = set_crd_condition(updated, now, kind, *reasons[verdict], why)
        errors = [
            error
            for index, version in enumerate(definition["spec"]["versions"])
            for error in validate_structural(
                (version.get("schema") or {}).get("openAPIV3Schema")
                or {"type": "object"},
                f"spec.versions[{index}].schema.openAPIV3Schema",
            )
        ]
        if errors:
            text = (
                str(errors[0])
                if len(errors) == 1
                else f"[{', '.join(map(str, errors))}]"
            )
            updated = set_crd_condition(
                updated, now, "NonStructuralSchema", "True", "Violations", text
            )
        return (
            definition if updated.get("status") == definition.get("status") else updated
        )

    # -- the end -----------------------------------------------------------------------

    async def _finalize(self, definition: Object) -> float:
        """Delete all objects, then let the definition go. Upstream:
        `CRDFinalizer.sync`.
        """
        if FINALIZER not in (definition["metadata"].get("finalizers") or ()):
            return 0
        now = self._clock.timestamp
        if not (
            is_condition_true(definition, "Established")
            or is_condition_true(definition, "NamesAccepted")
        ):
            done = set_crd_condition(
                definition,
                now(),
                "Terminating",
                "False",
                "NeverEstablished",
                "resource was never established",
            )
            await self._definitions.remove_finalizer(
                await self._definitions.update_status(done)
            )
            return 0
        reason = (get_condition(definition, "Terminating") or {}).get("reason")
        if reason != "InstanceDeletionInProgress":
            doing = (
                "InstanceDeletionInProgress",
                "CustomResource deletion is in progress",
            )
            definition = await self._definitions.update_status(
                set_crd_condition(definition, now(), "Terminating", "True", *doing)
            )
        left = await self._definitions.empty(definition)
        if left:
            return FINALIZER_RETRY
        done = set_crd_condition(
            definition,
            now(),
            "Terminating",
            "False",
            "InstanceDeletionCompleted",
            "removed all instances",
        )
        await self._definitions.remove_finalizer(
            await self._definitions.update_status(done)
        )
        return 0


def names_in_use(
    definition: Object, everything: Iterable[Object]
) -> tuple[set[str], set[str]]:
    """What others of the group have been given: names of resources, and kinds."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in everything:
        if other["spec"]["group"] != definition["spec"]["group"]:
            continue
        if other["metadata"]["name"] == definition["metadata"]["name"]:
            continue
        accepted_names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {
            accepted_names.get("plural", ""),
            accepted_names.get("singular", ""),
            *(accepted_names.get("shortNames") or ()),
        }
        kinds |= {accepted_names.get("kind", ""), accepted_names.get("listKind", "")}
    return resources - {""}, kinds - {""}
