"""Pods from the API server, by watch.

The watch asks for `spec.nodeName=<node>`, so that the API server does the sorting: the
kubelet never sees another node's pods, nor those that nobody has placed yet.

Upstream: `pkg/kubelet/config/apiserver.go` (`NewSourceApiserver`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.types.pod_update import API


def new_source_apiserver(
    client: Client, node_name: str, config: PodConfig
) -> SharedInformer:
    """An informer for the node's pods that feeds `config`; not yet started."""

    def added(pod: Object) -> None:
        config.changed(API, pod)

    def removed(pod: Object) -> None:
        config.removed(API, pod)

    def updated(old: Object, new: Object) -> None:
        if (
            old["metadata"]["uid"] != new["metadata"]["uid"]
        ):  # deleted and made again while no watch ran
            config.removed(API, old)
        config.changed(API, new)

    informer = SharedInformer(
        client,
        resource("pods"),
        field_selector=f"spec.nodeName={node_name}",
        use_watch_list=True,
    )
    informer.add_event_handler(added, updated, removed)
    return informer
