"""`kubectl create quota`: a ResourceQuota.

Upstream: `kubectl/pkg/cmd/create/create_quota.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import FORMAT_WRONG, parse_quantity
from lifecycle.kubectl.failures import CommandError


def create_quota(name: str, hard: str = "", scopes: str = "") -> Object:
    """A ResourceQuota. `hard`: `pods=2,cpu=1`. Raises CommandError for anything
    else.
    """
    limits = {}
    for statement in hard.split(",") if hard else ():
        resource, equals, amount = statement.partition("=")
        if not equals or "=" in amount:
            raise CommandError(
                f"Invalid argument syntax {statement}, expected <resource>=<value>"
            )
        try:
            if amount != amount.strip():  # JSON forgives white space, a flag does not
                raise ValueError(FORMAT_WRONG)
            limits[resource] = str(parse_quantity(amount))
        except ValueError as error:
            raise CommandError(str(error)) from None
    spec: Object = {"hard": dict(sorted(limits.items()))} if limits else {}
    if scopes:
        spec["scopes"] = scopes.split(",")
        if "" in spec["scopes"]:
            raise CommandError('invalid resource quota scope ""')
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": spec,
    }
