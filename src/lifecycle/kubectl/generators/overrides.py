"""`--overrides`: a patch laid over a generated object, before it goes anywhere.

Upstream: `kubectl/pkg/cmd/util/override_options.go` (`NewOverrider`, `Apply`),
`kubectl/pkg/cmd/util/helpers.go` (`Merge`, `StrategicMerge`, `JSONPatch`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go_format import go_quote
from lifecycle.api.go_json.decode import unmarshal
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import decode, schema_for
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.source_lines import KUBECTL_SCHEME

_NO_OBJECT = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go"
    ' value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind'
    ' string "json:\\"kind,omitempty\\"" }'
)


def overridden(obj: Object, text: str, how: str = "merge") -> Object:
    """The object with the patch laid over it: `merge`, `strategic` or `json`.

    Raises CommandError for what is no JSON, or fits no such object.
    """
    if not text:
        return obj
    if how not in ("json", "merge", "strategic"):
        raise CommandError(f"invalid override type: {how}")
    patch = _read(text, how)
    if patch is None and how != "merge":  # no patch at all
        return obj
    try:
        return _typed(_patched(obj, patch, how))
    except StatusError as error:
        message = error.message
        causes = (error.status.get("details") or {}).get("causes") or ()
        raise CommandError(
            causes[0]["message"] if causes and error.reason == "Invalid" else message
        ) from None


def _read(text: str, how: str) -> Any:
    """The patch. Raises CommandError; only a JSON patch's complaint says what is
    wrong.
    """
    try:
        return unmarshal(text)
    except ValueError as error:
        raise CommandError(_NO_JSON.get(how, str(error))) from None


_NO_JSON = {"merge": "Invalid JSON Patch", "strategic": "invalid JSON document"}
"""What is said of a patch that is no JSON. Upstream: `jsonpatch.ErrBadJSONPatch`,
`mergepatch.ErrBadJSONDoc`.
"""


def _patched(obj: Object, patch: Any, how: str) -> Any:
    if how == "json":
        return _json_patched(obj, patch)
    if how == "strategic":
        if not isinstance(patch, dict):
            raise CommandError(_NO_JSON[how])
        return strategic_merge_patch(
            obj, patch, schema_for(obj["apiVersion"], obj["kind"])
        )
    patched = apply_merge_patch(obj, patch)
    if not isinstance(patched, dict):
        raise CommandError(
            _NO_OBJECT if isinstance(patched, list) else "Invalid JSON Patch"
        )
    return patched


def _json_patched(obj: Object, patch: Any) -> Any:
    """Operation by operation: here, unlike on the server, it is said which one
    failed.
    """
    if not isinstance(patch, list):
        return apply_json_patch(obj, patch)
    for operation in patch:
        try:
            obj = apply_json_patch(obj, [operation])
        except StatusError as failed:
            if failed.reason != "Invalid":
                raise
            op, path = operation.get("op"), operation.get("path", "")
            if op == "test":
                raise CommandError(
                    f"testing value {path} failed: test failed"
                ) from None
            if op == "remove":
                key = path.rpartition("/")[2]
                raise CommandError(
                    f"error in remove for path: '{path}': unable to remove nonexistent"
                    f" key: {key}: missing value"
                ) from None
            raise CommandError(
                f"{op} operation does not apply: doc is missing path: {path}: missing"
                " value"
            ) from None
    return obj


def _typed(obj: Object) -> Object:
    """The object as its kind has it. Raises CommandError for kinds that nobody knows
    and values that do not fit.
    """
    try:
        schema_for(obj.get("apiVersion", ""), obj.get("kind", ""))
        return decode(obj, obj.get("apiVersion", ""), obj.get("kind", ""))[0]
    except KeyError:
        raise CommandError(
            f"no kind {go_quote(obj.get('kind', ''))} is registered for version"
            f" {go_quote(obj.get('apiVersion', ''))} in scheme"
            f' "{KUBECTL_SCHEME}"'
        ) from None
    except StatusError as error:
        raise CommandError(
            error.message.partition(f"cannot be handled as a {obj['kind']}: ")[2]
            or error.message
        ) from None
