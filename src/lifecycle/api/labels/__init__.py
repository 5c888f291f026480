"""Labels and label selectors: how everything in Kubernetes finds everything else.

- `parse_selector("app=web,tier!=db")` – a `Selector`, from what people type.
- `selector_from_labels`, `selector_from_label_selector` – from what objects say.
- `selector.matches(labels)` – and it is found, or is not.

Upstream: `apimachinery/pkg/labels`.
"""

from lifecycle.api.labels.requirements import Requirement
from lifecycle.api.labels.selector import (
    EVERYTHING,
    NOTHING,
    Selector,
    format_label_selector,
    parse_selector,
    selector_from_label_selector,
    selector_from_labels,
)

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Requirement",
    "Selector",
    "format_label_selector",
    "parse_selector",
    "selector_from_label_selector",
    "selector_from_labels",
]
