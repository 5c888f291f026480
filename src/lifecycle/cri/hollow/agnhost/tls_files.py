"""The certificate and the key that a server of `agnhost` is told to show.

Upstream: `test/images/agnhost/webhook/config.go` (`configTLS`), `porter/porter.go`
(`serveTLSPort`), v1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.cri.hollow.agnhost.flags import Default, Flags
from lifecycle.cri.hollow.agnhost.tls import server_context
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import Process

if TYPE_CHECKING:
    import ssl
else:
    ssl = late_import("ssl")

CERTIFICATE, KEY = "tls-cert-file", "tls-private-key-file"
TLS_FLAGS: dict[str, Default] = {CERTIFICATE: "", KEY: ""}


class CertificateError(Exception):
    """There is no such certificate, or it is none. A program ends of it."""


async def tls_of_files(process: Process, certificate: str, key: str) -> ssl.SSLContext:
    """Raises CertificateError."""
    try:
        read = [
            await process.files.read(absolute(process.cwd, path))
            for path in (certificate, key)
        ]
        return server_context(*read)
    except FileError as error:
        raise CertificateError(f"{certificate}, {key}: {error}") from None
    except ssl.SSLError as error:
        raise CertificateError(f"tls: {error.reason or error}") from None


async def tls_of_flags(process: Process, flags: Flags) -> ssl.SSLContext:
    """Raises CertificateError."""
    return await tls_of_files(process, flags.text(CERTIFICATE), flags.text(KEY))
