"""Who owns which field of an object (`metadata.managedFields`), and server-side apply,
which is built on it.

- `update_managed_fields(live, new, …)` – the bookkeeping of creates, updates and
  patches
- `apply_patch(live, patch_obj, …)` – server-side apply
- `ignore_timestamps(new, old)` – so that writing the same again stays a no-op
- `scale_entries`, `parent_entries` – the way through `/scale`
"""

from lifecycle.apiserver.managedfields.apply import apply_patch
from lifecycle.apiserver.managedfields.entries import ignore_timestamps
from lifecycle.apiserver.managedfields.scale import parent_entries, scale_entries
from lifecycle.apiserver.managedfields.update import update_managed_fields

__all__ = [
    "apply_patch",
    "ignore_timestamps",
    "parent_entries",
    "scale_entries",
    "update_managed_fields",
]
