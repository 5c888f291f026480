"""`kubectl version`: the client's, and what `/version` says.

Upstream: `kubectl/pkg/cmd/version/version.go` (`Options.Run`), `skew_warning.go`,
v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go.json.encode import marshal_indent
from lifecycle.api.go.yaml import to_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.version import GIT_COMMIT, KUBERNETES_VERSION, PLATFORM
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import OUTPUT, flag, parse
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

KUSTOMIZE = "v5.8.1"
SUPPORTED_SKEW = 1
CLIENT_VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": KUBERNETES_VERSION,
    "gitCommit": GIT_COMMIT,
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": PLATFORM,
}
"""What this kubectl says of itself. It was built by nobody at no time, and says so as a
kubectl without build information does.
"""


async def version(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl version ARGV`."""
    p = parse(argv, (OUTPUT, flag("client", "bool")), "version")
    if p.args and not p["client"]:  # upstream takes no arguments up where it returns
        raise CommandError(f"extra arguments: [{' '.join(p.args)}]")
    if p["output"] not in ("", "json", "yaml"):
        raise CommandError("--output must be 'yaml' or 'json'")
    version_info: Object = {
        "clientVersion": CLIENT_VERSION,
        "kustomizeVersion": KUSTOMIZE,
    }
    if not p["client"]:
        version_info["serverVersion"] = await session.send(
            "GET", "/version", {"timeout": "32s"}, accept=JSON_OR_ANYTHING
        )
    if p["output"]:
        written = (
            marshal_indent(version_info, "  ")
            if p["output"] == "json"
            else to_yaml(version_info)
        )
        session.print(f"{written}\n")
    else:
        session.print(
            f"Client Version: {KUBERNETES_VERSION}\nKustomize Version: {KUSTOMIZE}\n"
        )
    if p["client"]:
        return
    server = version_info["serverVersion"]["gitVersion"]
    if not p["output"]:
        session.print(f"Server Version: {server}\n")
    own, its = (
        [int(part) for part in text.lstrip("v").split(".")[:2]]
        for text in (KUBERNETES_VERSION, server)
    )
    if own[0] != its[0] or abs(own[1] - its[1]) > SUPPORTED_SKEW:
        session.warn(
            "Warning: version difference between client"
            f" ({'.'.join(KUBERNETES_VERSION.lstrip('v').split('.')[:2])}) and server"
            f" ({'.'.join(server.lstrip('v').split('.')[:2])}) exceeds the supported"
            " minor version skew of +/-1\n"
        )
