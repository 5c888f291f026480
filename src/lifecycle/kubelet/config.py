"""Where a kubelet's pods come from: a watch for pods with its name in `spec.nodeName`.

A field selector lets the API server do the sorting: the kubelet never sees another node's pods.

Upstream: `pkg/kubelet/config/apiserver.go` (`NewSourceApiserver`), `config.go` (`PodConfig`), v1.36. Left out: pods
from files and URLs.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer


def new_source_apiserver(
    client: Client,
    node_name: str,
    *,
    add: Callable[[Object], None],
    update: Callable[[Object, Object], None],
    remove: Callable[[Object], None],
) -> SharedInformer:
    """An informer for the node's pods, not yet started."""
    informer = SharedInformer(client, resource("pods"), field_selector=f"spec.nodeName={node_name}")
    informer.add_event_handler(add, update, remove)
    return informer
