"""A patch laid over an object by kubectl itself: `patch --local`, `--dry-run=client`,
`--overrides`.

The server never says which operation of a JSON patch failed; here it is said. And where
the server's handler forgives an operation on a key that is not there, the client does
not.

Upstream: `kubectl/pkg/cmd/patch/patch.go` (`getPatchedJSON`),
`kubectl/pkg/cmd/util/helpers.go` (`Merge`, `StrategicMerge`, `JSONPatch`),
`gopkg.in/evanphx/json-patch.v4/patch.go`, v1.36.2.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError

NO_JSON = {"merge": "Invalid JSON Patch", "strategic": "invalid JSON document"}
"""What is said of a patch that is no JSON. Upstream: `jsonpatch.ErrBadJSONPatch`,
`mergepatch.ErrBadJSONDoc`.
"""
OPERATIONS = ("add", "copy", "move", "remove", "replace", "test")


def locally_patched(obj: Object, patch: Any, how: str) -> Any:
    """What a patch (`json`, `merge` or `strategic`) makes of an object; for a merge it
    may be a list.

    Raises CommandError, StatusError for a strategic patch that cannot be merged, and
    KeyError for a strategic patch of a kind that nobody knows.
    """
    if how == "json":
        return json_patched(obj, patch)
    if how == "strategic":
        if not isinstance(patch, dict):
            raise CommandError(NO_JSON[how])
        return strategic_merge_patch(
            obj, patch, schema_for(obj["apiVersion"], obj["kind"])
        )
    patched = apply_merge_patch(obj, patch)
    if not isinstance(patched, (dict, list)):
        raise CommandError(NO_JSON[how])
    return patched


def json_patched(obj: Object, patch: Any) -> Any:
    """The object after all operations. Raises CommandError for the first that fails,
    StatusError for what is no patch.
    """
    if not isinstance(patch, list):
        raise CommandError(wrong_type(patch, "jsonpatch.Patch"))
    for operation in patch:
        if isinstance(operation, dict):
            _check(obj, operation)
        obj = apply_json_patch(obj, [operation])
    return obj


def _check(obj: Object, operation: Object) -> None:
    """Raises CommandError for an operation that cannot be done."""
    op, path = operation.get("op"), str(operation.get("path", ""))
    source = str(operation.get("from", ""))
    if op not in OPERATIONS:
        raise CommandError(
            f"invalid operation {marshal(operation)}: unsupported operation"
        )
    if op == "test":
        try:
            apply_json_patch(obj, [operation])
        except StatusError:
            raise CommandError(f"testing value {path} failed: test failed") from None
    elif op in ("move", "copy"):
        key = source.rpartition("/")[2]
        named = f"for path: '{key}'" if op == "move" else f"for from: '{source}'"
        _check_there(obj, op, source, f"error in {op} {named}: unable to get")
    elif op == "remove":
        _check_there(
            obj, op, path, f"error in remove for path: '{path}': unable to remove"
        )
    else:
        container, key = _container(obj, op, path)
        if op == "replace" and isinstance(container, dict) and key not in container:
            raise CommandError(
                f"replace operation does not apply: doc is missing key: {path}: missing"
                " value"
            )
        if isinstance(container, list) and key != "-":
            _check_index(container, key, op, path)


def _check_there(obj: Object, op: str, path: str, complaint: str) -> None:
    container, key = _container(obj, op, path)
    if isinstance(container, dict) and key not in container:
        raise CommandError(f"{complaint} nonexistent key: {key}: missing value")
    if isinstance(container, list):
        _check_index(container, key, op, path)


def _check_index(container: list[Any], key: str, op: str, path: str) -> None:
    most = len(container) + (1 if op == "add" else 0)
    if key.lstrip("-").isdecimal() and not -most <= int(key) < most:
        raise CommandError(
            f"error in {op} for path: '{path}': Unable to access invalid index: {key}:"
            " invalid index referenced"
        )


def _container(obj: Object, op: str, path: str) -> tuple[Any, str]:
    """What holds the last step of a path, and that step. Raises CommandError."""
    *steps, last = [
        part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]
    ] or [""]
    value: Any = obj
    for step in steps:
        if isinstance(value, list):
            inside = step.isdecimal() and int(step) < len(value)
            value = value[int(step)] if inside else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, (dict, list)):
        named = f'"{path}"' if op in ("add", "remove") else path
        raise CommandError(
            f"{op} operation does not apply: doc is missing path: {named}: missing"
            " value"
        )
    return value, last
