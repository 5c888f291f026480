"""From client-side to server-side apply without a fight over fields that kubectl itself
wrote.

`kubectl apply` keeps what it last applied in an annotation. When the same kubectl
applies server-side, it may take over, without force, every field that is still as the
annotation says; and the annotation is kept up to date, so that one can go back.

Upstream: `apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go`,
`lastappliedupdater.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api import fast_json
from lifecycle.api.fieldpath.field_sets import Fields, difference
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.managedfields.compare import compare
from lifecycle.apiserver.managedfields.config_set import field_set
from lifecycle.apiserver.managedfields.typed import type_for

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def allowed_by_last_applied(live: Object, patch_obj: Object, disputed: Fields) -> bool:
    """Whether everything in dispute is still as kubectl last applied it."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    if not text:
        return False
    try:
        last = fast_json.loads(text)
    except ValueError:
        return False
    if not isinstance(last, dict) or last.get("apiVersion") != patch_obj["apiVersion"]:
        return False
    t = type_for(patch_obj["apiVersion"], patch_obj["kind"])
    allowed = field_set(t, last)
    if last != live:
        changed, gone = compare(t, last, live)
        allowed = difference(difference(allowed, changed), gone)
    return not difference(disputed, allowed)


def refresh_last_applied(new: Object, patch_obj: Object) -> None:
    """Write the configuration into the annotation, if the object has one. Changes
    `new`'s metadata.
    """
    annotations = new["metadata"].get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return
    metadata = dict(patch_obj.get("metadata") or {})
    mine = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if key != LAST_APPLIED
    }
    if mine:
        metadata["annotations"] = mine
    text = (
        fast_json.dumps(
            {**patch_obj, "metadata": metadata}, option=fast_json.OPT_SORT_KEYS
        ).decode()
        + "\n"
    )
    new["metadata"]["annotations"] = {**annotations, LAST_APPLIED: text}
