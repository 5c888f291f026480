"""What a client sent as a patch, as data: a list of operations, a partial object, or an
apply configuration.

A reader that is asked to be strict also objects to fields given twice, and to fields
that no operation of a JSON patch has. What it found goes along with the patch; whether
it matters is decided later.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`jsonPatcher.applyJSPatch`,
`strategicPatchObject`, `applyPatcher.applyPatchToCurrentObject`), v1.36.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, NamedTuple

from lifecycle.api import fast_json, status
from lifecycle.api.go.format import go_value
from lifecycle.api.go.json.as_sent import LONGEST, as_sent, text_of
from lifecycle.api.go.json.decode import as_go_values, json_type, wrong_type
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.schema import find_duplicate_fields
from lifecycle.apiserver.http.json_bodies import read_json
from lifecycle.apiserver.registry.rest.strategy import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
)

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""Half of a character, as JSON escapes those beyond the first 65,536; YAML knows no
such halves and refuses the text.
"""

_OPERATION = {"op": "string", "path": "string", "from": "string", "value": ""}


class PatchBody(NamedTuple):
    """A patch as it was sent. `errors`: what strict reading objects to in it; `text`:
    empty if it came as data.
    """

    content_type: str
    patch: Any
    errors: list[str]
    force: bool
    text: bytes = b""

    def compared(self) -> Any:
        """The patch to be applied: if it is going to compare something, it is to the
        text that was sent.
        """
        tests = self.content_type == JSON_PATCH and any(
            operation.get("op") == "test" for operation in self.patch
        )
        return self._as_sent() if tests else self.patch

    def left_of(self, document: Object) -> str:
        """What the patch leaves of a document, as a refusal shows it: in the client's
        own spelling. After a strategic merge patch it is the patch itself, as Go prints
        a map.
        """
        if self.content_type == STRATEGIC_MERGE_PATCH:
            return go_value(self.patch)
        json_patch = self.content_type == JSON_PATCH
        apply = apply_json_patch if json_patch else apply_merge_patch
        return text_of(apply(document, self._as_sent()))

    def _as_sent(self) -> Any:
        if not 0 < len(self.text) <= LONGEST:
            return self.patch
        try:
            return as_sent(self.text)
        except (ValueError, RecursionError):  # not UTF-8, or very deep
            return self.patch


def parse_patch(content_type: str, body: bytes) -> tuple[Any, list[str]]:
    """The patch as data, and what a strict reader would object to. Raises StatusError
    400.
    """
    try:
        if content_type == APPLY_PATCH:
            return _parse_apply(body)
        patch = read_json(body)
        if content_type != JSON_PATCH:
            return _parse_object(patch, content_type), find_duplicate_fields(
                body, patch
            )
        patch, unknown = _parse_operations(patch)
        return patch, [
            f"json patch {each}"
            for each in (*find_duplicate_fields(body, patch), *unknown)
        ]
    except ValueError as error:
        prefix = {APPLY_PATCH: "error decoding YAML: ", STRATEGIC_MERGE_PATCH: ""}.get(
            content_type, "error decoding patch: "
        )
        raise status.bad_request(f"{prefix}{error}") from None


def _parse_apply(body: bytes) -> tuple[Object, list[str]]:
    """An apply is YAML, whatever it looks like: JSON is only read as such because that
    is quicker.
    """
    strict_errors = ["not JSON"]
    if not _SURROGATE.search(body):
        with contextlib.suppress(fast_json.JSONDecodeError):
            patch, strict_errors = fast_json.loads(body), find_duplicate_fields(body)
    if strict_errors:
        try:
            patch, strict_errors = read_yaml(body)
        except ValueError as error:
            raise ValueError(f"error converting YAML to JSON: {error}") from None
    if not isinstance(patch, dict | None):
        why = wrong_type(patch, "map[string]interface {}")
        raise ValueError(f"error unmarshaling JSON: while decoding JSON: {why}")
    return as_go_values(patch or {}), strict_errors


def _parse_object(patch: Any, content_type: str) -> Object:
    if patch is None and content_type == MERGE_PATCH:
        raise status.bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict | None):
        raise ValueError(wrong_type(patch, "map[string]interface {}"))
    return patch or {}


def _parse_operations(patch: Any) -> tuple[list[Object], list[str]]:
    """The operations of a JSON patch, and the fields no operation has."""
    if not isinstance(patch, list | None):
        raise ValueError(wrong_type(patch, "[]handlers.jsonPatchOp"))
    unknown = []
    for index, operation in enumerate(patch or ()):
        if not isinstance(operation, dict):
            raise ValueError(wrong_type(operation, "handlers.jsonPatchOp"))
        for key, value in operation.items():
            go_type = _OPERATION.get(key)
            if go_type is None:
                unknown.append(f'unknown field "[{index}].{key}"')
            elif go_type and value is not None and json_type(value) != go_type:
                raise ValueError(wrong_type(value, go_type, f"jsonPatchOp.{key}"))
    return patch or [], unknown
