"""What a kind's printer consists of: columns, and a function from an object to a row's
cells.

Column descriptions are the API's own field documentation, so most columns only say
which field they show (`pod_status.podIP`) and the text is read from the published
OpenAPI document when somebody asks for the table's header.

Upstream: `pkg/printers/tablegenerator.go` (`HumanReadableGenerator`),
`pkg/printers/internalversion/printers.go` (`AddHandlers`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.published import published

Cells = list[Any]
Row = Callable[[Object, float], Cells]
"""An object and the time it is looked at (seconds since 1970) → its cells, one for each
column, wide ones included.
"""


@dataclass(slots=True, frozen=True)
class Documented:
    """The description of a field in the published OpenAPI: `core/v1.PodStatus`,
    `podIP`.
    """

    type: str
    field: str

    def text(self) -> str:
        """The description, without the list of enum values that only OpenAPI
        appends.
        """
        description: str = _schemas(self.type)[self.field].get("description", "")
        return description.partition("\n\nPossible enum values:")[0]


_GROUPS = {
    "rbac": "rbac.authorization.k8s.io", "apps": "apps", "batch": "batch",
    "autoscaling": "autoscaling", "policy": "policy",
    "flowcontrol": "flowcontrol.apiserver.k8s.io",
}  # fmt: skip


@cache
def _schemas(type: str) -> Any:
    group_version, _, kind = type.partition(".")
    group, _, version = group_version.partition("/")
    if group in ("core", "meta"):
        document, name = "openapi/api/v1.json", "io.k8s.api.core.v1"
    else:
        document, name = (
            f"openapi/apis/{_GROUPS.get(group, f'{group}.k8s.io')}/{version}.json",
            f"io.k8s.api.{group}.{version}",
        )
    if kind in (
        "ScaleSpec",
        "ScaleStatus",
    ):  # published only where there is something to scale
        document = "openapi/apis/apps/v1.json"
    if group == "meta":
        name = "io.k8s.apimachinery.pkg.apis.meta.v1"
    return published(document)["components"]["schemas"][f"{name}.{kind}"]["properties"]


@dataclass(slots=True, frozen=True)
class Column:
    """One `TableColumnDefinition`. Priority 1 is shown with `-o wide` only."""

    name: str
    description: str | Documented = ""
    type: str = "string"
    format: str = ""
    priority: int = 0

    def definition(self) -> Object:
        """The column as it stands in a Table."""
        text = (
            self.description
            if isinstance(self.description, str)
            else self.description.text()
        )
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": text,
            "priority": self.priority,
        }


@dataclass(slots=True, frozen=True, weakref_slot=True)
class Printer:
    """How the objects of one resource are printed.

    `conditions` marks rows that are over (upstream greys them out), `order` sorts a
    list before it is printed. Upstream prints from its internal form, where
    `internal_annotations` are fields: they are not among the annotations of a row.
    """

    columns: tuple[Column, ...]
    row: Row
    conditions: Callable[[Object], list[Object] | None] | None = None
    order: Callable[[Object], Any] | None = None
    internal_annotations: tuple[str, ...] = ()


def field(type: str, name: str) -> Documented:
    """The documentation of a field, to describe a column with."""
    return Documented(type, name)


NAME = Column("Name", field("meta/v1.ObjectMeta", "name"), format="name")
AGE = Column("Age", field("meta/v1.ObjectMeta", "creationTimestamp"))


def print_name_and_age(obj: Object, now: float) -> Cells:
    """The cells of kinds that have nothing to show."""
    return [obj["metadata"]["name"], age(obj, now)]


NAME_AND_AGE = Printer((NAME, AGE), print_name_and_age)
CONTAINERS = (
    Column("Containers", "Names of each container in the template.", priority=1),
    Column(
        "Images", "Images referenced by each container in the template.", priority=1
    ),
)


def container_cells(template: Object | None) -> Cells:
    """Names and images of a pod template's containers. Upstream:
    `layoutContainerCells`.
    """
    containers = ((template or {}).get("spec") or {}).get("containers") or []
    return [",".join(c.get(key, "") for c in containers) for key in ("name", "image")]


def format_labels(labels: dict[str, str] | None) -> str:
    """`a=1,b=2` in order, or `<none>`. Upstream: `labels.FormatLabels`."""
    return (
        ",".join(sorted(f"{key}={value}" for key, value in (labels or {}).items()))
        or "<none>"
    )


def list_with_more(
    items: Sequence[str], count: int, maximum: int = 3, empty: str = "<unset>"
) -> str:
    """The first few items and how many there are besides. Upstream:
    `listWithMoreString`.
    """
    text = ",".join(items[:maximum])
    return f"{text} + {count - maximum} more..." if count > maximum else text or empty
