"""How the API says no: code, reason, words and details (`apimachinery/pkg/api/errors/errors.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.aggregate import aggregate
from lifecycle.api.status import (
    StatusError,
    already_exists,
    bad_request,
    conflict,
    failure,
    forbidden,
    generic_not_found,
    gone,
    internal_error,
    invalid,
    method_not_allowed,
    not_found,
    request_entity_too_large,
    success,
    too_large_resource_version,
    unauthorized,
)

CAUSE = {"reason": "FieldValueRequired", "message": "Required value", "field": "spec"}
OTHER = {"reason": "FieldValueInvalid", "message": 'Invalid value: "x"', "field": "metadata.name"}
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


@pytest.mark.parametrize(
    ("refuse", "code", "reason", "message", "details"),
    [
        (lambda: not_found("pods", "web"), 404, "NotFound", 'pods "web" not found', {"name": "web", "kind": "pods"}),
        (lambda: not_found("deployments", "web", "apps"), 404, "NotFound", 'deployments.apps "web" not found',
         {"name": "web", "group": "apps", "kind": "deployments"}),
        (lambda: already_exists("pods", "web"), 409, "AlreadyExists", 'pods "web" already exists',
         {"name": "web", "kind": "pods"}),
        (lambda: conflict("pods", "web"), 409, "Conflict", f'Operation cannot be fulfilled on pods "web": {MODIFIED}',
         {"name": "web", "kind": "pods"}),
        (lambda: conflict("jobs", "web", "why", "batch"), 409, "Conflict",
         'Operation cannot be fulfilled on jobs.batch "web": why', {"name": "web", "group": "batch", "kind": "jobs"}),
        (lambda: bad_request("why"), 400, "BadRequest", "why", None),
        (lambda: forbidden("pods", "web", "why"), 403, "Forbidden", 'pods "web" is forbidden: why',
         {"name": "web", "kind": "pods"}),
        (lambda: forbidden("jobs", "", "why", "batch"), 403, "Forbidden", "jobs.batch is forbidden: why",
         {"group": "batch", "kind": "jobs"}),
        (lambda: forbidden("", "", "why"), 403, "Forbidden", "forbidden: why", {"kind": ""}),
        (lambda: unauthorized(), 401, "Unauthorized", "Unauthorized", None),
        (lambda: gone("why"), 410, "Expired", "why", None),
        (lambda: too_large_resource_version(9, 5), 504, "Timeout", "Timeout: Too large resource version: 9, current: 5",
         {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
          "retryAfterSeconds": 1}),
        (lambda: generic_not_found(), 404, "NotFound", "the server could not find the requested resource", {}),
        (lambda: method_not_allowed(), 405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource", {}),
        (lambda: internal_error("why"), 500, "InternalError", "Internal error occurred: why", {"causes": [{"message": "why"}]}),
        (lambda: request_entity_too_large(3), 413, "RequestEntityTooLarge", "Request entity too large: limit is 3", None),
        (lambda: invalid("Pod", "web", [CAUSE]), 422, "Invalid", 'Pod "web" is invalid: spec: Required value',
         {"name": "web", "kind": "Pod", "causes": [CAUSE]}),
        (lambda: invalid("Job", "", [CAUSE, OTHER, CAUSE], "batch"), 422, "Invalid",
         'Job.batch "" is invalid: [spec: Required value, metadata.name: Invalid value: "x"]',
         {"group": "batch", "kind": "Job", "causes": [CAUSE, OTHER, CAUSE]}),
        (lambda: failure(503, "", "why"), 503, "", "why", None),
    ],
)  # fmt: skip
def test_a_refusal_says_why_in_words_that_clients_know(
    refuse: Callable[[], StatusError], code: int, reason: str, message: str, details: Any
) -> None:
    error = refuse()
    assert (error.code, error.reason, error.message, str(error)) == (code, reason, message, message)
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    status |= (
        {"code": code} | ({"reason": reason} if reason else {}) | ({} if details is None else {"details": details})
    )
    assert error.status == status


def test_a_status_that_says_nothing_is_an_error_of_the_server() -> None:
    error = StatusError({})
    assert (error.code, error.reason, error.message) == (500, "", "")


def test_success_has_details_only_if_there_are_some() -> None:
    plain = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    assert success() == plain
    assert success({}) == {**plain, "details": {}}
    assert success({"name": "web"}, code=201) == {**plain, "details": {"name": "web"}, "code": 201}


def test_several_errors_are_one_and_none_is_said_twice() -> None:
    assert aggregate([]) == ""
    assert aggregate(["a"]) == aggregate(["a", "a"]) == "a"
    assert aggregate(["b", "a", "b"]) == "[b, a]"
