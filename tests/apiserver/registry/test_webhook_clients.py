"""How a webhook is reached, and what is said of a mistake in it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.rest.webhook_clients import validate_webhook_client

FORM = "; desired format: https://host[/path]"


def service(**more: Any) -> dict[str, Any]:
    return {"service": {"name": "s", "namespace": "n", **more}}


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"url": "https://example.com/x"}, []),
        ({}, ["c: Required value: exactly one of url or service is required"]),
        ({"url": "https://h", **service()}, ["c: Required value: exactly one of url or service is required"]),
        ({"url": "http://h"}, [f"""c.url: Invalid value: "http": 'https' is the only allowed URL scheme{FORM}"""]),
        ({"url": "https:///x"}, [f'c.url: Invalid value: "": host must be specified{FORM}']),
        ({"url": "https://me@h"}, ['c.url: Invalid value: "me": user information is not permitted in the URL']),
        ({"url": "https://h#f"}, ['c.url: Invalid value: "f": fragments are not permitted in the URL']),
        ({"url": "https://h?q=1"}, ['c.url: Invalid value: "q=1": query parameters are not permitted in the URL']),
        (
            {"url": "://h"},
            [f'c.url: Required value: url must be a valid URL: parse "://h": missing protocol scheme{FORM}'],
        ),
        (service(path="/a", port=8443), []),
        # upstream asks for the other one
        (service(name=""), ["c.service.namespace: Required value"]),
        (service(namespace=""), ["c.service.name: Required value"]),
        (
            service(port=0),
            ["c.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"],
        ),
        (
            service(path="a"),  # A path without its slash loses its first letter.
            [
                """c.service.path: Invalid value: "a": must start with a '/'""",
                'c.service.path: Invalid value: "a": segment[0] may not be empty',
            ],
        ),
        (service(path="/a//b"), ['c.service.path: Invalid value: "/a//b": segment[1] may not be empty']),
        (service(path="//"), ['c.service.path: Invalid value: "//": segment[0] may not be empty']),
    ],
)
def test_a_webhook_has_one_address(config: dict[str, Any], says: list[str]) -> None:
    assert [str(error) for error in validate_webhook_client(config, "c")] == says
