"""Which Kubernetes this is, and how its programs introduce themselves.

Upstream: `component-base/version/base.go`, `client-go/rest/config.go`
(`DefaultKubernetesUserAgent`, `AddUserAgent`), v1.36.
"""

from __future__ import annotations

KUBERNETES_VERSION = "v1.36.2"
"""The pinned version. Sources in the book link to this tag."""
GIT_COMMIT = "$Format"
"""What a program says that was built without a commit: git fills in `$Format:%H$` where
sources are exported, and the recorded programs were built elsewhere.
"""
PLATFORM = "linux/amd64"


def user_agent(command: str, role: str = "") -> str:
    """How a program calls itself, and which of its parts speaks. The text before the
    first `/` becomes the field manager of what it writes.
    """
    agent = f"{command}/{KUBERNETES_VERSION} ({PLATFORM}) kubernetes/{GIT_COMMIT}"
    return f"{agent}/{role}" if role else agent
