"""`agnhost porter`: a server for each variable that asks for one, which answers
everything with the variable's value.

Upstream: `test/images/agnhost/porter/porter.go`, v1.36. Left out: UDP and SCTP; it says
so, and nobody listens there.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.flags import Flags
from lifecycle.cri.hollow.agnhost.tls_files import tls_of_files
from lifecycle.cri.hollow.process.not_modelled import not_modelled_message
from lifecycle.cri.hollow.process.process import Process

if TYPE_CHECKING:
    import ssl

_VARIABLE = re.compile(r"SERVE_(?:(TCP|TLS|UDP|SCTP)_)?PORT_(\d+)")


async def _answer(value: str, json_response: bool, request: HTTPRequest) -> HTTPAnswer:
    if not json_response:
        return HTTPAnswer(200, value)
    said = {"Method": request.method, "Body": value}
    text = json.dumps(said, separators=(",", ":"))
    return HTTPAnswer(200, text, content_type="application/json")


async def _tls(process: Process) -> ssl.SSLContext:
    """What its environment names, or what lies in the image."""
    certificate = process.env.get("CERT_FILE") or "localhost.crt"
    return await tls_of_files(
        process, certificate, process.env.get("KEY_FILE") or "localhost.key"
    )


async def porter(process: Process, flags: Flags) -> int:
    """Serves until it is ended."""
    for name, value in process.env.items():
        variable = _VARIABLE.fullmatch(name)
        if variable is None:
            continue
        if variable[1] not in (None, "TCP", "TLS"):
            process.stderr(not_modelled_message(f"agnhost porter: {name}").encode())
            continue
        answer = partial(_answer, value, flags.true("json-response"))
        tls = await _tls(process) if variable[1] == "TLS" else None
        process.serve(int(variable[2]), answer, tls)
    await process.sleep(float("inf"))
    return 0
