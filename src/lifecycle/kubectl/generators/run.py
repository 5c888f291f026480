"""`kubectl run NAME --image=IMAGE`: a bare Pod, whatever the restart policy; with
`--expose`, a Service in front of it.

Unlike `create deployment`, run does check the image: it must look like a reference.
That is one of the very few checks left in the client.

Upstream: `kubectl/pkg/generate/versioned/run.go` (`BasicPod.Generate`),
`kubectl/pkg/cmd/run/run.go` (`generateService`, `getRestartPolicy`),
`distribution/reference` (`ReferenceRegexp`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.strconv import atoi
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.expose import service

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|[-]+)[a-z0-9]+)*"
_DOMAIN_COMPONENT = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = (
    rf"(?:{_DOMAIN_COMPONENT}(?:\.{_DOMAIN_COMPONENT}"
    r")*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?"
)
_NAME = rf"(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][0-9A-Fa-f]{32,}"
_reference = re.compile(
    rf"({_NAME})(?::([\w][\w.-]{{0,127}}))?(?:@({_DIGEST}))?", re.ASCII
)

RESTART_POLICIES = ("Always", "OnFailure", "Never")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def check_image(image: str) -> None:
    """Raises CommandError for what is no image reference, before any request is
    made.
    """
    if not _reference.fullmatch(image):
        raise CommandError(
            f"Invalid image name {go_quote(image)}: invalid reference format"
        )


def run_pod(
    name: str,
    image: str,
    *,
    args: Sequence[str] = (),
    command: bool = False,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    env: Sequence[Mapping[str, str]] = (),
    port: str = "",
    restart: str = "",
    image_pull_policy: str = "",
    stdin: bool = False,
    leave_stdin_open: bool = False,
    tty: bool = False,
    privileged: bool = False,
) -> Object:
    """The Pod. `command`: the arguments replace the image's entrypoint instead of
    following it. Raises CommandError for a bad port.
    """
    container: Object = {"name": name, "image": image}
    if args:
        container["command" if command else "args"] = list(args)
    if port:
        container["ports"] = [{"containerPort": _atoi(port)}]
    if env:
        container["env"] = [dict(variable) for variable in env]
    if image_pull_policy:
        container["imagePullPolicy"] = image_pull_policy
    if stdin:
        container["stdin"] = True
        if not leave_stdin_open:
            container["stdinOnce"] = True
    if tty:
        container["tty"] = True
    if privileged:
        container["securityContext"] = {"privileged": True}
    metadata: Object = {
        "name": name,
        "labels": dict(labels) if labels else {"run": name},
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    spec = {
        "containers": [container],
        "restartPolicy": restart or "Always",
        "dnsPolicy": "ClusterFirst",
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def run_service(
    name: str, port: str, labels: Mapping[str, str] | None = None
) -> Object:
    """The Service of `--expose`: same name as the pod, selecting by its labels, which
    the Service itself carries too if they were given.
    """
    return service(
        name, dict(labels) if labels else {"run": name}, [port], labels=labels
    )


def _atoi(text: str) -> int:
    try:
        return atoi(text)
    except ValueError as error:
        raise CommandError(str(error)) from None
