"""What a hollow server that speaks TLS shows: a certificate and its key, as they lie in
its files.

Upstream: Go's `crypto/tls` (`LoadX509KeyPair`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    import ssl
else:
    ssl = late_import("ssl")


def server_context(certificate: bytes, key: bytes) -> ssl.SSLContext:
    """Of PEM. Raises ssl.SSLError for what is none, or if they do not belong
    together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with tempfile.TemporaryDirectory() as folder:  # ssl reads them from files only
        chain = Path(folder) / "chain.pem"
        chain.touch(mode=0o600)
        chain.write_bytes(certificate + b"\n" + key)
        context.load_cert_chain(chain)
    return context
