"""What the generic registry asks a resource's own rules: its strategy.

The registry knows the order of things (`create`, `update`, the store); the strategy
knows the kind. A strategy is one frozen value, made of functions and facts. What a kind
does not say is as for every kind, so that an empty `Strategy()` already stores any
object that the schema knows.

A kind has one home, `registry/<group>/<kind>.py`, that reads from top to bottom as the
life of an object does:

    def set_defaults(obj): …                  # pkg/apis/<group>/v1/defaults.go
    def prepare_for_create(obj): …            # pkg/registry/<group>/<kind>/strategy.go
    def prepare_for_update(new, old): …
    def validate(obj): …                      # pkg/apis/<group>/validation
    def validate_update(new, old): …
    def warnings_on_create(obj): …
    def print_row(obj, now): …                # pkg/printers/internalversion
    PRINTER = Printer((NAME, …, AGE), print_row)
    STATUS = UpdateStrategy(prepare_for_status_update, validate_status_update)
    STRATEGY = Strategy(
        set_defaults=set_defaults, …, printer=PRINTER, subresources={"status": STATUS}
    )

and only what differs from every other kind is there. The group's `__init__` lists its
strategies by apiVersion and kind; `registry.strategies` collects the groups. All
functions change what they are given in place and expect normal form (`schema.decode`).
`prepare_…` touch top levels only: nested parts taken over from a stored object are
shared, never changed. Validators return every error at once, in upstream's order.

Upstream: `apiserver/pkg/registry/rest/{create,update}.go` (`RESTCreateStrategy`,
`RESTUpdateStrategy`); the codec, defaulter, table convertor and field manager that
`apiserver/pkg/endpoints/handlers/rest.go` (`RequestScope`) carries, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lifecycle.api.field_errors import FieldError
from lifecycle.api.fieldpath.field_sets import LEAF, Fields
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.schema import decode
from lifecycle.api.schema.decode import internal_package
from lifecycle.api.validation import content
from lifecycle.apiserver.managedfields.scale import ReplicasPath, in_spec
from lifecycle.apiserver.managedfields.typed import Type
from lifecycle.apiserver.registry.printers.default import DEFAULT
from lifecycle.apiserver.registry.printers.printer import Printer
from lifecycle.apiserver.registry.rest.field_labels import METADATA_ONLY, FieldLabels
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Change = Callable[[Object], None]
ChangeUpdate = Callable[[Object, Object], None]
Validate = Callable[[Object], list[FieldError]]
ValidateUpdate = Callable[[Object, Object], list[FieldError]]
Warnings = Callable[[Object], list[str]]
WarningsUpdate = Callable[[Object, Object], list[str]]


def do_nothing(*args: Any) -> None:
    """Nothing to fill in, drop or keep."""


def no_errors(*objs: Object) -> list[FieldError]:
    """Nothing to check beyond the metadata."""
    return []


def no_warnings(*objs: Object) -> list[str]:
    """Nothing to advise against."""
    return []


def is_not_held(obj: Object) -> bool:
    """Only the finalizers of its metadata keep a deleted object."""
    return False


def validate_metadata(obj: Object) -> list[FieldError]:
    """A new object of a kind without rules of its own."""
    metadata = obj.get("metadata") or {}
    row = resource_for_kind(obj.get("apiVersion", ""), obj.get("kind", ""))
    namespaced = row.namespaced if row is not None else bool(metadata.get("namespace"))
    return validate_object_meta(metadata, namespaced, content.name_is_path_segment)


NOTHING: Fields = LEAF
STATUS_FIELDS: Fields = {"f:status": LEAF}
SPEC_FIELDS: Fields = {"f:spec": LEAF}
METADATA_AND_SPEC_FIELDS: Fields = {"f:metadata": LEAF, "f:spec": LEAF}


def internal_type(resource: Resource, suffix: str) -> str:
    """The internal type of an object, or with `List` of a list, as Go prints it."""
    return f"*{internal_package(resource.group)}.{resource.kind}{suffix}"


@dataclass(slots=True, frozen=True)
class UpdateStrategy:
    """The rules of a write through a subresource, such as `status`: `new` is what the
    client sent, and keeps of it only what the subresource is for.

    `validate_update` is asked after the metadata was checked. Upstream: a
    `RESTUpdateStrategy` of its own, `deploymentStatusStrategy` and the like.
    """

    prepare_for_update: ChangeUpdate
    validate_update: ValidateUpdate = no_errors
    generation: Generation = Generation.UNCOUNTED
    reset_fields: Fields = field(default_factory=lambda: SPEC_FIELDS)
    """What such a write cannot touch, so that nobody comes to own it by one: most are
    a status's. Upstream: `GetResetFields`.
    """
    warnings_on_update: WarningsUpdate = no_warnings


@dataclass(slots=True, frozen=True)
class Strategy:
    """The rules of one kind in one version."""

    # -- reading -----------------------------------------------------------------------

    read: Callable[[str], Object] | None = None
    """For a kind that is never stored: name → object, no name → the list. Raises
    StatusError (ComponentStatus).
    """
    decode: Callable[[object, str, str], tuple[Object, list[str]]] = decode
    """What was sent, apiVersion, kind → normal form, strict errors. Raises StatusError
    400.
    """
    set_defaults: Change = do_nothing
    """Fill in what was not said. Idempotent: runs on everything read from a client, and
    again after mutating webhooks.
    """
    set_defaults_of_applied: Change | None = None
    """The same for the result of an apply, in which a custom object's nulls stay. None:
    no difference.
    """
    unstructured_defaulter: Change | None = None
    """The same for what admission has made of a custom object, which is pruned as well.
    None: by the kind that the object says it is.
    """
    patch_types: tuple[str, ...] = (
        JSON_PATCH,
        MERGE_PATCH,
        STRATEGIC_MERGE_PATCH,
        APPLY_PATCH,
    )
    weight: int = 1
    """Bytes as which one of an object counts where it is asked how large a request is:
    more than 1 if whoever defined the kind decides how much work it is to check one.
    """
    type: Type | None = None
    """The shape server-side apply works with; None: the one published for the kind."""

    # -- creating ----------------------------------------------------------------------

    generation: Generation = Generation.UNCOUNTED
    status_on_create: bool = False
    """A status may be set at creation (Node). If not, a kind that has the subresource
    `status` begins with an empty one.
    """
    names_itself: bool = False
    """An object without a name is called by a new uid (LimitRange)."""
    warnings_before_create: Warnings = no_warnings
    """Of what was sent, before it is prepared, and even if it is refused."""
    prepare_for_create: Change = do_nothing
    """Drop what the client may not set, add what the registry sets. The status is reset
    by then; uid, creation time and a generated name are there.
    """
    validate: Validate = validate_metadata
    warnings_on_create: Warnings = no_warnings
    canonicalize: Change = do_nothing
    """Last touches after validation, of what is new and of what is changed. Upstream:
    the ends of `BeforeCreate` and `BeforeUpdate`.
    """

    # -- updating ----------------------------------------------------------------------

    allow_create_on_update: bool = False
    """A PUT to a name that does not exist creates the object."""
    allow_unconditional_update: bool = True
    """An update may leave `resourceVersion` out and overwrite whatever is there."""
    prepare_for_update: ChangeUpdate = do_nothing
    """Keep what a write of the main resource may not touch. The status is kept by
    then; whether the generation goes up is asked afterwards.
    """
    validate_update: ValidateUpdate = no_errors
    """Asked after the metadata was checked."""
    warnings_on_update: WarningsUpdate = no_warnings
    subresources: Mapping[str, UpdateStrategy] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Writes that go another way: `status`, `resize`, `finalize` …"""
    scale: Object | None = None
    """Where a custom resource keeps its replicas (`specReplicasPath` …)."""
    replicas_path: ReplicasPath = in_spec
    """Where managed fields say so, version by version."""
    format_selector: Callable[[Object | None], str] = format_label_selector
    """`spec.selector` as the text in the status of a Scale."""

    reset_fields: Fields | None = None
    """What a write of the main resource cannot touch. None: the status, of a kind whose
    status has a way of its own. Upstream: `GetResetFields`.
    """

    # -- deleting ----------------------------------------------------------------------

    check_graceful_delete: Callable[[Object, int | None], int] | None = None
    """The object and the seconds asked for (None: unsaid) → the seconds it may live on.
    None: objects of the kind go at once. Upstream: `RESTGracefulDeleteStrategy`.
    """
    check_deletion: Callable[[Object, str, str], None] = do_nothing
    """Preconditions in the kind's own words, asked first: object, uid, resourceVersion
    (empty: any). Raises StatusError 409.
    """
    marks_own_deletion: bool = False
    """Its own registry marks it for deletion: without a grace period, and the
    generation stays (Namespace, CustomResourceDefinition).
    """
    mark_deleted: Change = do_nothing
    """What else shows that the object is being deleted, beside the metadata."""
    is_held: Callable[[Object], bool] = is_not_held
    """Whether something besides its finalizers keeps a deleted object. Upstream:
    `ShouldDeleteDuringUpdate`.
    """
    orphans_dependents: bool = False
    """A delete that does not say what is to become of dependents leaves them alone.
    Upstream: `DefaultGarbageCollectionPolicy`, which old kinds keep.
    """
    has_no_dependents: bool = False
    """Nothing is ever owned by one, so a wish about dependents is not heard. Upstream:
    `rest.Unsupported`.
    """
    orphaning_warning: str = ""
    """What such a delete is warned of."""
    returns_deleted_object: bool = False
    """The answer to a delete is the object (else: a Status). Upstream:
    `ReturnDeletedObject`.
    """

    # -- other versions ----------------------------------------------------------------

    earlier: Mapping[str, Strategy] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """By group and version: the rules of what is sent in a version that is gone, and
    was translated into this one. Defaults and validation are asked of it. Upstream:
    validations that know a `requestGV`, v1.20.
    """

    # -- showing -----------------------------------------------------------------------

    deprecation: str = ""
    """What each answer says if the version goes away. Upstream:
    `APILifecycleDeprecated`, `endpoints/deprecation/deprecation.go`
    (`WarningMessage`).
    """
    field_labels: FieldLabels = METADATA_ONLY
    printer: Printer = DEFAULT
    go_type: Callable[[Resource, str], str] = internal_type
    """How Go prints the type: of an object, or of a list with the suffix `List`."""
    versioned_annotations: tuple[str, ...] = ()
    """What only this version's form of an object carries, not its bare metadata."""
    items_carry_kind: bool = False
    """Each item of a list says what it is."""

    def weighed(self, size: int) -> int:
        """As how many bytes so many count: a few that are much work are just enough for
        the worker.
        """
        return max(size, min(size * self.weight, LARGE + 1))

    def in_version(self, requested: str) -> Strategy:
        """The rules of what was sent in an earlier version, if there are others."""
        return self.earlier.get(requested, self)

    def warnings_of_update(self, subresource: str) -> WarningsUpdate:
        """Who warns of a write, through a subresource or (empty) of the whole."""
        if not subresource:
            return self.warnings_on_update
        through = self.subresources.get(subresource)
        return no_warnings if through is None else through.warnings_on_update

    def get_reset_fields(self, subresource: str) -> Fields:
        """What a write this way cannot touch, however much of the object a client
        sends. Upstream: `rest.ResetFieldsStrategy`.
        """
        if subresource in self.subresources:
            return self.subresources[subresource].reset_fields
        if self.reset_fields is not None:
            return self.reset_fields
        return STATUS_FIELDS if "status" in self.subresources else NOTHING


GENERIC = Strategy()
"""For kinds that have no rules of their own."""
