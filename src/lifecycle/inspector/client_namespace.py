"""The official Python client, already connected.

`cluster.client.AppsV1Api()` is `kubernetes.client.AppsV1Api(api_client)` without the
reader having to carry the `ApiClient` about. Everything else of `kubernetes.client`
(models, exceptions) is passed through.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    import kubernetes.client
else:
    kubernetes = late_import("kubernetes")


class ClientNamespace:
    """`kubernetes.client` with its API classes bound to one cluster."""

    def __init__(self, api_client: kubernetes.client.ApiClient) -> None:
        self.api_client = api_client

    def __getattr__(self, name: str) -> Any:
        member = getattr(kubernetes.client, name)
        if isinstance(member, type) and name.endswith("Api"):
            return partial(member, self.api_client)
        return member

    def __dir__(self) -> list[str]:
        return dir(kubernetes.client)


def get_json(
    api_client: kubernetes.client.ApiClient, path: str, accept: str = "application/json"
) -> Any:
    """GET any path through the official client. Returns parsed JSON, or text where the
    answer is not JSON.

    Raises `kubernetes.client.ApiException` for an answer of 400 or more.
    """
    headers = {"Accept": accept, "User-Agent": api_client.user_agent}
    api_client.update_params_for_auth(headers, [], ["BearerToken"], path, "GET", None)
    answer = api_client.call_api(
        "GET", api_client.configuration.host + path, header_params=headers
    )
    data = answer.read()
    if not 200 <= answer.status <= 299:
        raise kubernetes.client.ApiException(http_resp=answer)
    text = data.decode()
    return (
        json.loads(text) if "json" in (answer.getheader("content-type") or "") else text
    )
