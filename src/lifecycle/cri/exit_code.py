"""How a command ended, from the `Status` that the runtime sends last.

Upstream: `client-go/tools/remotecommand/v4.go` (`errorDecoderV4`), v1.36.
"""

from __future__ import annotations

import json

from lifecycle.cri.apis.errors import RuntimeServiceError


def exit_code(data: bytes) -> int:
    """What the `Status` on the error stream says. Raises RuntimeServiceError if that is
    more than an exit code.
    """
    status = json.loads(data)
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise RuntimeServiceError(
        f"rpc error: code = Unknown desc = {status.get('message', '')}"
    )
