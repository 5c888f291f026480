"""What a client says of an answer that is no `Status` (`NewGenericServerResponse`)."""

from __future__ import annotations

import pytest

from lifecycle.api.http.generic_server_response import generic_server_response


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (400, "BadRequest", "the server rejected our request for an unknown reason"),
        (401, "Unauthorized", "the server has asked for the client to provide credentials"),
        (403, "Forbidden", "body"),
        (404, "NotFound", "the server could not find the requested resource"),
        (405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
        (406, "NotAcceptable", "body"),
        (409, "Conflict", "the server reported a conflict"),
        (415, "UnsupportedMediaType", "body"),
        (422, "Invalid", "the server rejected our request due to an error in our request"),
        (429, "TooManyRequests", "the server has received too many requests and has asked us to try again later"),
        (500, "InternalError", 'an error on the server ("body") has prevented the request from succeeding'),
        (502, "InternalError", 'an error on the server ("body") has prevented the request from succeeding'),
        (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
        (504, "Timeout",
         "the server was unable to return a response in the time allotted, but may still be processing the request"),
        (418, "", "the server responded with the status code 418 but did not return more information"),
    ],
)  # fmt: skip
def test_each_code_has_its_reason_and_words(code: int, reason: str, message: str) -> None:
    error = generic_server_response(code, "body", method="GET")
    assert (error.code, error.reason, error.message) == (code, reason, message)


def test_a_conflict_of_a_create_is_that_it_exists_already() -> None:
    assert generic_server_response(409, "body", method="POST").reason == "AlreadyExists"
    assert generic_server_response(409, "body", method="PUT").reason == "Conflict"


@pytest.mark.parametrize("message", ["", "unknown"])
def test_a_type_that_is_not_accepted_has_words_of_its_own_if_the_server_has_none(message: str) -> None:
    words = "the server was unable to respond with a content type that the client supports"
    assert generic_server_response(406, message).message == words
