"""A connection that fails, told as Go tells it: administrators read these words in
events, logs and answers.

Upstream: Go's `net` (`OpError`), `net/url` (`Error`), `crypto/tls`
(`CertificateVerificationError`), `crypto/x509`.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING

from lifecycle.api.go.net import join_host_port
from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    from cryptography import x509
else:
    x509 = late_import("cryptography.x509")


def go_error(error: Exception, address: tuple[str, int]) -> str:
    """What Go says to a failure that Python knows by another name."""
    host, port = address
    dialed = join_host_port(host, port)
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {dialed}: connect: connection refused"
    if isinstance(
        error,
        http.client.RemoteDisconnected | http.client.BadStatusLine | ssl.SSLEOFError,
    ):
        return "EOF"
    if isinstance(error, ConnectionResetError):
        return "read: connection reset by peer"
    if isinstance(error, ssl.SSLError) and error.reason in (
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "RECORD_LAYER_FAILURE",
    ):
        return "http: server gave HTTP response to HTTPS client"
    if isinstance(error, OSError) and error.errno and error.strerror:
        return f"dial tcp {dialed}: connect: {error.strerror.lower()}"
    return str(error)


Dial = Callable[[tuple[str, int], float], socket.socket]
"""A TCP connection to an address, given so many seconds. Raises OSError."""

_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64


def untrusted(
    error: ssl.SSLCertVerificationError,
    host: str,
    peer: tuple[str, int],
    dial: Dial = socket.create_connection,
) -> str:
    """Why a certificate was not believed. `host`: who it had to be for; `peer`: where
    it was shown, and `dial` how that is reached.
    """
    prefix = "tls: failed to verify certificate: x509: "
    if error.verify_code == _EXPIRED:
        return prefix + "certificate has expired or is not yet valid"
    if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        by_address = error.verify_code == _OTHER_ADDRESS
        names = _names(peer, host, dial, addresses=by_address)
        if names:
            return f"{prefix}certificate is valid for {', '.join(names)}, not {host}"
        if error.verify_code == _OTHER_ADDRESS:
            return (
                f"{prefix}cannot validate certificate for {host} because it doesn't"
                " contain any IP SANs"
            )
        return (
            f"{prefix}certificate is not valid for any names, but wanted to match"
            f" {host}"
        )
    return prefix + "certificate signed by unknown authority"


def _names(
    address: tuple[str, int], host: str, dial: Dial, *, addresses: bool
) -> list[str]:
    """Whom the certificate of a server is for: it is asked once more, and believed
    nothing.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            dial(address, 1) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            certificate = x509.load_der_x509_certificate(
                secure.getpeercert(binary_form=True) or b""
            )
        names = certificate.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return []
    if addresses:
        return [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    return names.get_values_for_type(x509.DNSName)
