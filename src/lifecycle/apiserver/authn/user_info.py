"""A user as an object, the way reviews and admission requests show one.

Upstream: `staging/src/k8s.io/api/authentication/v1/types.go` (`UserInfo`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object, UserInfo


def user_info_object(user: UserInfo) -> Object:
    """`authentication.k8s.io/v1` `UserInfo`, without what is empty."""
    info: Object = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {
            key: list(values) for key, values in sorted(user.extra.items())
        }
    return info
