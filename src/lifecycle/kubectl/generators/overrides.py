"""`--overrides`: a patch laid over a generated object, before it goes anywhere.

Upstream: `kubectl/pkg/cmd/util/override_options.go` (`NewOverrider`, `Apply`),
v1.36; how a patch is laid over an object is in `local_patch`.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode, schema_for
from lifecycle.api.schema.decode import CannotBeHandledError
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.local_patch import NO_JSON, locally_patched
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
        raise CommandError(NO_JSON.get(how, str(error))) from None


def _patched(obj: Object, patch: Any, how: str) -> Object:
    patched = locally_patched(obj, patch, how)
    if not isinstance(patched, dict):
        raise CommandError(_NO_OBJECT)
    return patched


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
    except CannotBeHandledError as error:
        raise CommandError(error.why) from None
