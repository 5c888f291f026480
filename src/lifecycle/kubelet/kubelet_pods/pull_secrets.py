"""The secrets named in a pod's `imagePullSecrets`, fetched before anything is pulled.

The names were put there by the pod's author or, if there were none, by admission from
the pod's service account. One that cannot be had is a warning and nothing more: the
image may be public. Their contents go to the registry with the pull, and nowhere into
the container.

Upstream: `pkg/kubelet/kubelet_pods.go` (`getPullSecretsForPod`), `kubelet.go`
(`SyncPod`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.container.runtime_helper import GetObject, RecordEvent

REASON = "FailedToRetrieveImagePullSecret"


async def get_pull_secrets_for_pod(
    pod: Object, get: GetObject, event: RecordEvent
) -> list[Object]:
    """Those that are there, in the pod's order. The others are named in one
    warning event.
    """
    secrets, failed = [], []
    for reference in pod["spec"].get("imagePullSecrets") or ():
        name = reference.get("name", "")
        if not name:
            continue  # a reference without a name is allowed and means nothing
        try:
            secrets.append(await get("secrets", name, pod["metadata"]["namespace"]))
        except LookupError:
            failed.append(name)
    if failed:
        event(
            "Warning",
            REASON,
            f"Unable to retrieve some image pull secrets ({', '.join(failed)});"
            " attempting to pull the image may not succeed.",
        )
    return secrets
