"""REST strategies: what the registry decides per kind, apart from storing. See `rest`
for the story.
"""

from lifecycle.api.strategy.field_labels import (
    field_label_error,
    field_labels,
    known_field_labels,
    selectable_fields,
)
from lifecycle.api.strategy.rest import (
    Strategy,
    allow_create_on_update,
    allow_unconditional_update,
    canonicalize,
    prepare_for_create,
    prepare_for_update,
    strategy_for,
)

__all__ = [
    "Strategy",
    "allow_create_on_update",
    "allow_unconditional_update",
    "canonicalize",
    "field_label_error",
    "field_labels",
    "known_field_labels",
    "prepare_for_create",
    "prepare_for_update",
    "selectable_fields",
    "strategy_for",
]
