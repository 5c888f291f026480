"""Field selectors: which fields of a kind can be selected by, and their values.

Every kind knows `metadata.name` and `metadata.namespace`; a few know more.

Upstream: `pkg/apis/*/v1/conversion.go` (`AddFieldLabelConversionFunc`),
`ToSelectableFields` of each `pkg/registry/*/*/strategy.go`,
`apimachinery/pkg/runtime/conversion.go` (`DefaultMetaV1FieldSelectorConversion`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.api.http.wire import Object

NAME, NAMESPACE = "metadata.name", "metadata.namespace"


def _nothing_more(obj: Object) -> dict[str, str]:
    return {}


def unknown_field_selector(label: str) -> str:
    """What is said of a label by kinds that know the two of the metadata only."""
    return (
        f'"{label}" is not a known field selector: only "metadata.name",'
        ' "metadata.namespace"'
    )


def field_label_not_supported(label: str) -> str:
    """What is said of a label by kinds that list their own."""
    return f"field label not supported: {label}"


@dataclass(slots=True, frozen=True)
class FieldLabels:
    """`labels` are accepted in a selector; `own` reads those of an object that are not
    the metadata's; `unsupported` is the message (400) for any other label.
    """

    labels: tuple[str, ...] = (NAME, NAMESPACE)
    own: Callable[[Object], dict[str, str]] = _nothing_more
    unsupported: Callable[[str], str] = unknown_field_selector

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """The values of an object's selectable fields. Upstream:
        `ToSelectableFields`.
        """
        metadata = obj.get("metadata") or {}
        return {
            NAME: metadata.get("name", ""),
            NAMESPACE: metadata.get("namespace", ""),
            **self.own(obj),
        }


METADATA_ONLY = FieldLabels()
