"""The front proxy: somebody trusted has authenticated the user, and says in headers who
it is.

Anybody can send `X-Remote-User: admin`. The headers count only on a connection that
shows a client certificate of the proxy's own authority, with an allowed name; on others
they are just text. That is how aggregated API servers learn from kube-apiserver who is
asking.

Upstream: `apiserver/pkg/authentication/request/headerrequest/requestheader.go`
(`NewDynamicVerifyOptionsSecure`, `ClearAuthenticationHeaders`), kubeadm's
`--requestheader-*` flags, v1.36. Left out: reading the settings from the config map
`extension-apiserver-authentication`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.http.headers import SEPARATOR, unescaped_extra_key


@dataclass(slots=True, frozen=True)
class RequestHeaderConfig:
    """Whom to believe, and which headers to read. `client_ca` is PEM; names of headers
    count without regard to case.
    """

    client_ca: bytes
    allowed_names: tuple[str, ...] = ("front-proxy-client",)
    username_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ("X-Remote-Uid",)
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)


class RequestHeaderAuthenticator:
    """Believes the headers of a proxy whose certificate is in order."""

    def __init__(self, config: RequestHeaderConfig) -> None:
        self._verifier = ClientCAVerifier(config.client_ca, config.allowed_names)
        self._names = _lower(config.username_headers)
        self._uids = _lower(config.uid_headers)
        self._groups = _lower(config.group_headers)
        self._prefixes = _lower(config.extra_prefixes)

    def authenticate_request(self, request: Request) -> Identity | None:
        """The user that the proxy names; None without a certificate or without a name.
        Raises AuthenticationError for another's certificate.
        """
        if request.peer_certificate is None:
            return None
        self._verifier.verify(request.peer_certificate)
        headers = request.headers
        name = _first(headers, self._names)
        if not name:
            return None
        uid = _first(headers, self._uids)
        groups = tuple(
            group for each in self._groups for group in _values(headers, each) if group
        )
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in self._prefixes:
            for key in headers:
                if key.startswith(prefix):
                    about = unescaped_extra_key(key.removeprefix(prefix))
                    extra[about] = extra.get(about, ()) + _values(headers, key)
        self._clear(request)
        return Identity(UserInfo(name, groups, uid, extra))

    def _clear(self, request: Request) -> None:
        """Take the headers off: nobody further in shall believe them."""
        gone = {*self._names, *self._uids, *self._groups}
        request.headers = {
            key: value
            for key, value in request.headers.items()
            if key not in gone and not key.startswith(self._prefixes)
        }


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def _first(headers: dict[str, str], names: tuple[str, ...]) -> str:
    """The first value of the first header that begins with one: a header whose first
    value is empty says nothing.
    """
    return next(
        (
            values[0]
            for name in names
            if (values := _values(headers, name)) and values[0]
        ),
        "",
    )


def _values(headers: dict[str, str], name: str) -> tuple[str, ...]:
    """All values of a header that may have been sent several times."""
    return tuple(headers[name].split(SEPARATOR)) if name in headers else ()
