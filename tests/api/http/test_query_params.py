"""Booleans of a query string, in every place that reads one."""

from __future__ import annotations

import pytest

from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.endpoints.options import bool_option
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.kubelet.logs.read import log_options
from lifecycle.kubelet.server.remote_command import new_options

YES, NO = ("true", "True", "TRUE", "1", "2", "yes", "", "no"), ("false", "False", "FALSE", "0")


@pytest.mark.parametrize(("text", "expected"), [*((text, True) for text in YES), *((text, False) for text in NO)])
def test_only_zero_and_false_are_false(text: str, expected: bool) -> None:
    query = {"key": [text, "other"]}
    assert bool_parameter(query, "key") is expected
    assert bool_option(Request("GET", "/", query), "key") is expected
    logs = Request("GET", "/", {"follow": [text], "previous": [text], "timestamps": [text]})
    options = log_options(logs, 0.0)
    assert (options.follow, options.previous, options.timestamps) == (expected,) * 3
    streams = new_options(Request("GET", "/", {"input": ["1"], "output": [text], "error": [text]}))
    assert (streams.stdout, streams.stderr) == (expected, expected)
    assert new_options(Request("GET", "/", {"input": ["1"], "tty": [text]})).tty is expected
    verb = RequestInfoFactory().new_request_info("GET", "/api/v1/pods", {"watch": [text]}).verb
    assert verb == ("watch" if expected else "list")


def test_a_boolean_that_is_not_given_is_neither() -> None:
    assert bool_parameter({"key": []}, "key") is None
    assert bool_parameter({}, "key") is None
